"""The rules that kinds of Claude Code, and one of Gemini CLI, have beyond their tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes, instructions
from equipage.clients.catalogue import Convention, OwnRules, Rule
from equipage.clients.claude import hooks, manifests, permissions
from equipage.clients.claude.hooks import HookRoots
from equipage.clients.codes import EXTENSION_NOT_READ, UNKNOWN_REFERENCE
from equipage.clients.plugins import listed_plugins, parse_json
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import Path, get
from equipage.core.source import Span
from equipage.core.text import Guesses, nearest
from equipage.files.index import DamagedIndex, read_tracked_files
from equipage.loading.session import Session


def _project_of(path: str) -> str | None:
    """The folder that holds the `.claude` folder of a file."""
    head, found, _ = path.replace(os.sep, "/").rpartition("/.claude/")
    return head if found else None


def _plugin_of(session: Session) -> str | None:
    """The folder of the plugin that a file belongs to, the nearest above it.

    It has a manifest, or a marketplace lists it. The folder of a marketplace alone is not one, and
    neither is the folder `hooks` of a plugin, even with a manifest in it.
    """
    folder, around = os.path.dirname(session.path), list[str]()
    if session.path.endswith("/hooks/hooks.json"):
        folder = os.path.dirname(folder)
    while len(folder) >= len(session.root):
        around.append(folder)
        if session.files.exists(os.path.join(folder, ".claude-plugin", "plugin.json")):
            return folder
        listed = _plugins_listed_in(folder, session)
        plugin = next((each for each in around if each in listed), None)
        if plugin is not None:
            return plugin
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            break
    return None


def _plugins_listed_in(folder: str, session: Session) -> set[str]:
    """The folders of the plugins that the marketplace of a folder lists."""
    data = session.files.peek(os.path.join(folder, ".claude-plugin", "marketplace.json"))
    return {root for root, _ in listed_plugins(folder, parse_json(data))}


def settings_are_valid(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Settings without values that switch off the whole file, rules that match, hooks that run."""
    document = session.documents[0].value if session.documents else None
    if not isinstance(document, dict):
        return
    yield from _check_nulls(document)
    yield from _check_personal(session)
    rights = document.get("permissions")
    yield from permissions.check(rights, ("permissions",))
    mode = rights.get("defaultMode") if isinstance(rights, dict) else None
    if mode == "bypassPermissions" and _project_of(session.path) is not None:
        path = ("permissions", "defaultMode")
        yield codes.MODE_IGNORED.at(path, mode=Shown(mode))
    yield from _check_servers_exist(document, session)
    if "hooks" in document:
        place = HookRoots(project=_project_of(session.path))
        yield from hooks.check(document["hooks"], ("hooks",), session, place)


def _check_personal(session: Session) -> Iterator[Fact]:
    """The settings of one person are not in the repository, where they count for everybody."""
    system, path = session.files.system, session.path
    root = system.repository_root(path) if path.endswith(".local.json") else None
    if root is None or not session.documents:
        return
    try:
        tracked = read_tracked_files(os.path.join(root, ""), system)
    except DamagedIndex:
        return  # the walk says so
    if tracked is not None and tracked.has(os.path.relpath(path, root).replace(os.sep, "/")):
        yield codes.PERSONAL_SETTINGS.at(span=Span(session.documents[0].source, 0, 0))


def _check_nulls(document: dict[str, Any]) -> Iterator[Fact]:
    """`null` is a value of a wrong type, too: the whole file is dropped."""
    tables: dict[Path, dict[str, Any]] = {(): document}
    for name in ("permissions", "sandbox"):
        if isinstance(document.get(name), dict):
            tables[name,] = document[name]
    for path, table in tables.items():
        for key, value in table.items():
            if value is None and key not in ("hooks", "teammateDefaultModel"):
                found = Shown(value, as_found=True)
                yield core_codes.WRONG_TYPE.at(
                    (*path, key), severity="error", expected="a value", found=found, hint=None
                )


