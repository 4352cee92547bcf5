"""One load: read, parse, resolve, check, place and word what was found, freeze."""
