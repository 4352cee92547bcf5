"""Agent profiles: a folder with a `config.toml`, or one Markdown file with a header."""

from __future__ import annotations

from equipage.kinds.profile.kind import KIND

__all__ = ["KIND"]
