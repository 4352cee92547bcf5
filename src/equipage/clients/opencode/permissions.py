"""Permission rules of OpenCode: what is asked → an action, or actions by pattern.

OpenCode keeps the names of tools that it does not have, and allows what no rule is about. Of the
patterns of one tool it takes the last that matches; the order of the tools does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path, get
from equipage.core.text import Guesses, is_likely_typo, lazy_regex
from equipage.loading.session import Session

# fmt: off
#: What its tools ask; MCP servers and plugins bring more names.
ASKED = (
    "read", "edit", "glob", "grep", "list", "bash", "task", "skill", "lsp", "todowrite",
    "webfetch", "websearch", "codesearch", "question", "external_directory", "doom_loop",
)
# fmt: on
#: Names of tools here or elsewhere, in small letters, that nothing asks → what is asked.
_ASKED_INSTEAD = {
    **dict.fromkeys(("write", "patch", "apply_patch", "multiedit", "notebookedit"), "edit"),
    **dict.fromkeys(("shell", "powershell", "terminal"), "bash"),
    "ls": "list",
    "agent": "task",
}
#: A rule of Claude Code, whole or without its tool. `npm run test:*` has a sense of its own.
_FOREIGN_RULE = lazy_regex(
    r"Bash\((?P<inside>.*?)(?::?\*)?\)"
    r"|(?P<prefix>[\w.-]+|(?:git|gh|sudo|rm|chmod|chown|curl|wget|kill|dd) [a-z-]+):\*"
)


def asked_instead(name: str, guesses: Guesses) -> str | None:
    """What OpenCode asks where people write a name that no tool asks."""
    if name in ASKED:
        return None
    guess = guesses.nearest(name, ASKED)
    is_meant = guess is not None and (guess == name.lower() or is_likely_typo(name, guess))
    return _ASKED_INSTEAD.get(name.lower(), guess if is_meant else None)


def pattern_problem(name: str, pattern: str) -> tuple[str, str] | None:
    """Why a pattern of a tool matches nothing, and what does; None if it can match."""
    found = _FOREIGN_RULE.fullmatch(pattern) if name == "bash" else None
    if found is not None:
        better = f"{found['prefix'] or found['inside']} *"
        return "it is compared with the whole command, letter by letter", better
    if name in ("read", "edit") and pattern.startswith("./"):
        return "it is compared with the path from the project, without `./`", pattern[2:]
    return None


def is_dead(name: str, pattern: str = "*") -> bool:
    """Whether a rule is about a tool that nothing asks, or about nothing that the tool asks."""
    if asked_instead(name, Guesses()) is not None:
        return True
    return pattern_problem(name, pattern) is not None


def permissions_have_an_effect(
    _convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Each rule of each `permission` is about a tool, and decides something."""
    agents = get(config, ("agent",))
    owners: list[Path] = [("agent", name) for name in agents] if isinstance(agents, dict) else []
    for place in ((*owner, "permission") for owner in ((), *owners)):
        rules = get(config, place)
        for name, rule in rules.items() if isinstance(rules, dict) else ():
            path, instead = (*place, name), asked_instead(name, session.guesses)
            actions = rule if isinstance(rule, dict) else {"*": rule}
            if instead is not None and rule != "allow":  # a tool of a server may have that name
                yield _never_matches(path, actions, f"OpenCode asks `{instead}` for it", instead)
            elif name in ASKED:
                for pattern, action in actions.items():
                    if (wrong := pattern_problem(name, pattern)) is not None:
                        yield _never_matches((*path, pattern), {pattern: action}, *wrong)
                yield from _check_overruled_rules(actions, path)


def _never_matches(path: Path, actions: dict[str, Any], reason: str, better: str) -> Fact:
    """A rule without effect: what it denies or asks for is allowed."""
    is_open = any(each != "allow" for each in actions.values())
    return codes.RULE_NEVER_MATCHES.at(
        path,
        part="key",
        severity="error" if is_open else "warning",
        remedy=Remedy(f"rename to `{better}`", (Change(path, better, "key"),), safe=False),
        rule=Shown(path[-1]),
        reason=reason,
        better=better,
    )


def _check_overruled_rules(rules: dict[str, Any], place: Path) -> Iterator[Fact]:
    """The rules before `*` that say something else."""
    last = list(rules).index("*") if "*" in rules else 0
    for name in list(rules)[:last]:
        if rules[name] != rules["*"]:
            also = (Also("this rule decides", (*place, "*")),)
            yield codes.PERMISSION_UNDONE.at(
                (*place, name), part="key", also=also, rule=Shown(name)
            )
