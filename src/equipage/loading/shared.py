"""What several kinds share: the base of their tables, patterns, known names, suspicious text."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core import codes_kinds as codes
from equipage.core.diagnostics import Fact, Severity, Shown
from equipage.core.path import Path
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.loading.format import Offer
from equipage.loading.tree import get
from equipage.syntax.suspicious import find_secrets, mixed_scripts

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome
    from equipage.loading.session import Session


#: For the files of other tools: what those tools refuse, and a TOML that some cannot read yet.
TOLERANT: dict[str, Severity] = {
    core_codes.UNKNOWN_TAG: "error",
    core_codes.MERGE_KEY: "error",
    core_codes.TOML_TOO_NEW: "warning",
}


class StrictTable(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """A table in which unknown keys are errors."""


def hide_property(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Remove a property that authors cannot write from every definition of a schema for editors."""
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop(name, None)
    return schema


#: Folders that files are copied from: where they arrive, they have other names and neighbours.
_COPIED_FOLDER = lazy_regex(
    r"/(?:[\w-]*templates?|[\w-]*fixtures?_*|testdata|scaffold(?:s|ing)?|skeletons?)/",
    re.IGNORECASE,
)


def is_template_or_fixture(session: Session, path: str | None = None) -> bool:
    """Whether the file of a session, or `path`, lies in a folder of templates or test fixtures."""
    inside = (path or session.path).removeprefix(session.root).replace(os.sep, "/")
    return _COPIED_FOLDER.search(inside) is not None


# Plain values, in which any part may have the wrong type: the model reports that.


