"""Permission rules of Claude Code: `Tool`, or `Tool(what)`.

A rule that Claude Code drops, or that can never match, fails without a message: what it denies is
allowed. `rule_problem` says what is wrong with one rule, as the client itself judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import Convention, client_named
from equipage.clients.references import locate_names, names_in_field
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Fact, Severity, Shown
from equipage.core.path import Path, mapping_or_empty
from equipage.core.text import lazy_regex, nearest
from equipage.loading.session import Session

ListName = Literal["allow", "ask", "deny"]
LIST_NAMES: tuple[ListName, ...] = ("deny", "ask", "allow")

#: The tools that come with it, those of earlier versions included.
TOOLS = frozenset(client_named("claude").tools)
#: Tools of earlier versions → the tool that does their work now, where there is one.
REMOVED_TOOLS: dict[str, str | None] = {
    "MultiEdit": "Edit",
    "LS": "Read",
    "NotebookRead": "Read",
    "BashOutput": None,
    "KillBash": "TaskStop",
    "KillShell": "TaskStop",
    "SlashCommand": "Skill",
    "TodoRead": None,
}
#: Tools whose rules have no path → the tool whose rules cover them.
_TOOLS_WITHOUT_PATHS = {
    "Write": "Edit",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit",
    "Glob": "Read",
    "LS": "Read",
    "NotebookRead": "Read",
}
_TOOLS_WITHOUT_PREFIXES = frozenset({"Read", "Edit", "Write", "Glob", "MultiEdit", "NotebookEdit"})
_SHELLS = frozenset({"Bash", "PowerShell"})
#: Tools whose rules name an agent or a skill.
_NAMED_TOOLS = frozenset({"Agent", "Task", "Skill"})
#: Where absolute paths begin; `/` at the start of a rule means the folder of the project.
_ABSOLUTE_PATH = lazy_regex(r"/(?:home|Users|etc|tmp|var|usr|opt|root|mnt|private)/")
_MAX_RULE_LENGTH = 10_000


class Rule(msgspec.Struct, frozen=True):
    """A rule, divided: `what` is None without brackets."""

    tool: str
    what: str | None = None


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with a rule, in words."""

    kind: Literal["invalid", "never"]
    reason: str
    better: str | None = None


def parse(text: str) -> Rule | None:
    """Split a rule into its tool and what is in brackets; None if it is not a rule."""
    opening = text.find("(")
    if opening < 0:
        return None if ")" in text else Rule(text)
    if not text.endswith(")") or opening == 0:
        return None
    return Rule(text[:opening], text[opening + 1 : -1])


def rule_problem(text: str, listed: ListName) -> Problem | None:
    """What is wrong with a rule in one of the lists; None if it can match."""
    if not text.strip():
        return Problem("invalid", "it is empty")
    rule = parse(text)
    if rule is None:
        return Problem("invalid", "a rule is `Tool` or `Tool(what)`, and nothing may follow it")
    if rule.what is not None and not rule.what.strip():
        return Problem("invalid", "the brackets are empty", rule.tool)
    tool = rule.tool
    if tool.startswith("mcp__"):
        return _server_rule_problem(tool, rule.what, listed)
    if "*" in tool:
        if listed == "allow":
            return Problem("invalid", "a rule that allows must name its tool in full")
        # `*` replaces a part of a name, and no name holds blanks or colons.
        return _unknown_tool_problem(tool, rule.what) if re.search(r"[^\w*-]", tool) else None
    if tool[:1].islower() and not tool.startswith("mcp_"):
        better = _format_rule(nearest(tool, TOOLS), rule.what)
        return Problem("invalid", "names of tools start with a capital letter", better)
    if tool not in TOOLS or tool in REMOVED_TOOLS:
        return _unknown_tool_problem(tool, rule.what)
    if rule.what is None or rule.what == "*":
        return None
    if tool in _NAMED_TOOLS and listed == "ask":
        reason = f"a question about one of them is never asked: only `{tool}` alone is"
        return Problem("never", reason, tool)
    return _brackets_problem(tool, rule.what)


def _server_rule_problem(tool: str, what: str | None, listed: ListName) -> Problem | None:
    if what is not None:
        return Problem("invalid", "rules for MCP servers take no brackets", tool)
    server = tool.removeprefix("mcp__").partition("__")[0]
    if listed == "allow" and "*" in server:
        return Problem("invalid", "a rule that allows must name its server in full")
    return None


