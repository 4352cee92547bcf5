"""Kinds of configuration, each one a value `KIND` in a package of its own."""
