"""What a playbook is. These classes are all there is to say about its shape."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One step: a command to run, or a question to ask."""

    id: str
    run: str | None = None
    ask: str | None = None
    needs: tuple[str, ...] = ()
    timeout: Annotated[int, msgspec.Meta(ge=1, le=86_400)] = 60
    on_failure: Literal["stop", "continue", "ask"] = "stop"


class Playbook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The steps an agent goes through."""

    playbook: str
    steps: Annotated[tuple[Step, ...], msgspec.Meta(min_length=1)]
    description: str | None = None
