"""Plugins and marketplaces as `claude plugin validate` judges them, beyond the types of fields."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from equipage.clients import codes
from equipage.clients.catalogue import Convention, NameRule
from equipage.clients.claude import hooks
from equipage.clients.claude.hooks import HookRoots
from equipage.clients.codes import NAME_FORM
from equipage.clients.plugins import (
    check_path_exists,
    folder_of_source,
    is_bare,
    parse_json,
    paths_in,
)
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path, get, mapping_or_empty
from equipage.core.text import lazy_regex, nearest
from equipage.loading.session import Session

_KEBAB = NameRule(r"[a-z0-9]+(?:-[a-z0-9]+)*", "lower-case letters, digits and single hyphens")
#: Names that pass as Anthropic's own.
_OFFICIAL = r"official[^a-z0-9]*(?:anthropic|claude)|(?:anthropic|claude)[^a-z0-9]*official"
_RESERVED_NAME = lazy_regex(
    r"(?:claude|anthropics?|cc-plugin)-|(?:claude|anthropics?|claude-code|claude-mods)\Z"
    rf"|.*(?:{_OFFICIAL})",
    re.IGNORECASE,
)
_RESERVED_MARKET_NAME = lazy_regex(
    rf".*(?:{_OFFICIAL})|(?:anthropic|claude)[^a-z0-9]*(?:marketplace|plugins|official)",
    re.IGNORECASE,
)
#: The marketplaces whose entries may have reserved names.
_FIRST_PARTY = frozenset(
    (
        "agent-skills",
        "anthropic-agent-skills",
        "anthropic-marketplace",
        "anthropic-plugins",
        "claude-code-marketplace",
        "claude-code-plugins",
        "claude-for-financial-services",
        "claude-for-legal",
        "claude-plugins-official",
        "claude-tag-plugins",
        "financial-services-plugins",
        "first-party-plugins",
        "healthcare",
        "knowledge-work-plugins",
        "life-sciences",
    )
)
#: The marketplaces that can be added from repositories of Anthropic alone.
_RESERVED_MARKETS = _FIRST_PARTY | {
    "anthropic-plugin-directory",
    "claude-community",
    "claude-plugin-directory",
    "claude-plugins-community",
}
#: A scheme and something behind it; any scheme is accepted.
_ADDRESS = lazy_regex(r"[a-z][a-z0-9+.-]*:.", re.IGNORECASE)
#: How the bundles of servers end, which may lie elsewhere.
_BUNDLE_SUFFIXES = (".mcpb", ".dxt")
#: Fields with paths → how a path may end, and whether it must be a folder.
_PATH_FIELDS: dict[str, tuple[tuple[str, ...], bool]] = {
    "commands": ((), False),
    "agents": ((".md",), False),
    "skills": ((), True),
    "outputStyles": ((), False),
    "themes": ((), False),
    "hooks": ((".json",), False),
    "mcpServers": ((".json", *_BUNDLE_SUFFIXES), False),
    "lspServers": ((".json",), False),
    "monitors": ((".json",), False),
}
#: Fields that may be left out, but not be null.
_NEVER_NULL = (
    *_PATH_FIELDS,
    *("author", "channels", "defaultEnabled", "dependencies", "description", "displayName"),
    *("homepage", "keywords", "license", "repository", "settings", "userConfig", "version"),
)
#: The same, for fields that only an entry of a marketplace has.
_NEVER_NULL_IN_ENTRY = ("category", "strict", "tags")
#: Where a plugin may come from → the keys that it needs, and those that it may have.
_SOURCES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "github": (("repo",), ("ref", "sha", "path", "skipLfs")),
    "url": (("url",), ("ref", "sha", "path", "skipLfs")),
    "git-subdir": (("url", "path"), ("ref", "sha", "skipLfs")),
    "npm": (("package",), ("version", "registry")),
    "pip": (("package",), ("version", "registry")),
}


def _plugin_root(session: Session) -> str:
    """The folder of the plugin or marketplace: the one that holds `.claude-plugin`."""
    return os.path.dirname(os.path.dirname(session.path))


def _refusal(path: Path, field: str, reason: str, hint: str | None = None) -> Fact:
    return codes.MANIFEST_REFUSED.at(path, field=field, reason=reason, hint=hint)


# Plugins.


def plugin_is_accepted(_convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """What keeps Claude Code from loading a plugin, or a part of it."""
    manifest = session.documents[0].value if session.documents else None
    if isinstance(manifest, dict):
        yield from _check_name(
            manifest, (), lambda name: _is_anthropic_plugin(name, manifest, session)
        )
        yield from _check_definition(manifest, (), _plugin_root(session), session)


def _check_name(table: dict[str, Any], path: Path, is_own: Callable[[str], bool]) -> Iterator[Fact]:
    """The name of a plugin, which may be a reserved one if it is Anthropic's own."""
    name = table.get("name")
    if not isinstance(name, str) or not name:
        return  # the table reports that
    if _RESERVED_NAME.match(name) and not is_own(name):
        yield _refusal((*path, "name"), "name", "is reserved: it passes as Anthropic's own")
    else:
        yield from _check_name_form(name, path)


