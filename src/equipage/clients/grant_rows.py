"""How the fields of a file become grants: rows, and the ways to read a value.

A row names a field and says what its value means. Each way to read a value is one function: names
in a list, one of a few modes, actions by name, servers, hooks. A row also says what holds if the
field is absent, because that is where most agents get most of their reach from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from equipage.clients.grants import EVERYTHING, Effect, Grant, Hidden, Sort
from equipage.clients.launchers import command_words
from equipage.core.path import ROOT, Path, get
from equipage.core.text import lazy_regex
from equipage.syntax.suspicious import SECRET_NAME, mask_secrets

#: Names of tools and words of commands repeat, from server to server and from file to file.
_mask_cached = lru_cache(4096)(mask_secrets)


class RuleKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a client writes a rule down."""

    tool: str  #: the key with the tools that it is about
    decision: str  #: the key that says what happens
    asks: tuple[str, ...] = ()  #: decisions that ask; others allow
    denies: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()  #: further keys that limit it


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field of a file, and what it grants."""

    at: tuple[str, ...]  #: the keys that lead to it; `*` is every key or entry
    read: Any  #: reads a value: a function of the row, the value and its path that yields grants
    sort: Sort = "tool"
    effect: Effect = "allows"
    otherwise: Effect | None = None  #: what holds for all else if the field is there
    absent: Effect | None = None  #: what holds for everything if it is not
    order: tuple[Any, ...] = ()  #: of a mode: its values from narrow to wide
    default: Any = None  #: of a mode: the value that an absent field means
    name: str = EVERYTHING  #: what `absent` and `otherwise` are about
    plain: bool = False  #: whether a star in a name is only a star
    pattern: str = ""  #: of commands in a text: an expression whose group is a command
    false_denies: bool = False  #: whether a `false` is known to forbid
    #: which values count, by the ends of their names; or which other keys, by their starts
    among: tuple[str, ...] = ()
    #: of other keys and of variables: those that are not meant; of servers: the types there are
    known: tuple[str, ...] = ()
    rule: RuleKeys | None = None

    def grants(self, value: Any) -> Iterator[Grant]:
        """What the field grants in a configuration."""
        for path, found in _values_at(value, self.at):
            if found is None:
                if self.absent is not None:
                    yield Grant(
                        self.sort, self.name, self.absent, path=path, base=True, default=True
                    )
                elif self.order:
                    yield _mode_grant(self, self.default, path, is_default=True)
                continue
            if self.otherwise is not None:
                yield Grant(self.sort, self.name, self.otherwise, path=path, base=True)
            yield from self.read(self, found, path)


def _values_at(value: Any, at: tuple[str, ...], path: Path = ROOT) -> Iterator[tuple[Path, Any]]:
    """The values that the keys lead to, with their paths; None for a field that is absent."""
    if not at:
        yield path, value
        return
    key, *rest = at
    if key != EVERYTHING:
        inner = value.get(key) if isinstance(value, dict) else None
        if inner is None:  # nothing below it is there, either
            yield (*path, *(each for each in at if each != EVERYTHING)), None
        else:
            yield from _values_at(inner, tuple(rest), (*path, key))
        return
    entries: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else entries:
        yield from _values_at(each, tuple(rest), (*path, step))


# How values are read.


def read_names(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Names in a list or a text; of a mapping, its keys, where `false` denies."""
    if isinstance(value, dict):
        for key, each in value.items():
            effect: Effect = row.effect
            # `{bash: false}` in a list of what is allowed forbids it, and the other way round.
            if each is False:
                effect = "allows" if effect == "denies" else "denies"
            name = _escape_stars(str(key)) if row.plain else str(key)
            yield Grant(row.sort, name, effect, path=(*path, key))
        return
    entries = enumerate(value) if isinstance(value, list) else [(None, value)]
    for number, each in entries:
        place = path if number is None else (*path, number)
        name = _escape_stars(_entry_name(each)) if row.plain else _entry_name(each)
        yield Grant(row.sort, name, row.effect, path=place)


