"""Hooks of Claude Code: in settings, in plugins, in the headers of agents, commands and skills.

An event, a matcher or a handler that Claude Code does not understand is left out without a message,
and what the hook was to prevent happens. Below `PreToolUse` and `PermissionRequest` one such entry
takes everything around it along: the whole settings file, or the whole plugin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from equipage.clients import codes
from equipage.clients.claude import permissions
from equipage.clients.launchers import problem_of_file, script_of, split_command
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.frozen import convert
from equipage.core.path import Path
from equipage.core.text import lazy_regex, nearest
from equipage.loading.session import Session
from equipage.loading.type_words import describe, type_info

# fmt: off
EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification",
    "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure",
    "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch",
    "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle",
    "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange",
    "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged",
    "DirectoryAdded", "MessageDisplay",
)
# fmt: on
#: Events whose matcher is compared with the name of a tool.
_TOOL_EVENTS = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"}
)
#: Events whose matcher is one of a few words.
_MATCHER_WORDS = {
    "SessionStart": frozenset({"startup", "resume", "clear", "compact"}),
    "PreCompact": frozenset({"manual", "auto"}),
    "PostCompact": frozenset({"manual", "auto"}),
}
#: A matcher of these characters alone is a list of exact names.
_EXACT_NAMES = lazy_regex(r"[\w\-,| ]*")
#: What a handler of a type must have, and what it may have.
_HANDLERS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "command": (
        ("command",),
        {
            "args": list[str],
            "shell": Literal["bash", "powershell"],
            "async": bool,
            "asyncRewake": bool,
        },
    ),
    "prompt": (("prompt",), {"model": str, "continueOnBlock": bool}),
    "agent": (("prompt",), {"model": str}),
    "http": (("url",), {"headers": dict[str, str], "allowedEnvVars": list[str]}),
    "mcp_tool": (("server", "tool"), {"input": dict[str, Any]}),
}
_COMMON_KEYS = {"if": str, "statusMessage": str, "once": bool}
#: Seconds above which a limit was most likely meant in milliseconds.
_LONG_TIMEOUT_SECONDS = 3600
#: A path below one of the two folders that commands may name, as the shell sees it.
_PATH = lazy_regex(
    r"""\$\{?(?P<root>CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}?"?(?P<path>/[^\s"'`;|&<>()$*?]+)"""
)
#: A text in quotes, or a word that is such a path without any.
_QUOTED_OR_PATH = lazy_regex(
    r"""\\.|"(?:\\.|[^"\\])*"|'[^']*'"""
    r"""|(?<!\S)(?P<path>\$\{?CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT)\b\}?[^\s"'`;|&<>()]*)"""
)


class HookRoots(msgspec.Struct, frozen=True):
    """Where hooks are: what the two variables of their commands mean."""

    project: str | None = None
    plugin: str | None = None


def check(hooks: Any, path: Path, session: Session, place: HookRoots) -> Iterator[Fact]:
    """What is wrong with a table of hooks."""
    if not isinstance(hooks, dict):
        yield wrong_type(path, "a mapping of events", hooks)
        return
    for event, groups in hooks.items():
        here = (*path, event)
        if event not in EVENTS:
            guess = nearest(event, EVENTS)
            yield codes.HOOK_EVENT_UNKNOWN.at(here, part="key", event=Shown(event), nearest=guess)
        elif not isinstance(groups, list):
            yield wrong_type(here, "a list", groups)
        else:
            for number, group in enumerate(groups):
                yield from _check_group(group, event, (*here, number), session, place)


def wrong_type(path: Path, expected: str, value: Any) -> Fact:
    """A value of a wrong type, because of which Claude Code leaves something out."""
    found = Shown(value, as_found=True)
    return core_codes.WRONG_TYPE.at(
        path, severity="error", expected=expected, found=found, hint=None
    )