def _format_rule(tool: str | None, what: str | None) -> str | None:
    """A rule as text: `tool`, or `tool(what)`."""
    return tool if tool is None or what is None else f"{tool}({what})"


def _unknown_tool_problem(tool: str, what: str | None) -> Problem:
    if tool in REMOVED_TOOLS:
        reason = f"there is no tool `{tool}` any more"
        return Problem("never", reason, _format_rule(REMOVED_TOOLS[tool], what))
    if re.match(r"\w+[ :\[]", tool):
        return Problem("never", "what a rule is about belongs in round brackets")
    guess = nearest(tool, TOOLS - REMOVED_TOOLS.keys())
    return Problem("never", f"there is no tool `{tool}`", _format_rule(guess, what))


def _brackets_problem(tool: str, what: str) -> Problem | None:
    """What is wrong with the brackets of a tool that exists."""
    if what.endswith(":*") and tool in _TOOLS_WITHOUT_PREFIXES:
        return Problem("invalid", "`:*` is only for commands", f"{tool}({what[:-2]}*)")
    if tool in _TOOLS_WITHOUT_PATHS:
        instead = _TOOLS_WITHOUT_PATHS[tool]
        reason = f"rules of `{tool}` take no path: those of `{instead}` count for it"
        return Problem("never", reason, f"{instead}({what})")
    if tool == "WebFetch" and not re.match(r"domain:[^\s/]+\Z", what):
        host = re.sub(r"\A(?:domain:)?\s*(?:[a-z]+://)?|/.*", "", what)
        return Problem("invalid", "it must name a host", f"WebFetch(domain:{host})")
    if tool in _NAMED_TOOLS and (("*" in what[:-2]) or re.search(r",|\w\*\Z", what)):
        return Problem("never", f"a rule of `{tool}` has one name, in full")
    if tool in ("Read", "Edit") and _ABSOLUTE_PATH.match(what):
        reason = "a path that starts with `/` begins at the folder of the project"
        return Problem("never", reason, f"{tool}(/{what})")
    if tool in ("Read", "Edit") and what.startswith("../"):
        return Problem("never", "a pattern does not climb: write the path from the root, with `//`")
    return _command_problem(tool, what) if tool in _SHELLS else None


#: The name of a command, a colon where a blank belongs, and the rest.
_COLON_BEHIND_NAME = lazy_regex(r"(?P<name>[a-z][\w-]+):(?P<rest>[^*\s:/\\][^:]*)")


def _command_problem(tool: str, what: str) -> Problem | None:
    if "\t" in what or what.startswith(".*") or (what[0] in "\"'" and what[0] == what[-1]):
        return Problem("never", "it is compared as text: tabs, quotes and `.*` mean themselves")
    if divided := _COLON_BEHIND_NAME.fullmatch(what):
        name = divided["name"]
        written = divided["rest"] if name == "command" else what.replace(":", " ")
        return Problem(
            "never", "a blank divides a command from its arguments", f"{tool}({written})"
        )
    if what.startswith(":*"):
        return Problem("invalid", "a command must precede `:*`")
    plain = what.strip()
    if what != plain and plain != "*":
        return Problem("never", "no command starts or ends with a blank", f"{tool}({plain})")
    if re.search(r":\*\s*,|\)\s*(?:[,|]\s*)?\w+\(", what):
        return Problem("never", "a rule holds one command; write one rule for each")
    before, ends, after = what.partition(":*")
    if after:
        return Problem("never", "`:*` counts only at the end", f"{tool}({before}:*)")
    if ends and ("*" in before or before.endswith("\\")):
        # A star alone matches any text. Joined commands are judged one by one.
        rest = f"{before.rstrip('*')}*" if "*" in before else f"{before[:-1]}:*"
        better = None if re.search(r"[|;&]", before) else f"{tool}({rest})"
        return Problem("never", "words before `:*` hold no other `*`", better)
    if re.search(r"\A/.*/\Z|(?:\A|\s)\?(?:\s|\Z)", what):
        return Problem("never", "`*` is the only wildcard, and there are no expressions")
    return None


# The findings about the lists of a file.


