"""What files of a convention name, looked up among everything that was found.

A name is looked up where the set is known: skills, servers and agents, if the workspace holds at least one of
that sort. Whatever lies in the user's own folders is not seen here, so a miss is a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.path import ROOT
from equipage.core.source import Span
from equipage.core.text import Guesses
from equipage.kinds.conventions import codes
from equipage.kinds.conventions.stages import Reference, is_pattern, references, words_of
from equipage.kinds.scope import path_of, reach_of
from equipage.kinds.tables import Convention, Field, Sort
from equipage.loading.kind import Offer

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome

#: Which kinds of files hold what, and where names come from.
_AGENT_KINDS = {
    "claude-agent": ("claude-agent",),
    "claude-command": ("claude-agent",),
    "skill": ("claude-agent",),
    "copilot-agent": ("copilot-agent", "claude-agent"),
    "copilot-prompt": ("copilot-agent", "claude-agent"),
    "opencode-agent": ("opencode-agent",),
    "opencode-command": ("opencode-agent",),
}


def references_exist(
    convention: Convention, own: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[tuple[Outcome, Fact]]:
    """Skills, servers and agents that a file names are there."""
    known = {sort: _Names(sort, convention, offers) for sort in _SORTS}
    for outcome in own:
        guesses = Guesses()
        seen: dict[Sort, frozenset[str]] = {}
        for field, reference, span in _references(convention, outcome):
            if reference.sort not in seen:
                seen[reference.sort] = known[reference.sort].seen_from(outcome)
            names = seen[reference.sort]
            if not names or _is_known(reference, names, convention):
                continue
            values: dict[str, object] = {
                "sort": _WORDS[reference.sort],
                "name": Shown(reference.name),
                "where": " in this workspace",
                "nearest": _guess(reference, names, convention, guesses),
            }
            yield outcome, Fact(codes.UNKNOWN_REFERENCE, (field.name,), values, span=span)


def _guess(
    reference: Reference, names: frozenset[str], convention: Convention, guesses: Guesses
) -> str | None:
    if guesses.are_spent:
        return None  # sorting would cost more than it is worth
    return guesses.nearest(
        reference.name, sorted({*names, *convention.built_in.get(reference.sort, ())})
    )


def refers(convention: Convention, outcome: Outcome) -> bool:
    """Whether a file names anything that is to be looked up."""
    return next(_references(convention, outcome), None) is not None


_SORTS: tuple[Sort, ...] = ("skill", "server", "agent")
_WORDS: dict[Sort, str] = {
    "skill": "skill",
    "server": "MCP server",
    "agent": "agent",
    "tool": "tool",
}


def _is_known(reference: Reference, names: frozenset[str], convention: Convention) -> bool:
    """Plugins put their own name before what they bring: `plugin:skill`."""
    name = reference.name.rpartition(":")[2]
    built_in = convention.built_in.get(reference.sort, frozenset())
    return (
        reference.name in names
        or name in names
        or reference.name in built_in
        or is_pattern(reference.name)
    )


def _references(
    convention: Convention, outcome: Outcome
) -> Iterator[tuple[Field, Reference, Span]]:
    document = outcome.documents[0] if outcome.documents else None
    if document is None or not isinstance(document.value, dict):
        return
    own = document.value.get("mcpServers")
    inline = frozenset(own) if isinstance(own, dict) else frozenset[str]()
    for field in convention.fields:
        if field.refers is None or field.name not in document.value:
            continue
        for name, span in words_of(field, document.value[field.name], document):
            for each in references(name, field.refers):
                if each.sort != "tool" and each.name not in inline:
                    yield field, each, span


# ---------------------------------------------------------------------------------------------------- names


class _Names:
    """The names of one sort that files of a convention may use, by the folder within which they count."""

    def __init__(self, sort: Sort, convention: Convention, offers: Sequence[Offer]) -> None:
        kinds = {"skill": ("skill",), "server": ("mcp", "settings")}.get(sort) or _AGENT_KINDS.get(
            convention.kind, ()
        )
        self.by_folder: dict[str, set[str]] = {}
        for each in offers:
            if each.kind in kinds:
                self.by_folder.setdefault(reach_of(each.path), set()).update(each.names)

    def seen_from(self, outcome: Outcome) -> frozenset[str]:
        """The names that count where a file stands: those of its own project or plugin, and of those around it."""
        path = path_of(outcome)
        return frozenset(
            name
            for folder, names in self.by_folder.items()
            if path.startswith(f"{folder}/")
            for name in names
        )


def names_in(outcome: Outcome) -> Iterator[str]:
    """The names under which a file can be referred to."""
    value: Any = outcome.tree.value if outcome.tree is not None else None
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str):
        yield name
    source = outcome.sources[0] if outcome.sources else None
    if source is not None:
        folder, file = os.path.split(source.path or source.name)
        yield os.path.basename(folder) if outcome.kind.name == "skill" else file.partition(".")[0]


def own_name(convention: Convention, outcome: Outcome) -> tuple[str, str] | None:
    """The name a file gives itself, and the folder within which it must be the only one."""
    if convention.identity != "field" or convention.syntax == "json":
        return None
    name = (
        outcome.tree.value.get("name")
        if outcome.tree and isinstance(outcome.tree.value, dict)
        else None
    )
    return (_scope(outcome), name) if isinstance(name, str) and outcome.sources else None


def names_are_unique(
    convention: Convention, own: Sequence[Outcome]
) -> Iterator[tuple[Outcome, Fact]]:
    """No two files below one folder have the same name."""
    seen: dict[tuple[str, str], Outcome] = {}
    for outcome in own:
        named = own_name(convention, outcome)
        if named is None:
            continue
        name = named[1]
        first = seen.setdefault(named, outcome)
        if first is not outcome:
            span = (
                first.documents[0].locate([("name",)]).get(("name",)) if first.documents else None
            )
            also = (Also("the other one", ROOT, span=span.value),) if span is not None else ()
            yield outcome, Fact(codes.NAME_TAKEN, ("name",), {"name": Shown(name)}, also=also)


def _scope(outcome: Outcome) -> str:
    """The folder within which names must differ: all that lies below one `agents` folder."""
    folder = os.path.dirname(outcome.sources[0].path or outcome.sources[0].name).replace(
        os.sep, "/"
    )
    head, found, _ = f"{folder}/".rpartition("/agents/")
    return head + found if found else folder