def _check_group(
    group: Any, event: str, path: Path, session: Session, place: HookRoots
) -> Iterator[Fact]:
    if not isinstance(group, dict):
        yield wrong_type(path, "a mapping with `matcher` and `hooks`", group)
        return
    handlers = group.get("hooks")
    if not isinstance(handlers, list):
        reason = "it has no list `hooks`"
        yield codes.HOOK_UNLOADABLE.at(
            path, what="entry", reason=reason, lost=_describe_loss(event)
        )
        return
    if "matcher" in group:
        yield from _check_matcher(group["matcher"], event, (*path, "matcher"))
    for number, handler in enumerate(handlers):
        yield from _check_handler(handler, event, (*path, "hooks", number), session, place)


def _describe_loss(event: str) -> str:
    """What Claude Code leaves out because of an entry that it cannot load."""
    whole = event in ("PreToolUse", "PermissionRequest")
    return "everything else in the file" if whole else "nothing else"


# Matchers.


def _check_matcher(matcher: Any, event: str, path: Path) -> Iterator[Fact]:
    if not isinstance(matcher, str):
        yield wrong_type(path, "text", matcher)
    elif event in _TOOL_EVENTS or event in _MATCHER_WORDS:
        reason = _never_matches_reason(matcher, event)
        if reason is not None:
            yield codes.HOOK_NEVER_FIRES.at(path, matcher=Shown(matcher), reason=reason)


def _never_matches_reason(matcher: str, event: str) -> str | None:
    """Why a matcher never matches, in words; None if it may."""
    if matcher in ("", "*"):
        return None
    if _EXACT_NAMES.fullmatch(matcher):
        names = [name.strip() for name in re.split(r"[|,]", matcher) if name.strip()]
        return _unknown_names_reason(names, event) if names else None
    if event in _TOOL_EVENTS and re.fullmatch(r"\w+\(.*\)", matcher):
        return "it is compared with the name of the tool alone; what the call is about goes to `if`"
    try:
        re.compile(matcher)
    except re.error as error:
        # Expressions of JavaScript differ, but not about these.
        if re.match(
            r"missing \)|unterminated character set|unbalanced|nothing to repeat", error.msg
        ):
            return f"it is not a valid expression: {error.msg}"
    except (OverflowError, RecursionError):
        pass
    return None


def _unknown_names_reason(names: list[str], event: str) -> str | None:
    known = _MATCHER_WORDS.get(event, permissions.TOOLS - permissions.REMOVED_TOOLS.keys())
    if event in _TOOL_EVENTS and any(name.startswith("mcp__") for name in names):
        servers = [name for name in names if name.startswith("mcp__")]
        if len(servers) < len(names) or any("__" in each[5:] for each in servers):
            return None
        server = servers[0].rstrip("_")
        return f"a server has no tool of this name; write `{server}__.*`"
    if any(name in known for name in names):
        return None
    if event in _TOOL_EVENTS and any(" " in name for name in names):
        return "names are divided by `|`"
    sort = "tool" if event in _TOOL_EVENTS else "word"
    gone = next((name for name in names if name in permissions.REMOVED_TOOLS), None)
    if gone is not None:
        return f"there is no tool `{gone}` any more"
    guess = nearest(names[0], known)
    # Programs that embed Claude Code may bring tools of their own.
    if sort == "tool" and guess is None:
        return None
    return f"there is no {sort} `{names[0]}`" + (f"; did you mean `{guess}`?" if guess else "")


# Handlers.


