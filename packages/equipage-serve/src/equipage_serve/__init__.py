"""Running and serving what was loaded. Nothing that checks, loads or edits imports this room.

    from equipage_serve import Runtime
    from equipage.toolpacks import ToolpackLoader

    loader = ToolpackLoader()
    loader.load_dir("tools")
    with Runtime(loader.list(), allow=["python"]) as runtime:
        result = runtime.call("text.count", {"text": "one two"})

The extra `serve` of the package has what it needs: mcp, jinja2 and h11.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from equipage_serve.outcome import Result, Stats
    from equipage_serve.runtime import NotServed, Runtime

__all__ = ["NotServed", "Result", "Runtime", "Stats"]


def __getattr__(name: str) -> object:
    """The names of this face, imported on first use: other parts of the room are light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from equipage_serve import outcome, runtime

    return getattr(outcome if hasattr(outcome, name) else runtime, name)
