"""Kinds of configuration, each one a value `FORMAT` in a package of its own."""
