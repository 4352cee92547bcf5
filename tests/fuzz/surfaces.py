"""What is fuzzed: how an input is made, what is done with it, and whose code that reaches."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from typing import Any

import msgspec


class Surface(msgspec.Struct, frozen=True):
    """A way in for data of strangers."""

    #: Makes an input from random numbers alone.
    make: Callable[[random.Random], Any]
    #: Raises if something falls. Returns how many inputs it was, if it was not one.
    run: Callable[[Any, random.Random], int | None]
    #: Files of the package whose lines are counted, as globs.
    code: tuple[str, ...]
    package: str = "src/equipage"


def every() -> dict[str, Surface]:
    """All surfaces by name, in the order of a run."""
    from fuzz import stores, targets, wires

    found = {**targets.surfaces(), **stores.surfaces(), **wires.surfaces()}
    if all(map(importlib.util.find_spec, ("equipage_serve", "equipage_faults"))):
        from fuzz import wings

        found |= wings.surfaces()
    return found
