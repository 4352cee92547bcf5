"""One load: recognise, parse, resolve, check, place and word what was found, freeze."""
