"""What must hold in a profile beyond its shape, and what deserves a word although it loads."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.diagnostics import Also, Code, Fact, Shown
from equipage.core.path import Path
from equipage.core.source import Span
from equipage.core.text import Guesses, nearest
from equipage.kinds import codes as shared_codes
from equipage.kinds.defect import codes
from equipage.kinds.defect import hooks as hook_checks
from equipage.kinds.defect.profile_stages import given_path, layer_of
from equipage.kinds.globs import REASONS as GLOB_REASONS
from equipage.kinds.globs import is_plain, problem_of
from equipage.kinds.scope import path_of, reach_of
from equipage.loading.kind import Offer
from equipage.loading.session import Session
from equipage.loading.tree import get

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


#: The tools every agent knows; others come from MCP servers as `mcp__server__tool`.
BUILT_IN_TOOLS = (
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "fetch",
    "search",
    "skill",
    "spawn_agent",
)
_MCP = "mcp__"
#: What models accept; beyond it a provider refuses the request or clips the value.
_SAMPLING: dict[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1)}


def texts_say_something(config: Any, _session: Session) -> Iterator[Fact]:
    """An empty description, model or prompt loads, but no one can mean it."""
    if not isinstance(config, dict):
        return
    for name in ("description", "model"):
        if _is_blank(config.get(name)):
            yield codes.TEXT_EMPTY.at((name,), field=name)
    if _is_blank(get(config, ("prompt", "text"))):
        yield codes.TEXT_EMPTY.at(("prompt", "text"), field="prompt.text")


def _is_blank(text: Any) -> bool:
    return text == "" or (isinstance(text, str) and text.isspace())


def request_limit_is_complete(config: Any, _session: Session) -> Iterator[Fact]:
    return limit_facts(config, ())


def limit_facts(table: Any, path: Path) -> Iterator[Fact]:
    """The two keys of a request limit must make sense together."""
    if not isinstance(table, dict):
        return
    mode, number = table.get("request_limit_mode"), table.get("request_limit")
    place = (*path, "request_limit_mode")
    if mode in ("fixed", "adaptive") and number is None:
        yield codes.REQUEST_LIMIT_MISSING.at(place, mode=mode)
    if mode == "unbounded" and number is not None:
        yield codes.REQUEST_LIMIT_IGNORED.at((*path, "request_limit"), number=number)
    if number == 0 and not isinstance(number, bool) and mode != "unbounded":
        yield codes.REQUEST_LIMIT_ZERO.at((*path, "request_limit"))


def sampling_is_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    return sampling_facts(get(config, ("sampling",)), ("sampling",))


def sampling_facts(table: Any, path: Path) -> Iterator[Fact]:
    """Temperatures and shares that no model takes."""
    if not isinstance(table, dict):
        return
    for key, (low, high) in _SAMPLING.items():
        value = table.get(key)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (value < low or high < value < math.inf)
        ):
            yield codes.SAMPLING_RANGE.at(
                (*path, key), key=key, found=Shown(value), low=low, high=high
            )


def allowed_tools_can_match(config: Any, _session: Session) -> Iterator[Fact]:
    """Patterns that can be read, names that exist."""
    allow = get(config, ("tools", "allow"))
    for number, entry in enumerate(allow if isinstance(allow, list) else ()):
        if not isinstance(entry, str):
            continue
        path = ("tools", "allow", number)
        if not is_plain(entry):
            reason = problem_of(entry)
            if reason is not None:
                yield shared_codes.INVALID_GLOB.at(
                    path, glob=Shown(entry), reason=GLOB_REASONS[reason]
                )
        elif entry not in BUILT_IN_TOOLS and not entry.startswith(_MCP):
            guess = nearest(entry, BUILT_IN_TOOLS)
            if guess is not None:
                yield codes.UNKNOWN_TOOL.at(path, tool=Shown(entry), nearest=guess)


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    return hook_checks.check(config)


# --- servers -----------------------------------------------------------------------------------
# The MCP servers that profiles speak of, and that settings define.

#: A tool of a server, or a pattern over the tools of one server.
_TOOL = re.compile(r"mcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__.*", re.DOTALL)
#: The kinds of files that define servers.
_DEFINE = frozenset({"mcp", "settings"})


def servers_exist(
    own: Sequence[Outcome], offers: Sequence[Offer]
) -> Iterator[tuple[Outcome, Fact]]:
    """The servers whose tools a profile allows are defined, if any server is."""
    for outcome in own:
        path = path_of(outcome)
        known = {
            name
            for offer in offers
            if offer.kind in _DEFINE and path.startswith(f"{reach_of(offer.path)}/")
            for name in offer.names
        }
        if not known:
            continue
        guesses, ordered = Guesses(), sorted(known)
        for place, tool, server in _allowed(outcome):
            if server not in known:
                values: dict[str, object] = {"tool": Shown(tool), "server": Shown(server)}
                values["nearest"] = guesses.nearest(server, ordered)
                yield outcome, Fact(codes.UNKNOWN_SERVER, place, values)


def refers(outcome: Outcome) -> bool:
    """Whether a profile allows tools of a server."""
    return next(_allowed(outcome), None) is not None


def _allowed(outcome: Outcome) -> Iterator[tuple[Path, str, str]]:
    allow = get(outcome.tree.value, ("tools", "allow")) if outcome.tree is not None else None
    for number, entry in enumerate(allow if isinstance(allow, list | tuple) else ()):
        match = _TOOL.fullmatch(entry) if isinstance(entry, str) else None
        if match is not None:
            yield ("tools", "allow", number), entry, match["server"]


def defined(outcome: Outcome) -> Iterator[str]:
    """The servers that a file of settings defines."""
    servers = get(outcome.tree.value, ("mcp", "servers")) if outcome.tree is not None else None
    yield from servers if isinstance(servers, dict) else ()


# --- sets --------------------------------------------------------------------------------------
# What only shows when several profiles are seen together: one name twice, and the user's replaced by a project's.

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
            yield _about(
                each, codes.DUPLICATE_PROFILE, {"name": Shown(each.name)}, first, "the other one"
            )


def _replacements(found: list[Member]) -> Iterator[Finding]:
    of_user = {each.name: each for each in found if each.layer == "user"}
    for new in found:
        old = of_user.get(new.name) if new.layer == "project" else None
        if old is not None:
            more = tuple(_gained(old.outcome.config, new.outcome.config))
            values: dict[str, object] = {"name": Shown(new.name), "more": Shown(more)}
            yield _about(
                new,
                codes.PROFILE_LOOSENS if more else codes.PROFILE_SHADOWS,
                values,
                old,
                "the user's profile",
            )


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
            yield _about(each, codes.PROFILE_NAMES_ALIKE, values, first, "the other one")


def _about(
    each: Member, code: Code, values: dict[str, object], other: Member, message: str
) -> Finding:
    return each.outcome, Fact(
        code, values=values, span=each.start, also=(Also(message, span=other.start),)
    )
