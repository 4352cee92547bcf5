"""What several kinds share: the base of their models, patterns, names in reach, suspicious text."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.diagnostics import Fact, Shown
from equipage.core.source import Source, Span
from equipage.kinds import codes
from equipage.loading.kind import Offer
from equipage.syntax.suspicious import mixed_scripts, secrets

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A table in which every key is known."""


def hide_property(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Remove a property that authors cannot write from every definition of a schema for editors."""
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop(name, None)
    return schema


# Patterns: `*` and `?` match any character, `/` included; `[…]` and `{a,b}` mean the usual.

#: A class of characters. A `]` right after its beginning is one of them, not its end.
_CLASS = re.compile(r"\[[!^]?(?P<body>\]?+[^\]]*)\]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def is_pattern(glob: str) -> bool:
    """Whether a text is more than a name."""
    return not frozenset("*?[]{}\\").isdisjoint(glob)


@lru_cache(maxsize=1024)
def problem_of(glob: str) -> str | None:
    """Why a pattern is invalid, in words; None if it is valid."""
    depth = position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "[":
            match = _CLASS.match(glob, position)
            if match is None:
                return "`[` is never closed"
            if any(low > high for low, high in _RANGE.findall(match["body"])):
                return "a range runs backwards"
            position = match.end()
            continue
        if letter == "\\":
            position += 1
            if position == len(glob):
                return "it ends with `\\`"
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return "`}` without `{`"
        position += 1
    return "`{` is never closed" if depth else None


# Names count within the project or the plugin that defines them.

#: The end of the folder of a project or plugin: what follows is a folder of agents, skills and the
#: like, perhaps in a hidden folder, or a file at the top, perhaps in hidden folders.
_PARTS = re.compile(
    r"/(?:\.[\w-]+/)?(?:agents?|skills?|commands?|chatmodes|prompts|rules)/|/(?:\.[\w-]+/)*[^/]+\Z",
    re.IGNORECASE,
)


def path_of(outcome: Outcome) -> str:
    """The path of the file that was loaded, with `/`."""
    source = outcome.sources[0] if outcome.sources else None
    return (source.path or source.name).replace(os.sep, "/") if source is not None else ""


class KnownNames:
    """The names that files of some kinds define."""

    def __init__(self, offers: Sequence[Offer], kinds: Collection[str]) -> None:
        self._by_folder: dict[str, set[str]] = {}
        for each in offers:
            if each.kind in kinds:
                match = _PARTS.search(each.path)
                folder = each.path[: match.start()] if match else each.path
                self._by_folder.setdefault(folder, set()).update(each.names)

    def seen_from(self, path: str) -> frozenset[str]:
        """The names of the project or plugin that a file belongs to, and of those around it."""
        folders = self._by_folder.items()
        return frozenset().union(
            *(names for folder, names in folders if path.startswith(f"{folder}/"))
        )


# What looks suspicious in any text.


def suspicions(source: Source) -> Iterator[Fact]:
    """The secrets in a file."""
    for each in secrets(source.text):
        yield codes.SECRET_IN_FILE.at(span=Span(source, *each.range), what=each.what)


def alike(name: str) -> Iterator[Fact]:
    """A name with letters of several scripts, which may look like another name."""
    scripts = mixed_scripts(name)
    if scripts:
        yield codes.MIXED_SCRIPTS.at(("name",), name=Shown(name), scripts=", ".join(scripts))
