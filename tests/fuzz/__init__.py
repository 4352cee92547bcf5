"""Random input, by a seeded mutator of our own: the same seed gives the same inputs on every
machine."""
