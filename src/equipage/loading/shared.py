"""What several formats share: the base of their tables, known names, suspicious text."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Fact, Severity, Shown
from equipage.core.path import get
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.loading.format import Offer
from equipage.loading.tree import Tree
from equipage.syntax.suspicious import find_secrets, mixed_scripts

if TYPE_CHECKING:
    from equipage.loading.pipeline import Outcome
    from equipage.loading.session import Session


#: For the files of other tools: what those tools refuse, and a TOML that some cannot read yet.
TOLERANT: dict[str, Severity] = {
    codes.UNKNOWN_TAG: "error",
    codes.MERGE_KEY: "error",
    codes.TOML_TOO_NEW: "warning",
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


# Patterns for names of tools and paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\`.


# Names count in the project or plugin that defines them.

#: Where the path of a project or plugin ends: before a folder for agents, skills and the like,
#: which may lie in a hidden folder; else before the file, and the hidden folders it lies in.
_END_OF_SCOPE = lazy_regex(
    r"/(?:\.[\w-]+/)?(?:agents?|skills?|commands?|chatmodes|prompts|rules)/|/(?:\.[\w-]+/)*[^/]+\Z",
    re.IGNORECASE,
)


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


def name_by_path(path: str, *, by_folder: bool) -> str:
    """The name that a file has by its path with `/`."""
    folder, _, file = path.rpartition("/")
    return folder.rpartition("/")[2] if by_folder else file.partition(".")[0]


def names_of_file(outcome: Outcome) -> Iterator[str]:
    """The names by which other files may refer to a file."""
    name = get(outcome.tree.value, ("name",)) if outcome.tree is not None else None
    if isinstance(name, str):
        yield name
    if outcome.sources:
        yield name_by_path(outcome.path, by_folder=outcome.kind.name == "skill")


def look_for_suspicious(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """Report secrets, and a name of letters of several scripts: it may only look like another."""
    source = tree.document.source
    name = get(tree.value, ("name",))
    if not isinstance(name, str):
        name = os.path.basename(source.filename or source.name).partition(".")[0]
    facts = [*report_secrets(source)]
    if scripts := mixed_scripts(name):
        facts.append(
            codes.MIXED_SCRIPTS.at(("name",), name=Shown(name), scripts=", ".join(scripts))
        )
    return tree, facts