def check(permissions: Any, path: Path) -> Iterator[Fact]:
    """What is wrong with the rules below `permissions`."""
    lists = {
        name: entries
        for name in LIST_NAMES
        if isinstance(permissions, dict) and isinstance(entries := permissions.get(name), list)
    }
    for name, entries in lists.items():
        for number, text in enumerate(entries):
            place = (*path, name, number)
            if not isinstance(text, str):
                expected, found = "text", Shown(text, as_found=True)
                yield core_codes.WRONG_TYPE.at(
                    place, severity="error", expected=expected, found=found, hint=None
                )
            elif len(text) <= _MAX_RULE_LENGTH and (wrong := rule_problem(text, name)) is not None:
                yield _problem_fact(wrong, text, name, place)
    yield from _check_shadowed_rules(lists, path)
    yield from _check_leaky_denials(lists.get("deny", []), path)


def listed_tools_are_rules(
    convention: Convention, _config: Any, session: Session
) -> Iterator[Fact]:
    """The rules in a header: what opens a bracket also closes it, and what is granted can match."""
    document = session.documents[0] if session.documents else None
    if convention.reader != "claude" or document is None:
        return
    value = mapping_or_empty(document.value)
    for field in convention.fields:
        if field.refers != "tool" or field.name not in value:
            continue
        listed: ListName = "deny" if field.name.startswith("disallowed") else "allow"
        problems = {
            text: wrong
            for text in names_in_field(field, value[field.name])
            if (wrong := _problem_in_header(text, listed, convention)) is not None
        }
        # Places cost another parse, and nearly every list is right.
        named = locate_names(field, value[field.name], document) if problems else ()
        for text, span in named:
            if text in problems:
                fact = _problem_fact(problems[text], text, listed, (field.name,))
                severity: Severity = "warning" if listed == "allow" else "error"
                yield msgspec.structs.replace(fact, span=span, severity=severity)


def _problem_in_header(text: str, listed: ListName, convention: Convention) -> Problem | None:
    """What is wrong with a rule in a list of tools; an agent gets the whole tool in any case."""
    if len(text) > _MAX_RULE_LENGTH or ("(" not in text and ")" not in text):
        return None
    rule = parse(text)
    if rule is None:
        better = f"{text})" if text.endswith("*") and text.count("(") == 1 else None
        return Problem("invalid", "its brackets are not closed at its end", better)
    is_matched = rule.what and rule.tool not in _NAMED_TOOLS and convention.kind != "claude-agent"
    return rule_problem(text, listed) if is_matched else None


def _problem_fact(wrong: Problem, text: str, listed: ListName, place: Path) -> Fact:
    if wrong.kind == "invalid":
        return codes.RULE_INVALID.at(
            place, rule=Shown(text), reason=wrong.reason, better=wrong.better
        )
    # A rule that allows and never matches only asks once more than it has to.
    severity: Severity = "warning" if listed == "allow" else "error"
    return codes.RULE_NEVER_MATCHES.at(
        place, severity=severity, rule=Shown(text), reason=wrong.reason, better=wrong.better
    )


def _check_shadowed_rules(lists: dict[ListName, list[Any]], path: Path) -> Iterator[Fact]:
    """Rules that a rule of an earlier list makes useless: the first list that matches decides."""
    seen: dict[str, Path] = {}
    for name in LIST_NAMES:
        entries = lists.get(name, [])
        for number, text in enumerate(entries):
            rule = parse(text) if isinstance(text, str) else None
            bare = "" if rule is None else rule.tool
            first = seen.get(text) if isinstance(text, str) else None
            first = first or seen.get(bare) or seen.get(f"{bare}(*)")
            if first is not None and first[-2] != name:
                also = (Also("this rule decides first", first),)
                yield codes.RULE_SHADOWED.at(
                    (*path, name, number), also=also, rule=Shown(text), first=first[-2]
                )
        for number, text in enumerate(entries):
            if isinstance(text, str) and text:
                seen.setdefault(text, (*path, name, number))


def _check_leaky_denials(deny: Sequence[Any], path: Path) -> Iterator[Fact]:
    """`Read` alone takes the tool away, but the shell still reads every file."""
    if any(text in ("Bash", "Bash(*)", "*") for text in deny):
        return
    for number, text in enumerate(deny):
        if text in ("Read", "Read(*)"):
            yield codes.RULE_LEAKY.at((*path, "deny", number), rule=Shown(text))
