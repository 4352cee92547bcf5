"""The command `equipage`: arguments to calls. Only this room prints."""

from __future__ import annotations

from equipage.cli.main import main

__all__ = ["main"]
