"""Permissions of OpenCode that do not hold: of no tool, or undone by a rule behind them.

OpenCode keeps the names of tools that it does not have, and allows what no rule is about. Of the
patterns of one tool it takes the last that matches; the order of the tools does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.clients.companions import Rule
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Code, Fact, Remedy, Shown
from equipage.core.path import Path, get
from equipage.core.text import is_likely_typo
from equipage.loading.session import Session

# fmt: off
_TOOLS = (
    "read", "edit", "glob", "grep", "list", "bash", "task", "skill", "lsp", "todowrite",
    "webfetch", "websearch", "codesearch", "question", "external_directory", "doom_loop",
)
# fmt: on


def permissions_have_an_effect(
    _convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Each rule of each `permission` is about a tool, and decides something."""
    agents = get(config, ("agent",))
    owners: list[Path] = [("agent", name) for name in agents] if isinstance(agents, dict) else []
    for place in ((*owner, "permission") for owner in ((), *owners)):
        rules = get(config, place)
        if not isinstance(rules, dict):
            continue
        for name, rule in rules.items():
            if isinstance(rule, dict):
                yield from _check_overruled_rules(rule, (*place, name))
            guess = session.guesses.nearest(name, _TOOLS) if name not in _TOOLS else None
            if guess is not None and is_likely_typo(name, guess) and rule != "allow":
                change = Change((*place, name), guess, "key")
                yield core_codes.UNKNOWN_FIELD.at(
                    (*place, name),
                    part="key",
                    severity="error",
                    remedy=Remedy(f"rename to `{guess}`", (change,), safe=False),
                    field=Shown(name),
                    owner="the permissions of OpenCode",
                    nearest=guess,
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


#: Kind → its rule, and the codes that the rule gives.
RULES: dict[str, tuple[Rule, tuple[Code, ...]]] = {
    "opencode-agent": (permissions_have_an_effect, codes.PERMISSION_CODES),
    "opencode-config": (permissions_have_an_effect, codes.PERMISSION_CODES),
}
