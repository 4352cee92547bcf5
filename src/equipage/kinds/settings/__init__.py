"""Layered settings: the user's, the project's, this machine's, the command line's."""

from __future__ import annotations

from equipage.kinds.settings.kind import KIND

__all__ = ["KIND"]
