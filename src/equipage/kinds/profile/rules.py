"""What must hold in a profile beyond its shape, and what deserves a word although it loads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.profile import hook_checks
from equipage.kinds.profile.codes import GLOB_REASONS
from equipage.kinds.profile.globs import is_plain, problem_of
from equipage.nearest import nearest
from equipage.path import Path
from equipage.session import Session
from equipage.tree import get

#: The tools every agent knows; others come from MCP servers as `mcp__server__tool`.
BUILT_IN_TOOLS = ("bash", "read_file", "write_file", "edit_file", "fetch", "search", "skill", "spawn_agent")
_MCP = "mcp__"
#: What models accept; beyond it a provider refuses the request or clips the value.
_SAMPLING: dict[str, tuple[float, float]] = {"temperature": (0, 2), "top_p": (0, 1)}


def texts_say_something(config: Any, _session: Session) -> Iterator[Fact]:
    """An empty description, model or prompt loads, but no one can mean it."""
    if not isinstance(config, dict):
        return
    for name in ("description", "model"):
        if _is_blank(config.get(name)):
            yield fact("text-empty", (name,), field=name)
    if _is_blank(get(config, ("prompt", "text"))):
        yield fact("text-empty", ("prompt", "text"), field="prompt.text")


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
        yield fact("request-limit-missing", place, mode=mode)
    if mode == "unbounded" and number is not None:
        yield fact("request-limit-ignored", (*path, "request_limit"), number=number)
    if number == 0 and not isinstance(number, bool) and mode != "unbounded":
        yield fact("request-limit-zero", (*path, "request_limit"))


def sampling_is_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    return sampling_facts(get(config, ("sampling",)), ("sampling",))


def sampling_facts(table: Any, path: Path) -> Iterator[Fact]:
    """Temperatures and shares that no model takes."""
    if not isinstance(table, dict):
        return
    for key, (low, high) in _SAMPLING.items():
        value = table.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and (value < low or high < value < math.inf):
            yield fact("sampling-range", (*path, key), key=key, found=Shown(value), low=low, high=high)


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
                yield fact("invalid-glob", path, glob=Shown(entry), reason=GLOB_REASONS[reason])
        elif entry not in BUILT_IN_TOOLS and not entry.startswith(_MCP):
            guess = nearest(entry, BUILT_IN_TOOLS)
            if guess is not None:
                yield fact("unknown-tool", path, tool=Shown(entry), nearest=guess)


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    return hook_checks.check(config)