def _check_name_form(name: str, path: Path) -> Iterator[Fact]:
    if re.search(r"\s", name):
        yield _refusal((*path, "name"), "name", "must not hold blanks", "use hyphens")
    elif not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        yield _refusal((*path, "name"), "name", "may hold letters, digits, `.`, `_` and `-` only")
    elif not _KEBAB.allows(name):
        yield NAME_FORM.at(
            (*path, "name"), name=Shown(name), tool="Claude.ai", rule=_KEBAB.words, better=None
        )


def _is_anthropic_plugin(name: str, manifest: dict[str, Any], session: Session) -> bool:
    """Whether a plugin is Anthropic's own. A manifest does not say so for sure: the marketplace
    around it that lists it decides, and without one the author has to be believed."""
    folder = _plugin_root(session)
    while session.files.is_within(folder, session.root):
        path = os.path.join(folder, ".claude-plugin", "marketplace.json")
        market = mapping_or_empty(parse_json(session.files.peek(path)))
        entries = market.get("plugins")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == name:
                return str(market.get("name")).lower() in _FIRST_PARTY
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return _mentions_anthropic(manifest.get("author"))


def _mentions_anthropic(who: Any) -> bool:
    words = who.values() if isinstance(who, dict) else (who,)
    return any(isinstance(each, str) and "anthropic" in each.lower() for each in words)


def _check_definition(
    table: dict[str, Any], path: Path, root: str | None, session: Session
) -> Iterator[Fact]:
    """The fields that a manifest and an entry of a marketplace share. Without a root, no path can
    be looked up."""
    homepage = table.get("homepage")
    if isinstance(homepage, str) and not _ADDRESS.match(homepage):
        yield _refusal((*path, "homepage"), "homepage", "must be an address", "write `https://…`")
    for field in _NEVER_NULL:
        if field in table and table[field] is None:
            yield _null_refusal((*path, field))
    for field, (endings, is_folder) in _PATH_FIELDS.items():
        for place, written in paths_in(table.get(field), (*path, field)):
            # A bundle at an address is not fetched.
            if (
                field == "mcpServers"
                and _ADDRESS.match(written)
                and written.endswith(_BUNDLE_SUFFIXES)
            ):
                continue
            reason = _path_problem(written, endings)
            if reason is not None:
                refusal, better = _refusal(place, field, reason), f"./{written}"
                is_there = root is not None and session.files.exists(os.path.join(root, written))
                if is_there and _path_problem(better, endings) is None:
                    remedy = Remedy(f"write `{better}`", (Change(place, better),), safe=False)
                    refusal = replace(refusal, remedy=remedy)
                yield refusal
            elif root is not None:
                yield from check_path_exists(
                    place, field, written, root, session, is_folder=is_folder
                )
    # Hooks may be a path, which was looked up above, or the hooks themselves.
    inline = table.get("hooks")
    if isinstance(inline, dict):
        yield from hooks.check(inline, (*path, "hooks"), session, HookRoots(plugin=root))
    yield from _check_user_config(table.get("userConfig"), (*path, "userConfig"))
    yield from _check_commands(table.get("commands"), (*path, "commands"))
    yield from _check_dependencies(table.get("dependencies"), (*path, "dependencies"))
    yield from _check_servers(table, path)