def _check_handler(
    handler: Any, event: str, path: Path, session: Session, place: HookRoots
) -> Iterator[Fact]:
    if not isinstance(handler, dict):
        yield wrong_type(path, "a mapping with `type`", handler)
        return
    kind = handler.get("type")
    reason = _unloadable_reason(handler, kind)
    if reason is not None:
        yield codes.HOOK_UNLOADABLE.at(
            path, what="handler", reason=reason, lost=_describe_loss(event)
        )
        return
    required, optional = _HANDLERS[str(kind)]
    known = (*required, *optional, *_COMMON_KEYS, "type", "timeout", "onFailure")
    for key in handler.keys() - set(known):
        guess = nearest(key, [name for name in known if name not in handler])
        if guess is not None:
            yield core_codes.UNKNOWN_FIELD.at(
                (*path, key), part="key", field=Shown(key), owner="a hook", nearest=guess
            )
    timeout = handler.get("timeout")
    if isinstance(timeout, int | float) and timeout > _LONG_TIMEOUT_SECONDS:
        yield codes.HOOK_TIMEOUT_LONG.at(
            (*path, "timeout"),
            remedy=_change("divide it by 1,000", (*path, "timeout"), max(1, int(timeout / 1000))),
            seconds=Shown(timeout),
        )
    condition = handler.get("if")
    if (
        isinstance(condition, str)
        and (wrong := permissions.rule_problem(condition, "deny")) is not None
    ):
        yield codes.HOOK_NEVER_FIRES.at(
            (*path, "if"), matcher=Shown(condition), reason=wrong.reason
        )
    if isinstance(handler.get("command"), str):
        yield from _check_command(handler, path, session, place)


def _unloadable_reason(handler: dict[str, Any], kind: Any) -> str | None:
    """Why Claude Code cannot load a handler, in words; None if it can."""
    if not isinstance(kind, str) or kind not in _HANDLERS:
        found = "no `type`" if kind is None else "a `type` that does not exist"
        guess = nearest(kind, _HANDLERS) if isinstance(kind, str) else None
        words = f"; did you mean `{guess}`?" if guess else ""
        return f"it has {found}{words}"
    required, optional = _HANDLERS[kind]
    for key in required:
        if not isinstance(handler.get(key), str):
            return f"a handler of type `{kind}` needs `{key}` with text"
    for key, wanted in {**optional, **_COMMON_KEYS}.items():
        if key in handler and not _fits(handler[key], wanted):
            return f"`{key}` must be {describe(type_info(wanted))}"
    timeout = handler.get("timeout", 1)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        return "`timeout` must be a number of seconds above 0"
    if handler.get("onFailure", "block") not in ("continue", "block"):
        return "`onFailure` must be `continue` or `block`"
    if kind == "http" and not re.match(r"[a-z][a-z0-9+.-]*:.", handler["url"], re.IGNORECASE):
        return "`url` must be an address"
    return None


def _fits(value: Any, wanted: Any) -> bool:
    try:
        convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True


def _change(message: str, path: Path, value: str | int) -> Remedy:
    """A fix for a person to look at: it changes what runs, or for how long."""
    return Remedy(message, (Change(path, value),), safe=False)


def _check_command(
    handler: dict[str, Any], path: Path, session: Session, place: HookRoots
) -> Iterator[Fact]:
    """The files that a command names exist, run, and survive blanks in the path of their folder."""
    path, command = (*path, "command"), handler["command"]
    roots = {"CLAUDE_PROJECT_DIR": place.project, "CLAUDE_PLUGIN_ROOT": place.plugin}
    named = [
        (match["path"][1:], roots[match["root"]], match.start() <= 1)
        for match in _PATH.finditer(command[:10_000])
    ]
    words = split_command(command[:10_000])
    script = script_of([*words, *handler.get("args", ())])
    if script is not None:
        named.append((script, place.project, script == words[0]))
    for file, root, is_program in named:
        problem = None if root is None else problem_of_file(file, root, session, runs=is_program)
        if problem == "missing":
            yield codes.HOOK_FILE_MISSING.at(path, file=Shown(file))
        elif problem is not None:
            yield codes.HOOK_NOT_EXECUTABLE.at(path, file=Shown(file))
    if "args" in handler or handler.get("shell") == "powershell":
        return  # no shell divides it
    paths = [match["path"] for match in _QUOTED_OR_PATH.finditer(command) if match["path"]]
    if paths:
        quoted = _QUOTED_OR_PATH.sub(
            lambda match: f'"{match["path"]}"' if match["path"] else match.group(), command
        )
        variable = paths[0].partition("/")[0]
        remedy = _change("put double quotes around the path", path, quoted)
        yield codes.HOOK_PATH_UNQUOTED.at(path, remedy=remedy, variable=variable)
