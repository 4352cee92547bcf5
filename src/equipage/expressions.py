"""Regular expressions that are compiled when they are first used.

Most runs need few of those that stand at the top of modules, and compiling them all takes a tenth of a cold start.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub")


def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later. A pattern that is wrong is told when it is first used."""
    return cast("re.Pattern[str]", _Expression(pattern, flags))


class _Expression:
    """Becomes the expression: after the first use, its methods are those of the compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._written)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)