def _escape_stars(name: str) -> str:
    """A name with its stars escaped, so that they match only themselves."""
    return name.replace(EVERYTHING, "\\*")


def _entry_name(value: Any) -> str:
    """An entry of a list as a name. Some clients limit one: `[edit, {fileRegex: …}]`."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return f"{value[0]}({_compact_json(value[1:])})" if len(value) > 1 else value[0]
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        return inner if isinstance(inner, str) else f"{key}({_compact_json(inner)})"
    return _mask_cached(value) if isinstance(value, str) else _compact_json(value)


def read_mode(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    yield _mode_grant(row, value, path)


def _mode_grant(row: Row, value: Any, path: Path, *, is_default: bool = False) -> Grant:
    """The level of a mode. A value that is not known may be the widest."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value))  # a mode with details, such as `granular` of Codex
    known = [each for each in row.order if _is_same_value(each, value)]
    if isinstance(value, str) and "$" in value:
        known = []  # it may be anything
    elif row.order[0] is True and not isinstance(value, bool):
        # A sandbox may be on by its name.
        known = [value not in ("", "0", "false", 0, None)]
    level = row.order.index(known[0]) if known else len(row.order)
    usual = [at for at, each in enumerate(row.order) if _is_same_value(each, row.default)]
    last = len(row.order) - 1
    # The widest mode lets everything through, the narrowest nothing; between them it asks.
    effect: Effect = "allows" if level >= last else "denies" if level == 0 else "asks"
    shown = _compact_json(value) if not isinstance(value, str) else value
    return Grant(
        "mode",
        f"{'.'.join(str(each) for each in path)} = {shown}",
        effect,
        path=path,
        default=is_default,
        level=level,
        widest=level >= last,
        usual=usual[0] if usual else None,
    )