def _null_refusal(path: Path) -> Fact:
    field = str(path[-1])
    return _refusal(path, field, "must not be null", f"leave `{field}` out")


def _path_problem(written: str, endings: tuple[str, ...]) -> str | None:
    if not written.startswith("./"):
        return "must start with `./`"
    if ".." in written.split("/"):
        return "must not leave the plugin"
    if endings and not written.endswith(endings):
        return f"must end with `{endings[0]}`"
    return None


def _check_user_config(value: Any, path: Path) -> Iterator[Fact]:
    """The names of values that a plugin asks for become names of variables."""
    for name in value if isinstance(value, dict) else ():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            reason = "has a name that is not made of letters, digits and `_`"
            yield _refusal((*path, name), "userConfig", reason)


def _check_commands(value: Any, path: Path) -> Iterator[Fact]:
    for name, each in value.items() if isinstance(value, dict) else ():
        given = {"source", "content"} & each.keys() if isinstance(each, dict) else set[str]()
        if len(given) != 1:
            yield _refusal((*path, name), "commands", "needs either `source` or `content`")


def _check_dependencies(value: Any, path: Path) -> Iterator[Fact]:
    for at, each in enumerate(value if isinstance(value, list) else ()):
        name = each.get("name") if isinstance(each, dict) else each
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+(?:@[\w.-]+)?", name):
            yield _refusal((*path, at), "dependencies", "must name a plugin")


def _check_servers(table: dict[str, Any], path: Path) -> Iterator[Fact]:
    """One server that Claude Code cannot read makes it refuse all of the field."""
    for field in ("mcpServers", "lspServers"):
        servers = table.get(field)
        for name, each in servers.items() if isinstance(servers, dict) else ():
            reason = _server_problem(each, field)
            if reason is not None:
                yield _refusal((*path, field, name), field, f"has a server that {reason}")


def _server_problem(server: Any, field: str) -> str | None:
    if not isinstance(server, dict):
        return "is not a mapping"
    if field == "lspServers":
        has_languages = isinstance(server.get("extensionToLanguage"), dict)
        if not isinstance(server.get("command"), str) or not has_languages:
            return "needs `command` and `extensionToLanguage`"
        return None
    kind = server.get("type", "stdio")
    if kind not in ("stdio", "http", "streamable-http", "sse", "ws"):
        return "has a `type` that does not exist"
    # Claude Code takes a server without a type for a program, whatever else it has.
    if kind != "stdio":
        return None if isinstance(server.get("url"), str) else "needs `url`"
    if not isinstance(server.get("command"), str):
        return "has a `url` but no `type`" if "url" in server else "needs `command`"
    args, env = server.get("args", []), server.get("env", {})
    if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
        return "needs `args` as a list of texts"
    if not isinstance(env, dict) or not all(isinstance(each, str) for each in env.values()):
        return "needs `env` with texts"
    return None


# Marketplaces.


def marketplace_is_accepted(
    _convention: Convention, _config: Any, session: Session
) -> Iterator[Fact]:
    """What keeps Claude Code from using a marketplace, or installing from it."""
    market = session.documents[0].value if session.documents else None
    if not isinstance(market, dict):
        return
    yield from _check_market_name(market)
    is_first_party = str(market.get("name")).lower() in _FIRST_PARTY
    seen: dict[str, int] = {}
    entries = market.get("plugins")
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        path: Path = ("plugins", number)
        if not isinstance(entry, dict):
            continue  # the table reports that
        # The names of Anthropic's own plugins are reserved in the marketplaces of others.
        yield from _check_name(entry, path, lambda _name: is_first_party)
        yield from _check_entry(entry, path, market, session)
        name = entry.get("name")
        if isinstance(name, str):
            first = seen.setdefault(name, number)
            if first != number:
                also = (Also("the other one", ("plugins", first, "name")),)
                yield codes.MANIFEST_REFUSED.at(
                    (*path, "name"), also=also, field="name", reason="is listed twice"
                )


