"""Kind `toolpack`: declarative tools, one `*.tool.yaml` each, with their JSON Schemas inline or by `$ref`."""

from __future__ import annotations

from equipage.kinds.toolpack.kind import KIND

__all__ = ["KIND"]