def entries_at(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The entries of the list at a path, each with its own path; none if it is not a list."""
    found = get(value, path)
    for number, entry in enumerate(found if isinstance(found, list | tuple) else ()):
        yield (*path, number), entry


def table_at(value: Any, path: Path) -> dict[str, Any]:
    """The table at a path, an empty one if it is not a table."""
    found = get(value, path)
    return found if isinstance(found, dict) else {}


# Patterns for names of tools and paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\`.

#: A `]` right after the opening bracket is a member of the class: `[]a]`, `[!]]`.
_CLASS_PATTERN = r"\[[!^]?+(?P<members>\]?+[^\]]*)\]"
_CLASS = lazy_regex(_CLASS_PATTERN)
_RANGE = lazy_regex(r"(.)-(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def glob_problem(glob: str) -> str | None:
    """Why a pattern is not valid, in words; None if it is."""
    depth = position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "[":
            match = _CLASS.match(glob, position)
            if match is None:
                return "`[` is never closed"
            if any(low > high for low, high in _RANGE.findall(match["members"])):
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


def glob_hint(reason: str) -> str:
    """How to correct a pattern that is not valid for a reason."""
    return _GLOB_HINTS.get(reason, "close the bracket, or escape it with `\\`")


_GLOB_HINTS = {
    "a range runs backwards": "write the lower end first, as in `[a-z]`",
    "it ends with `\\`": "remove the last `\\`, or write it twice",
    "`}` without `{`": "remove it, or escape it with `\\`",
}


def glob_covers(wide: str, narrow: str) -> bool:
    """Whether a pattern certainly matches everything that another one matches."""
    if len(wide) + len(narrow) > _MAX_COMPARED_LENGTH:
        return wide == narrow
    return all(
        any(_tokens_cover(_tokenize(one), _tokenize(other)) for one in _expand_braces(wide))
        for other in _expand_braces(narrow)
    )


#: Stars, `?`, a class; a backslash and the character it escapes, or any other character.
_TOKEN = lazy_regex(rf"(?P<stars>\*+)|\?|{_CLASS_PATTERN}|\\?(?P<literal>.)", re.DOTALL)
_BRACES = lazy_regex(r"\{([^{}\\\[]*)\}")
_MAX_COMPARED_LENGTH = 1000
#: A pattern with more alternatives than this is compared as it is written.
_MAX_ALTERNATIVES = 64


def _expand_braces(glob: str) -> list[str]:
    """A pattern without its groups: `a{b,c}` is `ab` and `ac`."""
    done, left = list[str](), [glob]
    while left and len(done) + len(left) <= _MAX_ALTERNATIVES:
        group = _BRACES.search(each := left.pop())
        if group is None:
            done.append(each)
        else:
            before, after = each[: group.start()], each[group.end() :]
            left += (f"{before}{choice}{after}" for choice in group[1].split(","))
    return [glob] if left else done


def _tokenize(glob: str) -> list[str]:
    """`*`, `?`, classes as they are written, and single characters after a backslash."""
    return [
        f"\\{match['literal']}" if match["literal"] else "*" if match["stars"] else match[0]
        for match in _TOKEN.finditer(glob)
    ]


def _tokens_cover(wide: list[str], narrow: list[str]) -> bool:
    # The positions in `wide` that may come next. Behind the last token there is an empty one.
    wide, places = [*wide, ""], {0}
    for token in (*narrow, ""):
        places |= {at + 1 for at in places if wide[at] == "*"}  # a star may match nothing
        stay = {at for at in places if wide[at] == "*" and token}
        places = stay | {at + 1 for at in places - stay if _token_covers(wide[at], token)}
    return len(wide) in places


def _token_covers(wide: str, narrow: str) -> bool:
    """Whether one token of a pattern, not a star, matches all that another one does."""
    if wide == "?":
        return narrow not in ("*", "")
    if wide.startswith("[") and narrow.startswith("\\"):
        negated = wide[1] in "!^"
        members = re.findall(r"(.)(?:-(.))?", wide[1 + negated : -1], re.DOTALL)
        return negated != any(low <= narrow[1] <= (high or low) for low, high in members)
    return wide == narrow


_WILDCARD = lazy_regex(r"[*?\[\]{}\\]")


def is_literal(glob: str) -> bool:
    """Whether a pattern is just a name."""
    return not _WILDCARD.search(glob)


# Names count in the project or plugin that defines them.

#: Where the path of a project or plugin ends: before a folder for agents, skills and the like,
#: which may lie in a hidden folder; else before the file, and the hidden folders it lies in.
_END_OF_SCOPE = lazy_regex(
    r"/(?:\.[\w-]+/)?(?:agents?|skills?|commands?|chatmodes|prompts|rules)/|/(?:\.[\w-]+/)*[^/]+\Z",
    re.IGNORECASE,
)


def path_of(outcome: Outcome) -> str:
    """The path of the file that was loaded, with `/`."""
    source = outcome.sources[0] if outcome.sources else None
    return (source.filename or source.name).replace(os.sep, "/") if source is not None else ""


class KnownNames:
    """The names that files of some kinds define; each is known in its own project or plugin."""

    def __init__(self, offers: Sequence[Offer], kinds: Collection[str]) -> None:
        self._by_folder: dict[str, set[str]] = {}
        for each in offers:
            if each.kind in kinds:
                match = _END_OF_SCOPE.search(each.path)
                folder = each.path[: match.start()] if match else each.path
                self._by_folder.setdefault(folder, set()).update(each.names)
        self._seen: dict[tuple[frozenset[str], tuple[str, ...]], frozenset[str]] = {}

    def visible_from(self, path: str, also: frozenset[str] = frozenset()) -> frozenset[str]:
        """The names of the project or plugin that a file belongs to, and of those around it.

        One set for all files that see the same names, with those in `also`.
        """
        around = tuple(each for each in self._by_folder if path.startswith(f"{each}/"))
        if (also, around) not in self._seen:
            self._seen[also, around] = also.union(*(self._by_folder[each] for each in around))
        return self._seen[also, around]


#: The names that the last list of offers defines: rules ask for them file by file.
_latest: tuple[Sequence[Offer], dict[tuple[str, ...], KnownNames]] = ((), {})


def known_names(offers: Sequence[Offer], kinds: tuple[str, ...]) -> KnownNames:
    """The names that a list of offers defines, collected once: the list must not change."""
    global _latest
    latest = _latest
    if latest[0] is not offers:
        latest = _latest = offers, {}
    if kinds not in latest[1]:
        latest[1][kinds] = KnownNames(offers, kinds)
    return latest[1][kinds]


# Suspicious text.


def report_secrets(source: Source) -> Iterator[Fact]:
    """Report secrets in the text of a file."""
    for each in find_secrets(source.text, source.data):
        yield codes.SECRET_IN_FILE.at(span=Span(source, *each.range), what=each.what)


def check_mixed_scripts(name: str) -> Iterator[Fact]:
    """Report a name that mixes letters of several scripts: it may only look like another."""
    scripts = mixed_scripts(name)
    if scripts:
        yield codes.MIXED_SCRIPTS.at(("name",), name=Shown(name), scripts=", ".join(scripts))
