"""Permission rules of OpenCode: what is asked → an action, or actions by pattern.

OpenCode keeps the names of tools that it does not have, and allows what no rule is about. Of the
patterns of one tool it takes the last that matches; the order of the tools does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.clients.tables.opencode import ASKED, ASKED_INSTEAD
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Severity, Shown
from equipage.core.path import Path, get
from equipage.core.text import is_likely_typo, lazy_regex
from equipage.loading.session import Session

#: A rule of Claude Code, whole or without its tool. `npm run test:*` has a sense of its own.
_FOREIGN_RULE = lazy_regex(
    r"Bash\((?P<inside>.*?)(?::?\*)?\)"
    r"|(?P<prefix>[\w.-]+|(?:git|gh|sudo|rm|chmod|chown|curl|wget|kill|dd) [a-z-]+):\*"
)


def asked_instead(name: str) -> str | None:
    """What OpenCode asks where people write a name that no tool asks."""
    if name in ASKED:
        return None
    return ASKED_INSTEAD.get(name.lower(), name.lower() if name.lower() in ASKED else None)


def pattern_problem(name: str, pattern: str) -> tuple[str, str] | None:
    """Why a pattern of a tool matches nothing, and what does; None if it can match."""
    found = _FOREIGN_RULE.fullmatch(pattern) if name == "bash" else None
    if found is not None:
        better = f"{found['prefix'] or found['inside']} *"
        return "it is compared with the whole command, letter by letter", better
    if name in ("read", "edit") and pattern.startswith("./"):
        return "it is compared with the path from the project, without `./`", pattern[2:]
    return None


def permissions_have_an_effect(
    _convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Each rule of each `permission` is about a tool, and decides something."""
    agents = get(config, ("agent",))
    owners: list[Path] = [("agent", name) for name in agents] if isinstance(agents, dict) else []
    for place in ((*owner, "permission") for owner in ((), *owners)):
        rules = get(config, place)
        for name, rule in rules.items() if isinstance(rules, dict) else ():
            path, instead = (*place, name), asked_instead(name)
            actions = rule if isinstance(rule, dict) else {"*": rule}
            if instead is not None:
                reason = f"OpenCode asks `{instead}` for it"
                remedy = None
                if instead not in rules:
                    change = Change(path, instead, "key")
                    remedy = Remedy(f"rename to `{instead}`", (change,), safe=False)
                yield _never_matches(path, actions.values(), (reason, instead), remedy)
            elif name in ASKED:
                for pattern, action in actions.items():
                    if (wrong := pattern_problem(name, pattern)) is not None:
                        yield _never_matches((*path, pattern), (action,), wrong)
                yield from _check_overruled_rules(actions, path)
            elif rule != "allow" and (
                (guess := session.guesses.nearest(name, ASKED)) and is_likely_typo(name, guess)
            ):
                change = Change(path, guess, "key")
                yield core_codes.UNKNOWN_FIELD.at(
                    path,
                    part="key",
                    severity="error",
                    remedy=Remedy(f"rename to `{guess}`", (change,), safe=False),
                    field=Shown(name),
                    owner="the permissions of OpenCode",
                    nearest=guess,
                )


def _never_matches(
    path: Path, actions: Any, wrong: tuple[str, str], remedy: Remedy | None = None
) -> Fact:
    """A rule without effect: what it denies or asks for is allowed."""
    severity: Severity = "warning" if all(each == "allow" for each in actions) else "error"
    reason, better = wrong
    return codes.RULE_NEVER_MATCHES.at(
        path,
        part="key",
        severity=severity,
        remedy=remedy,
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
