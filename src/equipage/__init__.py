"""Load, compose, check and freeze the configuration of AI agents.

    loaded = equipage.load("server.yaml")
    loaded.config, loaded.warnings, loaded.digest, loaded.explain("tools[0].tool.name")

Names are imported when they are first used, so that `import equipage` and `equipage --help` cost
next to nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

# `typing` itself is not imported: type checkers know the name, and it costs a third of a start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from equipage.api import check, load, loads
    from equipage.core.diagnostics import (
        Diagnostic,
        Edit,
        EquipageError,
        Fix,
        Label,
        LoadError,
        UsageError,
    )
    from equipage.core.source import Source, Span
    from equipage.loading.result import Explanation, Loaded
    from equipage.profiles import Profile, Profiles, discover_profiles
    from equipage.settings import LoadedSettings, load_settings
    from equipage.workspace.report import FileReport, Report
    from equipage.workspace.watch import Watch, watch

_HOMES = {
    "check": "api",
    "load": "api",
    "loads": "api",
    "Diagnostic": "core.diagnostics",
    "Edit": "core.diagnostics",
    "Fix": "core.diagnostics",
    "EquipageError": "core.diagnostics",
    "Label": "core.diagnostics",
    "LoadError": "core.diagnostics",
    "UsageError": "core.diagnostics",
    "Explanation": "loading.result",
    "Loaded": "loading.result",
    "Profile": "profiles",
    "Profiles": "profiles",
    "discover_profiles": "profiles",
    "LoadedSettings": "settings",
    "load_settings": "settings",
    "Source": "core.source",
    "Span": "core.source",
    "Watch": "workspace.watch",
    "watch": "workspace.watch",
    "FileReport": "workspace.report",
    "Report": "workspace.report",
}

__all__ = [
    "Diagnostic",
    "Edit",
    "EquipageError",
    "Explanation",
    "FileReport",
    "Fix",
    "Label",
    "LoadError",
    "Loaded",
    "LoadedSettings",
    "Profile",
    "Profiles",
    "Report",
    "Source",
    "Span",
    "UsageError",
    "Watch",
    "__version__",
    "check",
    "discover_profiles",
    "load",
    "load_settings",
    "loads",
    "watch",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'equipage' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"equipage.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
