"""Toolpacks: load a folder of `*.tool.yaml` files, list them, get one by its id."""

from equipage.kinds.toolpack.loader import Toolpack, ToolpackLoader, ToolpackValidationError

__all__ = ["Toolpack", "ToolpackLoader", "ToolpackValidationError"]
