"""What a playbook is. These classes are all there is to say about its shape."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step: a command to run, or a question to ask."""

    id: str
    """What other steps call it."""
    run: str | None = None
    """A command to run."""
    ask: str | None = None
    """A question to ask instead."""
    needs: tuple[str, ...] = ()
    """The steps that come before it."""
    timeout: Annotated[int, msgspec.Meta(ge=1, le=86_400)] = 60
    """How long it may take, in seconds."""
    on_failure: Literal["stop", "continue", "ask"] = "stop"
    """What happens if it fails."""


class Playbook(msgspec.Struct, frozen=True, omit_defaults=True):
    """The steps an agent goes through."""

    playbook: str
    """Its name."""
    steps: Annotated[tuple[Step, ...], msgspec.Meta(min_length=1)]
    """What to do, in order."""
    description: str | None = None
    """What it is for."""
