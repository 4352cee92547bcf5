"""What can be said even about a playbook that does not fit its types. A check sees the plain value,
of which any part may be wrong or missing: it takes nothing for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.plugin import Change, Fact, Remedy, Session, Shown, get, nearest
from equipage_playbook import codes


def needs_exist(playbook: Any, _session: Session) -> Iterator[Fact]:
    """A step waits for steps before it, and only for those."""
    steps = _mappings(get(playbook, ("steps",)))
    names = [step.get("id") for step in steps]
    for number, step in enumerate(steps):
        needs = step.get("needs")
        for place, name in enumerate(needs if isinstance(needs, list) else ()):
            path = ("steps", number, "needs", place)
            if name in names[number:]:
                yield codes.STEP_NOT_BEFORE.at(path, step=Shown(name))
            elif isinstance(name, str) and name not in names:
                guess = nearest(name, [each for each in names[:number] if isinstance(each, str)])
                change = () if guess is None else (Change(path, guess),)
                remedy = Remedy(f"change to `{guess}`", change, safe=False) if change else None
                yield codes.STEP_UNKNOWN.at(path, remedy=remedy, step=Shown(name), nearest=guess)


def _mappings(steps: Any) -> list[dict[str, Any]]:
    """The steps, an empty mapping for each that is none."""
    found = steps if isinstance(steps, list) else []
    return [step if isinstance(step, dict) else {} for step in found]
