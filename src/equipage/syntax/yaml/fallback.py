"""PyYAML's own parser, for installations without libyaml: slower, the same events."""

from __future__ import annotations

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PythonParser(Reader, Scanner, Parser):
    """Reader, scanner and parser in one object, as PyYAML composes them."""

    def __init__(self, stream: str) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)