def _check_market_name(market: dict[str, Any]) -> Iterator[Fact]:
    name = market.get("name")
    if not isinstance(name, str) or not name:
        return  # the table reports that
    if name.lower() in _RESERVED_MARKETS:
        # Whose repository it is in, only the owner tells; the validator does not ask.
        if not _mentions_anthropic(market.get("owner")):
            reason = "is reserved: only a repository of Anthropic can be added under it"
            yield _refusal(("name",), "name", reason)
    elif _RESERVED_MARKET_NAME.match(name):
        yield _refusal(("name",), "name", "is reserved: it passes as Anthropic's own")
    else:
        yield from _check_name_form(name, ())


def _check_entry(
    entry: dict[str, Any], path: Path, market: dict[str, Any], session: Session
) -> Iterator[Fact]:
    for field in _NEVER_NULL_IN_ENTRY:
        if field in entry and entry[field] is None:
            yield _null_refusal((*path, field))
    source = entry.get("source")
    root = None
    if isinstance(source, str):
        is_allowed = is_bare(source) and isinstance(get(market, ("metadata", "pluginRoot")), str)
        is_relative = source.startswith("./") or source == "." or is_allowed
        if not is_relative or ".." in source.split("/"):
            reason = "must start with `./` and stay inside the marketplace"
            yield _refusal((*path, "source"), "source", reason)
        else:
            root = folder_of_source(_plugin_root(session), market, source)
    elif isinstance(source, dict):
        yield from _check_source(source, (*path, "source"))
    else:
        reason = "is missing" if source is None else "must be text or a mapping"
        yield _refusal(path, "source", reason)
    # The paths of an entry are those of the plugin, which may not be here.
    yield from _check_definition(entry, path, None, session)
    if root is not None and session.files.is_within(root, session.root):
        yield from _check_version(entry, path, root, session)


def _check_source(source: dict[str, Any], path: Path) -> Iterator[Fact]:
    kind = source.get("source")
    if not isinstance(kind, str) or kind not in _SOURCES:
        yield _refusal(path, "source", "must have a `source` of " + ", ".join(_SOURCES))
        return
    required, optional = _SOURCES[kind]
    for key in required:
        if not isinstance(source.get(key), str):
            yield _refusal(path, "source", f"of type `{kind}` needs `{key}`")
    sha = source.get("sha")
    if isinstance(sha, str) and not re.fullmatch(r"[0-9a-f]{40}", sha):
        yield _refusal((*path, "sha"), "sha", "must be a commit of 40 digits in lower case")
    # Claude Code ignores what it does not know: the newest commit would be installed instead.
    for key in ("branch", "tag", "commit", "rev", "revision", "version"):
        if key in source and key not in (*required, *optional):
            guess = "sha" if key in ("commit", "rev", "revision") else "ref"
            guess = guess if guess in optional else nearest(key, optional) or optional[0]
            yield codes.MANIFEST_PIN_LOST.at(
                (*path, key), part="key", field=key, type=kind, nearest=guess
            )


def _check_version(
    entry: dict[str, Any], path: Path, root: str, session: Session
) -> Iterator[Fact]:
    """The version of an entry equals that of the manifest, which counts."""
    listed = entry.get("version")
    if not isinstance(listed, str):
        return
    manifest = os.path.join(root, ".claude-plugin", "plugin.json")
    version = get(parse_json(session.files.peek(manifest)), ("version",))
    if isinstance(version, str) and version != listed:
        yield codes.MANIFEST_VERSION_DIFFERS.at(
            (*path, "version"),
            listed=Shown(listed),
            plugin=Shown(entry.get("name")),
            version=Shown(version),
        )
