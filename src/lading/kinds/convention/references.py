"""What files of a convention name, and under which names they are known themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lading.diagnostics import Also, Fact, Shown
from lading.kinds.convention.stages import words_of
from lading.kinds.convention.table import Convention, Field, Sort
from lading.kinds.convention.words import Reference, is_pattern, references
from lading.kinds.kind import Offer, Want
from lading.kinds.reach import path_of, reach_of
from lading.path import ROOT
from lading.source import Span

if TYPE_CHECKING:
    from lading.loading import Outcome

#: The kinds whose names count as those of agents, for each kind that names agents.
_AGENTS = {
    "claude-agent": ("claude-agent",),
    "claude-command": ("claude-agent",),
    "skill": ("claude-agent",),
    "copilot-agent": ("copilot-agent", "claude-agent"),
    "copilot-prompt": ("copilot-agent", "claude-agent"),
    "opencode-agent": ("opencode-agent",),
    "opencode-command": ("opencode-agent",),
}
_WORDS: dict[Sort, str] = {"skill": "skill", "server": "MCP server", "agent": "agent", "tool": "tool"}


# ------------------------------------------------------------------------------------------------ offering


def offers(outcome: Outcome) -> Iterator[Offer]:
    """A file is known by its `name`, and by that of its file or folder."""
    path = path_of(outcome)
    for name in dict.fromkeys(names_in(outcome)):
        yield Offer(outcome.kind.name, name, reach_of(path))


def names_in(outcome: Outcome) -> Iterator[str]:
    """The names under which a file can be referred to."""
    value: Any = outcome.tree.value if outcome.tree is not None else None
    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(name, str):
        yield name
    folder, _, file = path_of(outcome).rpartition("/")
    yield folder.rpartition("/")[2] if outcome.kind.name == "skill" else file.partition(".")[0]


# ------------------------------------------------------------------------------------------------- wanting


def wants(convention: Convention, outcome: Outcome) -> Iterator[Want]:
    """The skills, servers and agents that a file names."""
    sorts = {"skill": ("skill",), "server": ("mcp",), "agent": _AGENTS.get(convention.kind, ())}
    for field, reference, span in _references(convention, outcome):
        built_in = convention.built_in.get(reference.sort, frozenset[str]())
        if reference.name not in built_in and not is_pattern(reference.name):
            values: dict[str, object] = {
                "sort": _WORDS[reference.sort],
                "name": Shown(reference.name),
                "where": " in this workspace",
            }
            missing = Fact("unknown-reference", (field.name,), values, span=span)
            yield Want(sorts[reference.sort], reference.name, path_of(outcome), missing, tuple(sorted(built_in)))


def _references(convention: Convention, outcome: Outcome) -> Iterator[tuple[Field, Reference, Span]]:
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


# --------------------------------------------------------------------------------------------- the same name


def names_differ(convention: Convention, own: Sequence[Outcome]) -> Iterator[tuple[Outcome, Fact]]:
    """No two files below one folder have the same `name`, where that tells them apart."""
    if convention.identity != "field" or convention.syntax == "json":
        return
    seen: dict[tuple[str, str], Outcome] = {}
    for outcome in own:
        name = outcome.tree.value.get("name") if outcome.tree and isinstance(outcome.tree.value, dict) else None
        if not isinstance(name, str) or not outcome.sources:
            continue
        first = seen.setdefault((_scope(outcome), name), outcome)
        if first is not outcome:
            span = first.documents[0].locate([("name",)]).get(("name",)) if first.documents else None
            also = (Also("the other one", ROOT, span=span.value),) if span is not None else ()
            yield outcome, Fact("name-taken", ("name",), {"name": Shown(name)}, also=also)


def _scope(outcome: Outcome) -> str:
    """The folder within which names must differ: all that lies below one `agents` folder."""
    folder = path_of(outcome).rpartition("/")[0]
    head, found, _ = f"{folder}/".rpartition("/agents/")
    return head + found if found else folder
