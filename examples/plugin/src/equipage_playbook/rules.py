"""What types cannot say about a playbook that fits them."""

from __future__ import annotations

from collections.abc import Iterator

from equipage import Problem
from equipage_playbook.model import Playbook


def ids_are_unique(playbook: Playbook) -> Iterator[Problem]:
    """Two steps with one name could not be distinguished by `needs`."""
    names = [step.id for step in playbook.steps]
    for number, name in enumerate(names):
        if name in names[:number]:
            sentence = f"there are two steps `{name}`"
            yield Problem(f"steps[{number}].id", sentence, code="step-twice")


def a_step_does_one_thing(playbook: Playbook) -> Iterator[Problem]:
    for number, step in enumerate(playbook.steps):
        if (step.run is None) == (step.ask is None):
            does = "neither `run` nor `ask`" if step.run is None else "both `run` and `ask`"
            sentence = f"step `{step.id}` has {does}"
            advice = "a step is a command or a question"
            yield Problem(f"steps[{number}]", sentence, help=advice, code="step-action")
