"""What types cannot say. A rule sees the plain value, of which parts may be missing: it takes
nothing for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.plugin import Also, Change, Fact, Path, Remedy, Session, Shown, nearest
from equipage_playbook import codes


def ids_are_unique(playbook: Any, _session: Session) -> Iterator[Fact]:
    """Two steps with one name could not be distinguished by `needs`."""
    first: dict[str, Path] = {}
    for path, step in _steps(playbook):
        name = step.get("id")
        if isinstance(name, str):
            known = first.setdefault(name, path)
            if known is not path:
                also = [Also("first here", (*known, "id"))]
                yield codes.STEP_TWICE.at((*path, "id"), also=also, step=Shown(name))


def needs_exist(playbook: Any, _session: Session) -> Iterator[Fact]:
    """A step waits for steps before it, and only for those."""
    everybody = [step["id"] for _, step in _steps(playbook) if isinstance(step.get("id"), str)]
    before: list[str] = []
    for path, step in _steps(playbook):
        needs = step.get("needs")
        for number, name in enumerate(needs if isinstance(needs, list) else ()):
            place = (*path, "needs", number)
            if isinstance(name, str) and name in everybody and name not in before:
                yield codes.STEP_NOT_BEFORE.at(place, step=Shown(name))
            elif isinstance(name, str) and name not in everybody:
                yield _unknown(name, before, place)
        before += [step["id"]] if isinstance(step.get("id"), str) else []


def _unknown(name: str, known: list[str], place: Path) -> Fact:
    guess = nearest(name, known)
    remedy = (
        None
        if guess is None
        else Remedy(f"change to `{guess}`", (Change(place, guess),), safe=False)
    )
    return codes.STEP_UNKNOWN.at(place, remedy=remedy, step=Shown(name), nearest=guess)


def a_step_does_one_thing(playbook: Any, _session: Session) -> Iterator[Fact]:
    for path, step in _steps(playbook):
        given = [name for name in ("run", "ask") if step.get(name) is not None]
        if len(given) != 1:
            code = codes.STEP_DOES_NOTHING if not given else codes.STEP_DOES_BOTH
            yield code.at(path, step=Shown(step.get("id", "")))


def _steps(playbook: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    steps = playbook.get("steps") if isinstance(playbook, dict) else None
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, dict):
            yield ("steps", number), step
