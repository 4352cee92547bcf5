"""What OpenCode makes of its files: permissions that do not hold, texts that it takes from files.

OpenCode keeps the names of tools that it does not have, and allows what no rule is about. Of the
patterns of one tool it takes the last that matches; the order of the tools does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention, OwnRules
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path, get, walk
from equipage.core.text import is_likely_typo, lazy_regex
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


# Texts that a configuration of OpenCode takes from files.

_FILE_REFERENCE = lazy_regex(r"\{file:([^{}]+)\}")


def _path_in_project(written: str, session: Session) -> str | None:
    """The path that is meant; None if it lies outside the project."""
    path = os.path.normpath(os.path.join(os.path.dirname(session.path), written))
    return path if session.files.is_within(path, session.root) else None


def text_files_exist(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Each `{file:path}` names a file that exists: OpenCode does not start without it."""
    for place, text in walk(config):
        for match in _FILE_REFERENCE.finditer(text) if isinstance(text, str) else ():
            written = match[1].strip()
            path = None if written.startswith("~") else _path_in_project(written, session)
            if path is not None and not session.files.exists(path):
                yield codes.PATH_MISSING.at(place, file=Shown(written), field=str(place[-1]))


#: Kind → its rules.
RULES = {
    "opencode-agent": OwnRules((permissions_have_an_effect,), codes.PERMISSION_CODES),
    "opencode-config": OwnRules(
        (text_files_exist, permissions_have_an_effect), (*codes.TEXT_CODES, *codes.PERMISSION_CODES)
    ),
}
