"""Kinds of configuration. Each is one value, `KIND`, in a package of its own; `registry` knows where."""
