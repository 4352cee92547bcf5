"""What every part of a server configuration has in common."""

from __future__ import annotations

from typing import Annotated

import msgspec

#: Whole numbers are unsigned and have 64 bits; msgspec can state the lower bound only, a rule checks the upper.
LARGEST = 2**64 - 1
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A closed, immutable part of a configuration."""
