"""Toolpacks: load a folder of `*.tool.yaml` files, list them, get one by its id."""

from equipage.formats.toolpack.loader import (
    FoundToolpacks,
    Toolpack,
    ToolpackLoader,
    ToolpackValidationError,
)

__all__ = ["FoundToolpacks", "Toolpack", "ToolpackLoader", "ToolpackValidationError"]
