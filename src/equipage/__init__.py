"""Load, compose, check and freeze the configuration of AI agents.

    loaded = equipage.load("server.yaml")
    loaded.config, loaded.warnings, loaded.digest, loaded.explain("tools[0].tool.name")

Names are imported when they are first used, so that `import equipage` and `equipage --help` cost
next to nothing.
"""

from __future__ import annotations

__version__ = "0.2.0"

# `typing` itself is not imported: type checkers know the name, and it costs a third of a start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from equipage.api import check, check_files, discover, example, load, loads, schema, watch
    from equipage.blueprints import expand, pre_read_default_agent_kind
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
    from equipage.directives.composing import Directives, Files, Includes, Refs
    from equipage.formats.defect.layers import LoadedSettings, SettingsLayer, load_settings
    from equipage.formats.defect.profile import (
        FoundProfiles,
        Profile,
        Profiles,
        discover_profiles,
        find_profiles,
    )
    from equipage.formats.defect.skill import (
        DiscoveredSkill,
        FoundSkill,
        Skill,
        Skills,
        discover_skills,
    )
    from equipage.loading.format import (
        FILE,
        Format,
        Layer,
        Limits,
        Problem,
        Reading,
        Renamed,
        by,
        project_layer,
        user_layer,
    )
    from equipage.loading.result import Explanation, Loaded
    from equipage.toolpacks import Toolpack, ToolpackLoader, ToolpackValidationError
    from equipage.workspace.report import FileReport, Report
    from equipage.workspace.watch import Watch

#: The modules that the public names are imported from.
_HOMES = {
    "api": ("check", "check_files", "discover", "example", "load", "loads", "schema", "watch"),
    "blueprints": ("expand", "pre_read_default_agent_kind"),
    "core.diagnostics": (
        "Diagnostic", "Edit", "EquipageError", "Fix", "Label", "LoadError", "UsageError",
    ),
    "core.source": ("Source", "Span"),
    "formats.defect.skill": (
        "DiscoveredSkill", "FoundSkill", "Skill", "Skills", "discover_skills",
    ),
    "formats.defect.profile": (
        "FoundProfiles", "Profile", "Profiles", "discover_profiles", "find_profiles",
    ),
    "formats.defect.layers": ("LoadedSettings", "SettingsLayer", "load_settings"),
    "directives.composing": ("Directives", "Files", "Includes", "Refs"),
    "loading.format": (
        "FILE", "Format", "Layer", "Limits", "Problem", "Reading", "Renamed", "by",
        "project_layer", "user_layer",
    ),
    "loading.result": ("Explanation", "Loaded"),
    "toolpacks": ("Toolpack", "ToolpackLoader", "ToolpackValidationError"),
    "workspace.report": ("FileReport", "Report"),
    "workspace.watch": ("Watch",),
}  # fmt: skip

__all__ = [
    "FILE", "Diagnostic", "Directives", "DiscoveredSkill", "Edit", "EquipageError", "Explanation",
    "FileReport", "Files", "Fix", "Format", "FoundProfiles", "FoundSkill", "Includes", "Label",
    "Layer", "Limits", "LoadError", "Loaded", "LoadedSettings", "Problem", "Profile", "Profiles",
    "Reading", "Refs", "Renamed", "Report", "SettingsLayer", "Skill", "Skills", "Source", "Span",
    "Toolpack", "ToolpackLoader", "ToolpackValidationError", "UsageError", "Watch", "__version__",
    "by", "check", "check_files", "discover", "discover_profiles", "discover_skills", "example",
    "expand", "find_profiles", "load", "load_settings", "loads", "pre_read_default_agent_kind",
    "project_layer", "schema", "user_layer", "watch",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = next((module for module, public in _HOMES.items() if name in public), None)
    if home is None:
        raise AttributeError(f"module 'equipage' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"equipage.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