def read_limit(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """A number that limits: less is narrower, and what holds without it is not known."""
    yield from _limit_grants(".".join(row.at), value, path, is_wide=int)


def _limit_grants(
    name: str, value: Any, path: Path, is_wide: Callable[[int], int], usual: int | None = None
) -> Iterator[Grant]:
    """A number as a mode, by how wide it is. Where it goes, what takes its place is not known."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    level = is_wide(min(int(value), _MAX_LIMIT)) if is_number else _MAX_LIMIT + 1
    shown = f"{name} = {_compact_json(value)}"
    known = None if usual is None else is_wide(usual)
    yield Grant("mode", shown, "allows", path=path, level=level, usual=known)
    yield Grant("guard", name, "denies", path=path)


#: What is more counts as this.
_MAX_LIMIT = 10**7


def _is_same_value(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


_EFFECTS_BY_ACTION: dict[str, Effect] = {"allow": "allows", "ask": "asks", "deny": "denies"}


def _action_effect(value: Any) -> Effect:
    """What an action does. One that is not known may allow everything."""
    return _EFFECTS_BY_ACTION.get(value, "allows") if isinstance(value, str) else "allows"


def read_actions(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):
        yield Grant(row.sort, EVERYTHING, _action_effect(value), path=path)
    elif isinstance(value, dict):
        for tool, action in value.items():
            if not isinstance(action, dict):
                yield Grant(row.sort, str(tool), _action_effect(action), path=(*path, tool))
                continue
            for pattern, inner in action.items():
                name = str(tool) if pattern == EVERYTHING else f"{tool}({pattern})"
                yield Grant(row.sort, name, _action_effect(inner), path=(*path, tool, pattern))


def read_leaves(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Every scalar and every empty table below a value, with the path to it."""
    waiting: list[tuple[Path, Any]] = [(path, value)]
    while waiting:
        here, each = waiting.pop()
        if isinstance(each, dict) and each:
            waiting += (((*here, key), inner) for key, inner in reversed(each.items()))
        elif isinstance(each, list):
            waiting += (((*here, at), inner) for at, inner in reversed([*enumerate(each)]))
        elif each not in (None, {}) or here != path:  # a key alone may switch something on
            # The places in a list are not part of what it allows.
            steps = ".".join(step for step in here if isinstance(step, str))
            secret = is_secret(str(here[-1]), each) if isinstance(each, str) else False
            shown = (
                "***"
                if secret
                else mask_secrets(each)
                if isinstance(each, str)
                else _compact_json(each)
            )
            hidden = _hidden_part(shown, each) if isinstance(each, str) else None
            yield Grant(row.sort, f"{steps} = {shown}", row.effect, path=here, hidden=hidden)


def read_commands_in_text(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):
        for found in re.finditer(row.pattern, value, re.DOTALL):
            yield _program_grant(found.group(1), path)


def read_explicit_actions(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    for each in read_actions(row, value, path):
        if each.effect == "allows":
            name = f"{'/'.join(row.at)} = allow {each.name}"
            yield Grant("setting", name, "allows", path=each.path)


def read_rules(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """A list of rules, each about a tool or several and with a decision."""
    assert row.rule is not None
    keys = row.rule
    listed = value if isinstance(value, list) else ()
    entries = [each for each in enumerate(listed) if isinstance(each[1], dict)]
    # Where rules have a priority, the highest decides.
    entries.sort(key=lambda each: -_number_or_zero(each[1].get("priority")))
    for number, rule in entries:
        decision = str(rule.get(keys.decision))
        asked: Effect = "asks" if decision in keys.asks else "allows"
        effect: Effect = "denies" if decision in keys.denies else asked
        limits = {key: rule[key] for key in keys.limits if rule.get(key) not in (None, [])}
        server = rule.get("mcpName")
        for name in _texts_of(rule.get(keys.tool) or EVERYTHING):
            full = f"{server}/{name}" if isinstance(server, str) else name
            shown = f"{full}({_compact_json(limits)})" if limits else full
            yield Grant("tool", shown, effect, path=(*path, number))


def read_any_change(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    for each in read_leaves(row, value, path):
        if not (row.false_denies and each.name.endswith(" = false")):
            yield each
        # What is gone may have forbidden something.
        yield Grant("guard", each.name, "denies", path=each.path)


def read_other_keys(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if str(path[-1]).startswith(row.among) and path[-1] not in row.known:
        yield from read_any_change(row, value, path)


def read_access_levels(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if not isinstance(value, dict):
        yield _mode_grant(_ACCESS_ROW, str(value).removesuffix("-all"), path)
        return
    for key, each in value.items():
        yield _mode_grant(_ACCESS_ROW, each, (*path, key))
    # Without the field, a token may read more than what is listed here.
    if "write" not in value.values():
        yield Grant("guard", "/".join(row.at), "denies", path=path)


def read_variables(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if key not in row.known}
    yield from read_names(row, value, path)
    yield from _steering_grants("/".join(row.at), value, path)
    yield from _table_value_grants("/".join(row.at), value, path)


#: Which version of a source it is.
_VERSION_KEYS = ("ref", "sha", "version")


def read_sources(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    for each in read_leaves(row, value, path):
        around = get(value, each.path[len(path) : -1])
        pins = [key for key in _VERSION_KEYS if isinstance(around, dict) and key in around]
        written = "" if each.hidden is None else each.hidden.value
        is_pin = each.path[-1] in _VERSION_KEYS
        hidden = each.hidden if is_pin else Hidden(f"{written} {pins}")
        yield msgspec.structs.replace(each, hidden=hidden)


def read_host(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if host := host_of(value):
        yield Grant("host", host, "allows", path=path)


def read_names_among(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    for each in read_leaves(row, value, path):
        if each.name.endswith(row.among):
            yield each


def read_file_names(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield Grant(row.sort, each, "allows", path=path)


def read_disabled(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if value is False:
        yield Grant("guard", f"{'/'.join(row.at)} = false", "denies", path=path)


# MCP servers. Clients differ in the names of keys, hardly in what there is to say.

#: Keys with the only tools there are, with tools that are left out, with tools that need no
#: approval, and with the address of a server.
_ALLOW_LIST_KEYS = ("tools", "includeTools", "enabled_tools", "allowed", "available_tools")
_DENY_LIST_KEYS = ("excludeTools", "disabled_tools", "disabledTools")
_APPROVED_TOOL_KEYS = ("alwaysAllow", "autoApprove")
_URL_KEYS = ("url", "httpUrl", "serverUrl", "tcp", "uri")
#: Programs that make the headers of a request, and what sets variables or passes them on.
_HEADERS_HELPER_KEYS = ("headersHelper", "http_headers_helper")
_VARIABLE_KEYS = ("env", "environment", "env_vars", "envs", "env_keys")
#: Tables whose values may name variables, which go to the server with each request or at its start;
#: and where Codex and Goose name the variables themselves.
_HEADER_KEYS = ("headers", "http_headers")
TABLES_OF_VALUES = (*_HEADER_KEYS, "env", "environment", "envs")
_VARIABLE_NAME_KEYS = ("env_http_headers", "bearer_token_env_var", "env_vars", "env_keys")


#: Where a program runs, a file with its variables, and how the client talks to it.
_LOCATION_KEYS = ("cwd", "envFile", "env_file", "transport")
#: What is read of a server, and what only describes it or says how long it may take.
_KNOWN_SERVER_KEYS = frozenset(
    {*_ALLOW_LIST_KEYS, *_DENY_LIST_KEYS, *_APPROVED_TOOL_KEYS, *_URL_KEYS, *_HEADERS_HELPER_KEYS}
    | {*_VARIABLE_KEYS, *_HEADER_KEYS, *TABLES_OF_VALUES, *_VARIABLE_NAME_KEYS, *_LOCATION_KEYS}
    | {"command", "cmd", "args", "type", "enabled", "disabled", "settings", "trust"}
    | {"default_tools_approval_mode", "sandbox", "sandboxEnabled", "name", "title", "description"}
    | {"timeout", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec", "alwaysLoad"}
)


def read_servers(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):  # the path of a file with servers
        yield Grant(row.sort, value, "allows", path=path)
    entries: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else entries:
        place = (*path, step)
        if isinstance(each, str):  # defined elsewhere, or the path of a file
            yield Grant(row.sort, each, "allows", path=place)
        elif isinstance(each, dict) and isinstance(step, str):
            yield from _server_grants(step, each, place, row)
        elif isinstance(each, dict) and len(each) == 1 and isinstance(each[next(iter(each))], dict):
            name = next(iter(each))
            yield from _server_grants(name, each[name], (*place, name), row)
        elif isinstance(each, dict):
            name = str(each.get("name") or each.get("type") or step)
            yield from _server_grants(name, each, place, row)


def _server_grants(name: str, server: dict[str, Any], path: Path, row: Row) -> Iterator[Grant]:
    """One server: what it starts or where it leads, which of its tools there are."""
    # Some clients keep what a server needs in a table of its own.
    own = server.get("settings")
    inner = {**server, **own} if isinstance(own, dict) else server
    off = server.get("enabled") is False or server.get("disabled") is True
    yield Grant("server", name, "denies" if off else "allows", path=path)
    if off:
        return
    kind = server.get("type")
    if row.known and isinstance(kind, str) and kind not in row.known:  # it does not start
        yield Grant("guard", f"{name}.type = {_mask_cached(kind)}", "denies", path=(*path, "type"))
    words = command_words(inner)
    if words:
        yield _program_grant(words, path)
    for key in _URL_KEYS:
        if key in inner and (host := host_of(inner[key])):
            yield Grant("host", host, "allows", path=(*path, key))
            # One host may have an address that only reads, and one that also writes.
            inside = f"{host}{_mask_cached(_url_path(inner[key]))}"
            if inside != host or key != "url":
                yield Grant("setting", f"{name}.{key} = {inside}", "allows", path=(*path, key))
            if str(inner[key]).startswith("http:"):
                shown = f"{name}.{key} = http://{inside}"
                yield Grant("setting", shown, "allows", path=(*path, key))
            yield from _query_grants(f"{name}.{key}", inner[key], (*path, key))
    for key in _HEADERS_HELPER_KEYS:
        if key in inner:
            yield from read_commands(_HEADERS_HELPER_ROW, inner[key], (*path, key))
    # The variables of a program decide what it loads; those that are passed on may be secrets.
    for key in _VARIABLE_KEYS:
        given = inner.get(key)
        for each in given if isinstance(given, dict | list) else ():
            if isinstance(each, str):
                yield Grant("variable", each, "allows", path=(*path, key))
        yield from _steering_grants(f"{name}.{key}", given, (*path, key))
        yield from _table_value_grants(f"{name}.{key}", given, (*path, key))
    yield from _passed_variable_grants(name, inner, path)
    for key in _HEADER_KEYS:
        yield from _table_value_grants(f"{name}.{key}", inner.get(key), (*path, key), is_new=True)
    for key in _LOCATION_KEYS:
        if isinstance(inner.get(key), str):
            yield Grant(
                "setting", f"{name}.{key} = {_mask_cached(inner[key])}", "allows", path=(*path, key)
            )
    # How it signs in, and keys that are in no table here: any change of them counts.
    for key in inner.keys() - _KNOWN_SERVER_KEYS:
        yield from _OAUTH_ROW.read(_OAUTH_ROW, inner[key], (*path, key))
    yield from _server_tool_grants(name, inner, path, row.default)


def _query_grants(name: str, url: str, path: Path) -> Iterator[Grant]:
    """What an address asks for (`?read_only=true`), and who asks; values may be secrets."""
    try:
        parts = urlsplit(url)
        asked = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return
    for key, value in asked:
        # Without a value, the name may be the secret.
        shown = f"{name}?{_mask_cached(key) if value else ''}"
        hidden = Hidden(value or key)
        yield Grant("setting", shown, "allows", path=path)
        yield Grant("guard", shown, "denies", path=path, hidden=hidden)
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        yield Grant("setting", f"{name} with a user", "allows", path=path, hidden=Hidden(user))


def _table_value_grants(
    name: str, table: Any, path: Path, *, is_new: bool = False
) -> Iterator[Grant]:
    """The grants for values of headers or variables.

    Values may be secrets, so only their names are shown. They may restrict a server, so another
    value counts, and so does a removed one unless it is a secret; with `is_new`, an added one, too.
    """
    for key, value in table.items() if isinstance(table, dict) else ():
        if not isinstance(key, str) or not isinstance(value, str | int | float):
            continue
        text = value if isinstance(value, str) else _compact_json(value)
        shown, place = f"{name}.{key}", (*path, key)
        # Variables are shown, and so are values that steer a program.
        is_shown = _STEERING_VARIABLE.search(key) is not None and "://" not in text
        hidden = Hidden("" if is_shown else VARIABLE.sub("", text))
        if is_new:
            yield Grant("setting", shown, "allows", path=place)
        if is_secret(key, "x"):  # without it, less is allowed
            yield Grant("setting", f"{shown} = ***", "allows", path=place, hidden=hidden)
        elif is_shown or hidden.value:
            yield Grant("guard", shown, "denies", path=place, hidden=hidden)


#: Variables that decide which code a program loads, or where it sends what it knows.
_STEERING_VARIABLE = re.compile(
    r"(?:\A|_)(?:PATH|OPTIONS|OPTS|PRELOAD|STARTUP|URL|URI|HOST|ENDPOINT|PROXY|SHELL)\Z",
    re.IGNORECASE,
)


def _steering_grants(name: str, variables: Any, path: Path) -> Iterator[Grant]:
    """The values of variables that steer a program. Those of any other may be secrets."""
    for key, value in variables.items() if isinstance(variables, dict) else ():
        if isinstance(key, str) and isinstance(value, str) and _STEERING_VARIABLE.search(key):
            # An address may have a password in it.
            shown = host_of(value) if "://" in value else _mask_cached(value)
            yield Grant("setting", f"{name}.{key} = {shown}", "allows", path=(*path, key))


#: A variable in a value, as any client spells it: `${A}`, `${A:-b}`, `${env:A}`, `{env:A}`,
#: `${env.A}`, `$A`. Others (`${input:x}`) are asked for.
VARIABLE = re.compile(r"\$?\{(?:env[:.])?([A-Za-z_]\w*)(?::-[^}]*)?\}|\$([A-Za-z_]\w*)")


def _passed_variable_grants(name: str, server: dict[str, Any], path: Path) -> Iterator[Grant]:
    """The variables of the client whose values a server gets. What else is there may be secret."""
    for key in TABLES_OF_VALUES:
        table = server.get(key)
        for entry, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and ("$" in value or "{" in value):
                for found in VARIABLE.finditer(value):
                    shown = f"{name}.{key}.{entry} = ${{{found[1] or found[2]}}}"
                    yield Grant("setting", shown, "allows", path=(*path, key, entry))
    for key in _VARIABLE_NAME_KEYS:
        named = server.get(key)
        for each in named.values() if isinstance(named, dict) else _texts_of(named):
            if isinstance(each, str):
                yield Grant("setting", f"{name}.{key} = ${{{each}}}", "allows", path=(*path, key))


def _server_tool_grants(
    name: str, server: dict[str, Any], path: Path, usual: Effect
) -> Iterator[Grant]:
    # An empty list of Goose leaves nothing out.
    lists = [key for key in _ALLOW_LIST_KEYS if key != "available_tools" or server.get(key)]
    only = [key for key in lists if isinstance(server.get(key), list)]
    trusted = server.get("trust") is True
    # A list of tools leaves out all others; trust means that no call is asked about.
    everything: Effect = "denies" if only else "allows" if trusted else usual
    yield Grant(
        "tool",
        f"{name}/*",
        everything,
        path=path,
        base=bool(only) or not trusted,
        default=not only and not trusted,
    )
    listed: list[tuple[tuple[str, ...], Effect]] = [
        (tuple(only), "allows" if trusted else "asks"),
        (_DENY_LIST_KEYS, "denies"),
        (_APPROVED_TOOL_KEYS, "allows"),
    ]
    for keys, effect in listed:
        for key in keys:
            value = server.get(key)
            for number, tool in enumerate(value if isinstance(value, list) else ()):
                shown = (
                    _escape_stars(_entry_name(tool)) if effect == "denies" else _entry_name(tool)
                )
                yield Grant("tool", f"{name}/{shown}", effect, path=(*path, key, number))
    if "default_tools_approval_mode" in server:
        place = (*path, "default_tools_approval_mode")
        yield _mode_grant(_APPROVAL_ROW, server["default_tools_approval_mode"], place)
    tools = server.get("tools")
    for tool, each in tools.items() if isinstance(tools, dict) else ():
        if isinstance(each, dict) and "approval_mode" in each:
            yield _mode_grant(
                _APPROVAL_ROW, each["approval_mode"], (*path, "tools", tool, "approval_mode")
            )
    if "sandboxEnabled" in server:
        place = (*path, "sandboxEnabled")
        yield _mode_grant(_SANDBOX_SWITCH_ROW, server["sandboxEnabled"], place)
    if isinstance(server.get("sandbox"), dict):
        yield from _SANDBOX_ROW.read(_SANDBOX_ROW, server["sandbox"], (*path, "sandbox"))


def host_of(url: Any) -> str:
    """The host of an address, with its port, without a name or password in it."""
    if not isinstance(url, str):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return mask_secrets(url)
    return parts.netloc.rpartition("@")[2] or ("" if parts.scheme else mask_secrets(url))


def _url_path(url: str) -> str:
    """The path of a URL, without its query and fragment, which may be secret."""
    try:
        return urlsplit(url).path.rstrip("/") if "://" in url else ""
    except ValueError:
        return ""  # then `host_of` gives the whole of it


# Hooks.

#: Events whose hooks can stop what an agent does, in the words of all clients, folded.
_BLOCKING_EVENT = lazy_regex(
    r"pre|before|permission_?request|user_?prompt|prompt_?submit|subagent_?start|config_?change"
    r"|elicitation|task_?c|worktree_?create",
    re.IGNORECASE,
)
#: What a hook says that grants of its own show, or that only people read. All else decides what
#: it does: arguments, a time limit, an input, whether it runs once.
_HOOK_KEYS_NOT_COMPARED = frozenset(
    {"matcher", "match", "if", "async", "asyncRewake", "onFailure", "allowedEnvVars"}
    | {"continueOnBlock", "statusMessage", "description", "comment", "timeout", "timeoutSec"}
)
#: A matcher for several tools, and those for all.
_SEVERAL_NAMES = re.compile(r"[\w-]+(?:\|[\w-]+)+")
_ANY_MATCHERS = ("", "*", ".*")


def read_hooks(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):  # the path of a file with hooks
        yield Grant("program", value, "allows", path=path)
    # Clients nest events, matchers and handlers in different ways; the first key is the event.
    waiting: list[tuple[Any, Path, str, str]] = [(value, path, "", "")]
    while waiting:
        each, here, event, matcher = waiting.pop()
        if isinstance(each, list):
            waiting += ((inner, (*here, at), event, matcher) for at, inner in enumerate(each))
            continue
        if isinstance(each, str) and not event:
            yield Grant("program", each, "allows", path=here)
        if not isinstance(each, dict):
            continue
        found = each.get("matcher") or each.get("match")
        matcher = found if isinstance(found, str) else _compact_json(found) if found else matcher
        ran = list(_hook_commands(each))
        yield from _hook_grants(each, ran, here, event, matcher, row.default)
        if not ran:
            waiting += (
                (inner, (*here, key), event or str(key), matcher)
                for key, inner in each.items()
                if isinstance(inner, dict | list)
            )


def _hook_grants(
    hook: dict[str, Any], ran: list[str], path: Path, event: str, matcher: str, time: int | None
) -> Iterator[Grant]:
    """What a hook that runs some commands grants; a table around hooks runs none."""
    rest = {key: inner for key, inner in hook.items() if key not in _HOOK_KEYS_NOT_COMPARED}
    if rest.get("type") == "command":
        del rest["type"]  # as without one
    # What runs beside the agent, or after it, stops nothing.
    is_beside = hook.get("async") is True or hook.get("asyncRewake") is True
    stops = _BLOCKING_EVENT.match(event) is not None and not is_beside
    matchers = matcher.split("|") if _SEVERAL_NAMES.fullmatch(matcher) else [matcher]
    limits = "".join(f" {part}" for part in _texts_of(hook.get("if")))
    for text in ran:
        yield Grant("program", text, "allows", path=path, hidden=Hidden(_compact_json(rest)))
        for each in matchers if stops else ():
            before = EVERYTHING if each in _ANY_MATCHERS else each
            yield Grant("guard", f"{event} {before}{limits}: {text}", "denies", path=path)
        for key in ("timeout", "timeoutSec") if stops else ():
            if key in hook:  # one that takes too long stops nothing
                name = f"{key} of {text.replace(' = ', '=')}"
                less = _MAX_LIMIT.__sub__
                yield from _limit_grants(name, hook[key], (*path, key), less, time)
    for row in _HOOK_FAILURE_ROWS:
        if row.at[0] in hook:
            yield _mode_grant(row, hook[row.at[0]], (*path, *row.at))
    for name in _texts_of(hook.get("allowedEnvVars")):
        yield Grant("variable", name, "allows", path=(*path, "allowedEnvVars"))


def _hook_commands(hook: dict[str, Any]) -> Iterator[str]:
    for key in ("command", "bash", "powershell", "run", "url", "prompt", "commandWindows"):
        value = hook.get(key)
        args = hook.get("args") if key == "command" else None
        words = [value, *_texts_of(args or [])] if isinstance(value, str) and args else value
        if isinstance(words, str):
            yield mask_secrets(words)
        elif isinstance(words, list) and all(isinstance(word, str) for word in words):
            yield mask_words(words)
    if isinstance(hook.get("server"), str) and isinstance(hook.get("tool"), str):
        yield f"{hook['server']}/{hook['tool']}"
    handler = hook.get("name")
    if hook.get("type") == "builtin" and isinstance(handler, str):
        yield handler


def read_commands(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str) or (
        isinstance(value, list) and value and all(isinstance(each, str) for each in value)
    ):
        yield _program_grant(value, path)


def _program_grant(command: str | list[str], path: Path) -> Grant:
    """A command without what looks like a secret in it."""
    shown = mask_secrets(command) if isinstance(command, str) else mask_words(command)
    written = command if isinstance(command, str) else " ".join(command)
    return Grant("program", shown, "allows", path=path, hidden=_hidden_part(shown, written))


def _hidden_part(shown: str, written: str) -> Hidden | None:
    """The written text, if the shown one leaves out a part of it; else None."""
    return None if shown == written else Hidden(written)


# Secrets stay out: a grant is shown, and written to locks.

_OPTION = lazy_regex(r"(--?[\w-]+)(?:=(.*))?", re.DOTALL)


def is_secret(name: str, text: str) -> bool:
    """Whether a value under a name is a secret, and no variable."""
    return SECRET_NAME.search(name) is not None and "$" not in text and bool(text)


def mask_words(words: list[str]) -> str:
    """A command line without what looks like a secret, and without what an option asks for."""
    shown: list[str] = []
    hide = False
    for word in words:
        option = _OPTION.fullmatch(word) if word.startswith("-") else None
        named = option is not None and is_secret(option[1].lstrip("-"), "x")
        if hide and not word.startswith("$"):
            shown.append("***")
        elif option is not None and named and option[2]:
            shown.append(f"{option[1]}=***")
        else:
            shown.append(_mask_cached(word))
        # `--token x`: the next word is the secret. `--token=x` has been hidden already.
        hide = named and option is not None and option[2] is None
    return " ".join(shown)


def _texts_of(value: Any) -> list[str]:
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)
    ]


def _number_or_zero(value: Any) -> float:
    return value if isinstance(value, int | float) else 0


def _compact_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str, separators=(",", ":"))


#: What a hook says about calls that it should stop, and does not.
_HOOK_FAILURE_ROWS = (
    Row(("onFailure",), read_mode, "mode", order=("block", "continue"), default="continue"),
    Row(("continueOnBlock",), read_mode, "mode", order=(False, True), default=False),
)
#: The rows of what a server says about itself.
_HEADERS_HELPER_ROW, _SANDBOX_ROW, _OAUTH_ROW, _SANDBOX_SWITCH_ROW = (
    Row(("headersHelper",), read_commands, "program"),
    Row(("sandbox",), read_any_change, "setting"),
    Row(("oauth",), read_any_change, "setting"),
    Row(("sandboxEnabled",), read_mode, "mode", order=(True, False), default=False),
)
_ACCESS_ROW = Row(
    ("permissions",), read_mode, "mode", order=("none", "read", "write"), default="none"
)
_APPROVAL_ROW = Row(
    ("default_tools_approval_mode",),
    read_mode,
    "mode",
    order=("prompt", "writes", "auto", "approve"),
    default="auto",
)
