"""The command. The only part of lading that prints."""

from __future__ import annotations

from lading.cli.main import main

__all__ = ["main"]