def hooks_file_is_valid(_convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The hooks of a plugin are below `hooks`, and run."""
    document = session.documents[0].value if session.documents else None
    plugin = _plugin_of(session)
    # Extensions of other tools have a file of this name, too.
    if not isinstance(document, dict) or plugin is None:
        return
    modules = document.get("modules", ())
    yield from _check_modules(modules, session)
    outside = [key for key in document if key in hooks.EVENTS]
    for event in outside if "hooks" in document else ():
        reason = "it is beside `hooks`, not below it"
        yield codes.HOOK_UNLOADABLE.at((event,), part="key", what="event", reason=reason)
    if "hooks" in document:
        yield from hooks.check(document["hooks"], ("hooks",), session, HookRoots(plugin=plugin))
    elif outside or not modules:
        reason = "the events must be below `hooks`" if outside else "there is no `hooks`"
        yield codes.HOOK_UNLOADABLE.at(part="key", what="file", reason=reason)


def _check_modules(modules: Any, session: Session) -> Iterator[Fact]:
    """The modules that a file of hooks names exist, relative to its folder."""
    if not isinstance(modules, list | tuple):
        yield hooks.wrong_type(("modules",), "a list", modules)
        return
    for number, each in enumerate(modules):
        path = ("modules", number)
        if not isinstance(each, str):
            yield hooks.wrong_type(path, "text", each)
            continue
        file = os.path.normpath(os.path.join(os.path.dirname(session.path), each))
        if session.files.is_within(file, session.root) and not session.files.exists(file):
            reason = "there is no such file"
            yield codes.HOOK_UNLOADABLE.at(path, what="module", reason=reason)


def header_hooks_are_valid(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """The hooks in the header of an agent, a command or a skill run."""
    found = config.get("hooks") if isinstance(config, dict) else None
    if isinstance(found, dict) and found:
        project, plugin = _project_of(session.path), _plugin_of(session)
        if convention.kind == "claude-agent" and project is None and plugin is not None:
            return  # an agent may not bring hooks with a plugin: Claude Code leaves them out
        yield from hooks.check(found, ("hooks",), session, HookRoots(project, plugin))


#: Short names of models; any other name is sent to the provider as it is.
_MODELS = ("default", "sonnet", "opus", "haiku", "fable", "opusplan", "best", "inherit")
#: Names that no model of a provider of Claude Code has → why.
_MODELS_OF_OTHERS = {
    r"(?:gpt-\d|o[134](?:-|\Z)|codex-)[\w.-]*": "it is one of OpenAI",
    r"gemini-[\w.-]+": "it is one of Google",
    r"grok-[\w.-]+": "it is one of xAI",
    r"claude-3(?:-[57])?-(?:sonnet|opus|haiku)": "a name of that age ends in a date or `-latest`",
}
#: What no agent may bring with a plugin: Claude Code leaves it out.
_FIELDS_PLUGINS_CANNOT_SET = ("hooks", "mcpServers", "permissionMode")


def plugin_agent_fields_count(
    _convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """An agent of a plugin has only fields that count there."""
    given = config if isinstance(config, dict) else {}
    written = [each for each in _FIELDS_PLUGINS_CANNOT_SET if given.get(each)]
    if written and _project_of(session.path) is None and _plugin_of(session) is not None:
        owner, others = "an agent of a plugin", "other agents"
        for name in written:
            yield core_codes.FOREIGN_FIELD.at(
                (name,), part="key", field=Shown(name), owner=owner, where=others, instead=""
            )


def model_exists(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A short name of a model is not misspelt, and a name is not that of a menu; longer names are
    the provider's own."""
    model = config.get("model") if isinstance(config, dict) else None
    if not isinstance(model, str) or model.lower() in _MODELS:
        return
    reasons = (why for names, why in _MODELS_OF_OTHERS.items() if re.fullmatch(names, model))
    if (why := next(reasons, None)) is not None and session.documents:
        where = f" in Claude Code: {why}"
        yield UNKNOWN_REFERENCE.at(
            ("model",), sort="model", name=Shown(model), where=where, nearest=None
        )
        return
    guess = None
    if model.isalpha():
        # Where the file was written for another tool as well, the name may be one of its models.
        guess = nearest(model.lower(), _MODELS)
    elif re.fullmatch(r"Claude [\w. ]+", model):
        # No provider has blanks in names; menus show `Claude Sonnet 4`.
        guess = next((each for each in _MODELS if each in model.lower().split()), None)
    if guess is not None and session.documents:
        remedy = Remedy(f"change to `{guess}`", (Change(("model",), guess),), safe=False)
        yield UNKNOWN_REFERENCE.at(
            ("model",),
            remedy=remedy,
            sort="model",
            name=Shown(model),
            where=" in Claude Code",
            nearest=guess,
        )


def arguments_are_replaced(
    _convention: Convention, _config: Any, session: Session
) -> Iterator[Fact]:
    """The text names its arguments as Claude Code replaces them."""
    source = session.documents[0].source if session.documents else None
    if source is None:
        return
    for match in re.finditer(r"\$ARGUMENT(?![\w\[])", source.text):
        yield codes.ARGUMENT_NOT_REPLACED.at(span=Span(source, *match.span()))


def _check_servers_exist(document: dict[str, Any], session: Session) -> Iterator[Fact]:
    """The servers that settings approve or refuse by name are in the `.mcp.json` of the project."""
    project = _project_of(session.path)
    data = session.files.peek(os.path.join(project, ".mcp.json")) if project is not None else None
    if data is None:
        return
    servers = get(parse_json(data), ("mcpServers",))
    guesses = Guesses()
    for field in ("enabledMcpjsonServers", "disabledMcpjsonServers"):
        names = document.get(field)
        for at, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and isinstance(servers, dict) and name not in servers:
                yield UNKNOWN_REFERENCE.at(
                    (field, at),
                    sort="MCP server",
                    name=Shown(name),
                    where=" in `.mcp.json`",
                    nearest=guesses.nearest(name, servers),
                )


def skill_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """A skill lies where the tool looks for it, under the name that it looks for."""
    source = session.documents[0].source if session.documents else None
    if source is None or source.filename is None or "/.defect/" in session.path:
        return
    folder, _, name = session.path.replace(os.sep, "/").rpartition("/")
    if name != "SKILL.md":
        tool = "Claude Code" if convention.reader == "claude" else convention.tool
        yield EXTENSION_NOT_READ.at(span=Span(source, 0, 0), tool=tool, extension="SKILL.md")
    _, found, below = folder.rpartition("/.claude/skills/")
    if found and "/" in below:
        yield codes.SKILL_NOT_READ.at(span=Span(source, 0, 0), name=below.rpartition("/")[2])


_RULES: dict[str, tuple[Rule, ...]] = {
    "claude-settings": (settings_are_valid, model_exists),
    "claude-hooks": (hooks_file_is_valid,),
    "claude-agent": (
        permissions.listed_tools_are_rules,
        header_hooks_are_valid,
        plugin_agent_fields_count,
        model_exists,
    ),
    "claude-command": (
        permissions.listed_tools_are_rules,
        header_hooks_are_valid,
        model_exists,
        arguments_are_replaced,
    ),
    "skill": (
        permissions.listed_tools_are_rules,
        header_hooks_are_valid,
        instructions.links_lead_somewhere,
        skill_is_read,
        arguments_are_replaced,
    ),
    "claude-rule": (instructions.imports_exist, instructions.links_lead_somewhere),
    "instructions": (
        instructions.imports_exist,
        instructions.links_lead_somewhere,
        instructions.instructions_fit,
        instructions.instructions_are_read,
    ),
    "claude-plugin": (manifests.plugin_is_accepted,),
    "claude-marketplace": (manifests.marketplace_is_accepted,),
}
#: Kind → its rules.
RULES = {kind: OwnRules(rules, codes.CLAUDE_CODES) for kind, rules in _RULES.items()}
