"""What only shows when several profiles are seen together: one name twice, and the user's replaced by a project's."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.diagnostics import Also, Fact, Shown
from equipage.kinds.profile.reading import given_path
from equipage.kinds.profile.stages import layer_of
from equipage.source import Span

if TYPE_CHECKING:
    from equipage.loading import Outcome

Finding = tuple["Outcome", Fact]


class Member(msgspec.Struct, frozen=True):
    """A profile among others: what it is called, and the `agents` folder it stands in."""

    outcome: Any
    name: str
    folder: str
    layer: str | None

    @property
    def start(self) -> Span:
        return Span(self.outcome.sources[0], 0, 0)


def members(outcomes: Sequence[Outcome]) -> list[Member]:
    """The profiles that could be read, each with its name."""
    found: list[Member] = []
    for outcome in outcomes:
        if not outcome.sources or outcome.session is None:
            continue
        source = outcome.sources[0]
        path = given_path(outcome.session)
        folder, _, name = path.rpartition("/")
        if name.endswith(".toml"):
            folder, _, name = folder.rpartition("/")
        else:
            name = name.removesuffix(".md")
        found.append(Member(outcome, name, folder, layer_of(source, outcome.session)))
    return found


def set_key(outcome: Outcome) -> str | None:
    """Only profiles with the same name, or nearly the same, concern each other."""
    found = members([outcome])
    return _folded(found[0].name) if found else None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def together(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """Every finding about profiles that share a name, or nearly do."""
    found = members(outcomes)
    yield from _duplicates(found)
    yield from _replacements(found)
    yield from _alike(found)


def _duplicates(found: list[Member]) -> Iterator[Finding]:
    seen: dict[tuple[str, str], Member] = {}
    for each in found:
        first = seen.setdefault((each.folder, each.name), each)
        if first is not each:
            yield _about(each, "duplicate-profile", {"name": Shown(each.name)}, first, "the other one")


def _replacements(found: list[Member]) -> Iterator[Finding]:
    of_user = {each.name: each for each in found if each.layer == "user"}
    for new in found:
        old = of_user.get(new.name) if new.layer == "project" else None
        if old is not None:
            more = tuple(_gained(old.outcome.config, new.outcome.config))
            values: dict[str, object] = {"name": Shown(new.name), "more": Shown(more)}
            yield _about(new, "profile-loosens" if more else "profile-shadows", values, old, "the user's profile")


def _gained(old: Any, new: Any) -> Iterator[str]:
    """The tools that a profile allows and the one it replaces does not."""
    if old is not None and new is not None and "*" not in old.tools.allow:
        yield from (tool for tool in new.tools.allow if tool not in old.tools.allow)


def _alike(found: list[Member]) -> Iterator[Finding]:
    seen: dict[str, Member] = {}
    for each in found:
        first = seen.setdefault(_folded(each.name), each)
        if first.name != each.name:
            values: dict[str, object] = {"name": Shown(each.name), "other": Shown(first.name)}
            yield _about(each, "profile-names-alike", values, first, "the other one")


def _about(each: Member, code: str, values: dict[str, object], other: Member, message: str) -> Finding:
    return each.outcome, Fact(code, values=values, span=each.start, also=(Also(message, span=other.start),))
