"""Load, compose, check and freeze the configuration of AI agents.

    loaded = equipage.load("server.yaml")
    loaded.config, loaded.warnings, loaded.digest, loaded.explain("tools[0].tool.name")

Names are imported when they are first used, so that `import equipage` and `equipage --help` cost next to nothing.
"""

from __future__ import annotations

from equipage._version import __version__

TYPE_CHECKING = False  # `typing` itself is not imported: type checkers know the name, and it costs a third of a start
if TYPE_CHECKING:
    from typing import Any

    from equipage.api import check, load, loads
    from equipage.diagnostics import Diagnostic, Edit, EquipageError, Fix, Label, LoadError, UsageError
    from equipage.loaded import Explanation, Loaded
    from equipage.profiles import Profile, Profiles, discover_profiles
    from equipage.settings import LoadedSettings, load_settings
    from equipage.source import Source, Span
    from equipage.watching import Watch, watch
    from equipage.workspace import FileReport, Report

_HOMES = {
    "check": "api",
    "load": "api",
    "loads": "api",
    "Diagnostic": "diagnostics",
    "Edit": "diagnostics",
    "Fix": "diagnostics",
    "EquipageError": "diagnostics",
    "Label": "diagnostics",
    "LoadError": "diagnostics",
    "UsageError": "diagnostics",
    "Explanation": "loaded",
    "Loaded": "loaded",
    "Profile": "profiles",
    "Profiles": "profiles",
    "discover_profiles": "profiles",
    "LoadedSettings": "settings",
    "load_settings": "settings",
    "Source": "source",
    "Span": "source",
    "Watch": "watching",
    "watch": "watching",
    "FileReport": "workspace",
    "Report": "workspace",
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
