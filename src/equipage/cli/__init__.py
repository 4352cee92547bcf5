"""The command. The only part of equipage that prints."""

from __future__ import annotations

from equipage.cli.main import main

__all__ = ["main"]
