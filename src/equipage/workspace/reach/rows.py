"""How the fields of a file become grants: the rows that the tables of clients are made of.

A row names a field and says what its value means. Each way to read a value is one function: names
in a list, one of a few modes, actions by name, servers, hooks. A row also says what holds if the
field is absent, because that is where most agents get most of their reach from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from equipage.core.path import ROOT, Path
from equipage.core.text import expression
from equipage.syntax.suspicious import masked
from equipage.workspace.reach.values import EVERYTHING, Effect, Grant, Hidden

#: Names of tools and words of commands repeat, from server to server and from file to file.
_masked = lru_cache(4096)(masked)
#: Reads a value: the row, the value, its path → grants.
Reader = Callable[["Row", Any, Path], Iterator[Grant]]


class Row(msgspec.Struct, frozen=True):
    """One field of a file, and what it grants."""

    at: tuple[str, ...]  #: the keys that lead to it; `*` is every key or entry
    sort: str
    read: Reader
    effect: Effect = "allows"
    otherwise: Effect | None = None  #: what holds for all else if the field is there
    absent: Effect | None = None  #: what holds for everything if it is not
    order: tuple[Any, ...] = ()  #: of a mode: its values from narrow to wide
    default: Any = None  #: of a mode: the value that an absent field means
    name: str = EVERYTHING  #: what the row is about if the field is absent
    plain: bool = False  #: whether a star in a name is only a star

    def grants(self, value: Any) -> Iterator[Grant]:
        """What the field grants in a configuration."""
        for path, found in _found(value, self.at):
            if found is None:
                if self.absent is not None:
                    yield Grant(
                        self.sort, self.name, self.absent, path=path, base=True, default=True
                    )
                elif self.order:
                    yield _mode(self, self.default, path, is_default=True)
                continue
            if self.otherwise is not None:
                yield Grant(self.sort, EVERYTHING, self.otherwise, path=path, base=True)
            yield from self.read(self, found, path)


def _found(value: Any, at: tuple[str, ...], path: Path = ROOT) -> Iterator[tuple[Path, Any]]:
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
            yield from _found(inner, tuple(rest), (*path, key))
        return
    entries: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else entries:
        yield from _found(each, tuple(rest), (*path, step))


# The rows that tables are made of. A field inside others is written with `/`.


def _at(field: str) -> tuple[str, ...]:
    return tuple(field.split("/"))


def has(field: str, sort: str = "tool", absent: Effect = "allows") -> Row:
    """A list of all that is allowed: the rest is denied. If absent, `absent` holds for all."""
    return Row(_at(field), sort, _names, "allows", otherwise="denies", absent=absent)


def allows(field: str, sort: str = "tool") -> Row:
    """A list of what is allowed without approval, or in addition."""
    return Row(_at(field), sort, _names, "allows")


def asks(field: str, sort: str = "tool") -> Row:
    return Row(_at(field), sort, _names, "asks")


def denies(field: str, sort: str = "tool", *, plain: bool = False) -> Row:
    """A list of what is denied. In a `plain` list, a star has no special meaning."""
    return Row(_at(field), sort, _names, "denies", plain=plain)


def usually(sort: str, effect: Effect, name: str = EVERYTHING) -> Row:
    """The effect for a sort of things, or for one of them, that no field sets."""
    return Row(("\0",), sort, _names, absent=effect, name=name)


def mode(field: str, *order: Any, default: Any) -> Row:
    """One of a few values, from narrow to wide."""
    return Row(_at(field), "mode", _modes, order=order, default=default)


def widens(field: str, *, default: bool = False) -> Row:
    """A switch that lets more through if it is on."""
    return mode(field, False, True, default=default)


def narrows(field: str, *, default: bool = False) -> Row:
    """A switch that lets more through if it is off."""
    return mode(field, True, False, default=default)


def actions(field: str) -> Row:
    """An action for everything, for each tool, or for each pattern of a tool."""
    return Row(_at(field), "tool", _actions)


def servers(field: str) -> Row:
    """MCP servers by name, or the names of servers."""
    return Row(_at(field), "server", _servers)


def hooks(field: str) -> Row:
    """Programs that run at events, some of which can stop a call."""
    return Row(_at(field), "program", _hooks)


def runs(field: str) -> Row:
    """A command, or several."""
    return Row(_at(field), "program", _commands)


def embedded(field: str, pattern: str) -> Row:
    """Commands inside a text that run when the text is used."""
    expression = re.compile(pattern, re.DOTALL)

    def read(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
        if isinstance(value, str):
            for found in expression.finditer(value):
                yield _program(found.group(1), path)

    return Row(_at(field), "program", read)


def rules(field: str, tool: str, decision: str, words: Mapping[str, Effect], *parts: str) -> Row:
    """A list of rules, each about a tool or several and with a decision; `parts` limit it."""

    def read(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
        listed = value if isinstance(value, list) else ()
        entries = [each for each in enumerate(listed) if isinstance(each[1], dict)]
        # Where rules have a priority, the highest decides.
        entries.sort(key=lambda each: -_number(each[1].get("priority")))
        for number, rule in entries:
            effect = words.get(str(rule.get(decision)), "allows")
            limits = {key: rule[key] for key in parts if rule.get(key) not in (None, [])}
            server = rule.get("mcpName")
            for name in _texts(rule.get(tool) or EVERYTHING):
                full = f"{server}/{name}" if isinstance(server, str) else name
                shown = f"{full}({_compact(limits)})" if limits else full
                yield Grant("tool", shown, effect, path=(*path, number))

    return Row(_at(field), "tool", read)


def anything(field: str, sort: str = "setting") -> Row:
    """A table of which each value counts as allowed: what it means is not known."""
    return Row(_at(field), sort, _leaves)


def guards(field: str) -> Row:
    """A field that only restricts, so that nothing is said where it is absent."""
    return Row(_at(field), "guard", _leaves, "denies")


def opaque(field: str, sort: str = "setting") -> Row:
    """A table whose values may allow or forbid: any change of it counts as widening."""

    def read(row: Row, value: Any, path: Path) -> Iterator[Grant]:
        for each in _leaves(row, value, path):
            yield each
            # What is gone may have forbidden something.
            yield Grant("guard", each.name, "denies", path=each.path)

    return Row(_at(field), sort, read)


def inputs(field: str) -> tuple[Row, ...]:
    """Values that an editor asks for or lets a command answer, and puts into servers. How it asks
    changes nothing that they may do."""
    answers = (opaque(f"{field}/*/{name}") for name in ("command", "args", "default", "options"))
    return (*answers, guards(f"{field}/*/password"))


def variables(field: str) -> Row:
    """Variables for programs; of some, the value counts as well."""

    def read(row: Row, value: Any, path: Path) -> Iterator[Grant]:
        yield from _names(row, value, path)
        yield from _steering(field, value, path)
        yield from _valued(field, value, path)

    return Row(_at(field), "variable", read)


def hosts(field: str) -> Row:
    """An address that requests go to."""

    def read(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
        if host := host_of(value):
            yield Grant("host", host, "allows", path=path)

    return Row(_at(field), "host", read)


def only(field: str, *names: str) -> Row:
    """A list of which only some names count."""

    def read(row: Row, value: Any, path: Path) -> Iterator[Grant]:
        for each in _leaves(row, value, path):
            if each.name.rpartition(" = ")[2] in names:
                yield each

    return Row(_at(field), "setting", read)


# How values are read.


def _names(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Names in a list or a text; of a mapping, its keys, where `false` denies."""
    if isinstance(value, dict):
        for key, each in value.items():
            effect: Effect = row.effect
            # `{bash: false}` in a list of what is allowed forbids it, and the other way round.
            if each is False:
                effect = "allows" if effect == "denies" else "denies"
            name = _starless(str(key)) if row.plain else str(key)
            yield Grant(row.sort, name, effect, path=(*path, key))
        return
    entries = enumerate(value) if isinstance(value, list) else [(None, value)]
    for number, each in entries:
        place = path if number is None else (*path, number)
        name = _starless(_name(each)) if row.plain else _name(each)
        yield Grant(row.sort, name, row.effect, path=place)


def _starless(name: str) -> str:
    """A name with its stars escaped, so that they match only themselves."""
    return name.replace(EVERYTHING, "\\*")


def _name(value: Any) -> str:
    """An entry of a list as a name. Some clients limit one: `[edit, {fileRegex: …}]`."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return f"{value[0]}({_compact(value[1:])})" if len(value) > 1 else value[0]
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        return inner if isinstance(inner, str) else f"{key}({_compact(inner)})"
    return _masked(value) if isinstance(value, str) else _compact(value)


def _modes(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    yield _mode(row, value, path)


def _mode(row: Row, value: Any, path: Path, *, is_default: bool = False) -> Grant:
    """The level of a mode. A value that is not known may be the widest."""
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value))  # a mode with details, such as `granular` of Codex
    known = [each for each in row.order if _same(each, value)]
    if row.order[0] is True and not isinstance(value, bool):
        known = [True] if value else [False]  # a sandbox may be on by its name
    level = row.order.index(known[0]) if known else len(row.order)
    usual = [at for at, each in enumerate(row.order) if _same(each, row.default)]
    last = len(row.order) - 1
    # The widest mode lets everything through, the narrowest nothing; between them it asks.
    effect: Effect = "allows" if level >= last else "denies" if level == 0 else "asks"
    shown = _compact(value) if not isinstance(value, str) else value
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


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


_ACTIONS: dict[str, Effect] = {"allow": "allows", "ask": "asks", "deny": "denies"}


def _action(value: Any) -> Effect:
    """What an action does. One that is not known may allow everything."""
    return _ACTIONS.get(value, "allows") if isinstance(value, str) else "allows"


def _actions(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):
        yield Grant(row.sort, EVERYTHING, _action(value), path=path)
    elif isinstance(value, dict):
        for tool, action in value.items():
            if not isinstance(action, dict):
                yield Grant(row.sort, str(tool), _action(action), path=(*path, tool))
                continue
            for pattern, inner in action.items():
                name = str(tool) if pattern == EVERYTHING else f"{tool}({pattern})"
                yield Grant(row.sort, name, _action(inner), path=(*path, tool, pattern))


def _leaves(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    """Every scalar below a value, with the path to it."""
    waiting: list[tuple[Path, Any]] = [(path, value)]
    while waiting:
        here, each = waiting.pop()
        if isinstance(each, dict):
            waiting += (((*here, key), inner) for key, inner in reversed(each.items()))
        elif isinstance(each, list):
            waiting += (((*here, at), inner) for at, inner in reversed([*enumerate(each)]))
        elif each is not None:
            # The places in a list are not part of what it allows.
            steps = ".".join(step for step in here if isinstance(step, str))
            secret = is_secret(str(here[-1]), each) if isinstance(each, str) else False
            shown = "***" if secret else masked(each) if isinstance(each, str) else _compact(each)
            hidden = _hidden(shown, each) if isinstance(each, str) else None
            yield Grant(row.sort, f"{steps} = {shown}", row.effect, path=here, hidden=hidden)


# MCP servers. Clients differ in the names of keys, hardly in what there is to say.

#: Keys with the only tools there are, with tools that are left out, with tools that need no
#: approval, and with the address of a server.
_ONLY = ("tools", "includeTools", "enabled_tools", "allowed", "available_tools")
_LEFT_OUT = ("excludeTools", "disabled_tools", "disabledTools")
_UNASKED = ("alwaysAllow", "autoApprove")
_URLS = ("url", "httpUrl", "serverUrl", "tcp", "uri")
#: Programs that make the headers of a request, and what sets variables or passes them on.
_HELPERS = ("headersHelper", "http_headers_helper")
_VARIABLES = ("env", "environment", "env_vars", "envs", "env_keys")
#: Tables whose values may name variables, which go to the server with each request or at its start;
#: and where Codex and Goose name the variables themselves.
_HEADERS = ("headers", "http_headers")
_FILLED = (*_HEADERS, "env", "environment", "envs")
_PASSED = ("env_http_headers", "bearer_token_env_var", "env_vars", "env_keys")


def _servers(row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str):  # the path of a file with servers
        yield Grant(row.sort, value, "allows", path=path)
    entries: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else entries:
        place = (*path, step)
        if isinstance(each, str):  # defined elsewhere, or the path of a file
            yield Grant(row.sort, each, "allows", path=place)
        elif isinstance(each, dict) and isinstance(step, str):
            yield from _server(step, each, place)
        elif isinstance(each, dict) and len(each) == 1 and isinstance(each[next(iter(each))], dict):
            name = next(iter(each))
            yield from _server(name, each[name], (*place, name))
        elif isinstance(each, dict):
            name = str(each.get("name") or each.get("type") or step)
            yield from _server(name, each, place)


def _server(name: str, server: dict[str, Any], path: Path) -> Iterator[Grant]:
    """One server: what it starts or where it leads, which of its tools there are."""
    # Some clients keep what a server needs in a table of its own.
    own = server.get("settings")
    inner = {**server, **own} if isinstance(own, dict) else server
    off = server.get("enabled") is False or server.get("disabled") is True
    yield Grant("server", name, "denies" if off else "allows", path=path)
    if off:
        return
    words = words_of(inner)
    if words:
        yield _program(words, path)
    for key in _URLS:
        if key in inner and (host := host_of(inner[key])):
            yield Grant("host", host, "allows", path=(*path, key))
            # One host may have an address that only reads, and one that also writes.
            inside, clear = _path_in(inner[key]), str(inner[key]).startswith("http:")
            if inside or clear:
                shown = f"{name}.{key} = {'http://' * clear}{host}{_masked(inside)}"
                yield Grant("setting", shown, "allows", path=(*path, key))
            yield from _asked(f"{name}.{key}", inner[key], (*path, key))
    for key in _HELPERS:
        if key in inner:
            yield from _commands(_HELPER, inner[key], (*path, key))
    # The variables of a program decide what it loads; those that are passed on may be secrets.
    for key in _VARIABLES:
        given = inner.get(key)
        for each in given if isinstance(given, dict | list) else ():
            if isinstance(each, str):
                yield Grant("variable", each, "allows", path=(*path, key))
        yield from _steering(f"{name}.{key}", given, (*path, key))
        yield from _valued(f"{name}.{key}", given, (*path, key))
    yield from _passed(name, inner, path)
    for key in _HEADERS:
        yield from _valued(f"{name}.{key}", inner.get(key), (*path, key), is_new=True)
    for key in _PLACES:
        if isinstance(inner.get(key), str):
            yield Grant(
                "setting", f"{name}.{key} = {_masked(inner[key])}", "allows", path=(*path, key)
            )
    for key in _SCOPES:
        if key in inner:
            yield from _SCOPED.read(_SCOPED, inner[key], (*path, key))
    yield from _server_tools(name, inner, path)


def _asked(name: str, url: str, path: Path) -> Iterator[Grant]:
    """What an address asks for (`?read_only=true`), and who asks; values may be secrets."""
    try:
        parts = urlsplit(url)
        asked = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return
    for key, value in asked:
        # Without a value, the name may be the secret.
        shown = f"{name}?{_masked(key) if value else ''}"
        hidden = Hidden(value or key)
        yield Grant("setting", shown, "allows", path=path)
        yield Grant("guard", shown, "denies", path=path, hidden=hidden)
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        yield Grant("setting", f"{name} with a user", "allows", path=path, hidden=Hidden(user))


def _valued(name: str, table: Any, path: Path, *, is_new: bool = False) -> Iterator[Grant]:
    """The grants for values of headers or variables.

    Values may be secrets, so only their names are shown. They may restrict a server, so another
    value counts, and so does a removed one unless it is a secret; with `is_new`, an added one, too.
    """
    for key, value in table.items() if isinstance(table, dict) else ():
        if not isinstance(key, str) or not isinstance(value, str | int | float):
            continue
        text = value if isinstance(value, str) else _compact(value)
        shown, place = f"{name}.{key}", (*path, key)
        # Variables are shown, and so are values that steer a program.
        is_shown = _STEERS.search(key) is not None and "://" not in text
        hidden = Hidden("" if is_shown else _VARIABLE.sub("", text))
        if is_new:
            yield Grant("setting", shown, "allows", path=place)
        if is_secret(key, "x"):  # without it, less is allowed
            yield Grant("setting", f"{shown} = ***", "allows", path=place, hidden=hidden)
        elif is_shown or hidden.value:
            yield Grant("guard", shown, "denies", path=place, hidden=hidden)


#: What a client asks for where it signs in.
_SCOPES = ("oauth", "auth", "scopes", "oauth_resource")
#: Where a program runs, and a file with its variables.
_PLACES = ("cwd", "envFile", "env_file")
#: Variables that decide which code a program loads, or where it sends what it knows.
_STEERS = re.compile(
    r"(?:\A|_)(?:PATH|OPTIONS|OPTS|PRELOAD|STARTUP|URL|URI|HOST|ENDPOINT|PROXY|SHELL)\Z",
    re.IGNORECASE,
)


def _steering(name: str, variables: Any, path: Path) -> Iterator[Grant]:
    """The values of variables that steer a program. Those of any other may be secrets."""
    for key, value in variables.items() if isinstance(variables, dict) else ():
        if isinstance(key, str) and isinstance(value, str) and _STEERS.search(key):
            # An address may have a password in it.
            shown = host_of(value) if "://" in value else _masked(value)
            yield Grant("setting", f"{name}.{key} = {shown}", "allows", path=(*path, key))


#: A variable in a value, as any client spells it: `${A}`, `${A:-b}`, `${env:A}`, `{env:A}`,
#: `${env.A}`, `$A`. Others (`${input:x}`) are asked for.
_VARIABLE = re.compile(r"\$?\{(?:env[:.])?([A-Za-z_]\w*)(?::-[^}]*)?\}|\$([A-Za-z_]\w*)")


def _passed(name: str, server: dict[str, Any], path: Path) -> Iterator[Grant]:
    """The variables of the client whose values a server gets. What else is there may be secret."""
    for key in _FILLED:
        table = server.get(key)
        for entry, value in table.items() if isinstance(table, dict) else ():
            if isinstance(value, str) and ("$" in value or "{" in value):
                for found in _VARIABLE.finditer(value):
                    shown = f"{name}.{key}.{entry} = ${{{found[1] or found[2]}}}"
                    yield Grant("setting", shown, "allows", path=(*path, key, entry))
    for key in _PASSED:
        named = server.get(key)
        for each in named.values() if isinstance(named, dict) else _texts(named):
            if isinstance(each, str):
                yield Grant("setting", f"{name}.{key} = ${{{each}}}", "allows", path=(*path, key))


def _server_tools(name: str, server: dict[str, Any], path: Path) -> Iterator[Grant]:
    only = [key for key in _ONLY if isinstance(server.get(key), list)]
    trusted = server.get("trust") is True
    # A list of tools leaves out all others; trust means that no call is asked about.
    everything: Effect = "denies" if only else "allows" if trusted else "asks"
    yield Grant(
        "tool",
        f"{name}/*",
        everything,
        path=path,
        base=not trusted,
        default=not only and not trusted,
    )
    listed: list[tuple[tuple[str, ...], Effect]] = [
        (tuple(only), "allows" if trusted else "asks"),
        (_LEFT_OUT, "denies"),
        (_UNASKED, "allows"),
    ]
    for keys, effect in listed:
        for key in keys:
            value = server.get(key)
            for number, tool in enumerate(value if isinstance(value, list) else ()):
                shown = _starless(_name(tool)) if effect == "denies" else _name(tool)
                yield Grant("tool", f"{name}/{shown}", effect, path=(*path, key, number))
    if "default_tools_approval_mode" in server:
        place = (*path, "default_tools_approval_mode")
        yield _mode(_APPROVAL, server["default_tools_approval_mode"], place)
    tools = server.get("tools")
    for tool, each in tools.items() if isinstance(tools, dict) else ():
        if isinstance(each, dict) and "approval_mode" in each:
            yield _mode(_APPROVAL, each["approval_mode"], (*path, "tools", tool, "approval_mode"))
    if "sandboxEnabled" in server:
        place = (*path, "sandboxEnabled")
        yield _mode(narrows("sandboxEnabled"), server["sandboxEnabled"], place)
    if isinstance(server.get("sandbox"), dict):
        yield from _SANDBOX.read(_SANDBOX, server["sandbox"], (*path, "sandbox"))


def words_of(server: Mapping[str, Any]) -> list[str]:
    """The program that a server starts and its arguments; empty for one that runs elsewhere."""
    command = next((server[key] for key in ("command", "cmd") if server.get(key)), None)
    if isinstance(command, dict):  # Zed has the program in a table of its own
        return words_of({"command": command.get("path"), "args": command.get("args")})
    args = server.get("args")
    words: list[Any] = list(command) if isinstance(command, list) else [command]
    words += args if isinstance(args, list) else [args] if args else []
    return words if all(isinstance(word, str) for word in words) else []


#: A command without quotes: blanks alone divide it.
_UNQUOTED = re.compile(r"[\t\n !#-&(-\[\]-~]*")


def divided(text: str) -> list[str]:
    """The words of a command in one text, as a shell divides it."""
    if _UNQUOTED.fullmatch(text):
        return text.split()  # many times faster
    import shlex  # few commands have quotes

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def host_of(url: Any) -> str:
    """The host of an address, with its port, without a name or password in it."""
    if not isinstance(url, str):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return masked(url)
    return parts.netloc.rpartition("@")[2] or ("" if parts.scheme else masked(url))


def _path_in(url: str) -> str:
    """The path of a URL, without its query and fragment, which may be secret."""
    try:
        return urlsplit(url).path.rstrip("/") if "://" in url else ""
    except ValueError:
        return ""  # then `host_of` gives the whole of it


# Hooks.

#: Events whose hooks can stop what an agent does, in the words of all clients, folded.
_GUARDING = expression(
    r"pre|before|permission_?request|user_?prompt|prompt_?submit|subagent_?start|config_?change"
    r"|elicitation|task_?c|worktree_?create",
    re.IGNORECASE,
)
#: What a hook says that grants of its own show, or that only people read. All else decides what
#: it does: arguments, a time limit, an input, whether it runs once.
_TOLD = frozenset(
    {"type", "matcher", "match", "if", "async", "asyncRewake", "onFailure", "allowedEnvVars"}
    | {"continueOnBlock", "statusMessage", "description", "comment"}
)


def _hooks(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
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
        matcher = found if isinstance(found, str) else _compact(found) if found else matcher
        ran = list(_ran(each))
        rest = {key: inner for key, inner in each.items() if key not in _TOLD} if ran else {}
        hidden = Hidden(_compact(rest))
        for text in ran:
            yield Grant("program", text, "allows", path=here, hidden=hidden)
            # What runs beside the agent, or after it, stops nothing.
            is_beside = each.get("async") is True or each.get("asyncRewake") is True
            if _GUARDING.match(event) and not is_beside:
                limits = "".join(f" {part}" for part in (matcher, *_texts(each.get("if"))) if part)
                yield Grant("guard", f"{event}{limits}: {text}", "denies", path=here)
        for row in _FAILING:
            if row.at[0] in each:
                yield _mode(row, each[row.at[0]], (*here, *row.at))
        for name in _texts(each.get("allowedEnvVars")):
            yield Grant("variable", name, "allows", path=(*here, "allowedEnvVars"))
        if not ran:
            for key, inner in each.items():
                if isinstance(inner, dict | list):
                    waiting.append((inner, (*here, key), event or str(key), matcher))


def _ran(hook: dict[str, Any]) -> Iterator[str]:
    for key in ("command", "bash", "powershell", "run", "url", "prompt", "commandWindows"):
        value = hook.get(key)
        args = hook.get("args") if key == "command" else None
        words = [value, *_texts(args or [])] if isinstance(value, str) and args else value
        if isinstance(words, str):
            yield masked(words)
        elif isinstance(words, list) and all(isinstance(word, str) for word in words):
            yield masked_words(words)
    if isinstance(hook.get("server"), str) and isinstance(hook.get("tool"), str):
        yield f"{hook['server']}/{hook['tool']}"
    handler = hook.get("name")
    if hook.get("type") == "builtin" and isinstance(handler, str):
        yield handler


def _commands(_row: Row, value: Any, path: Path) -> Iterator[Grant]:
    if isinstance(value, str) or (
        isinstance(value, list) and value and all(isinstance(each, str) for each in value)
    ):
        yield _program(value, path)


def _program(command: str | list[str], path: Path) -> Grant:
    """A command without what looks like a secret in it."""
    shown = masked(command) if isinstance(command, str) else masked_words(command)
    written = command if isinstance(command, str) else " ".join(command)
    return Grant("program", shown, "allows", path=path, hidden=_hidden(shown, written))


def _hidden(shown: str, written: str) -> Hidden | None:
    """The written text, if the shown one leaves out a part of it; else None."""
    return None if shown == written else Hidden(written)


#: What a hook says about calls that it should stop, and does not.
_FAILING = (mode("onFailure", "block", "continue", default="continue"), widens("continueOnBlock"))
#: The rows of what a server says about itself.
_HELPER, _SANDBOX, _SCOPED = runs("headersHelper"), opaque("sandbox"), opaque("oauth")
_APPROVAL = mode(
    "default_tools_approval_mode", "prompt", "writes", "auto", "approve", default="auto"
)


# Secrets stay out: a grant is shown, and written to locks.

_ASKS_FOR_SECRET = expression(
    r"(?:\A|[_-])(?:api[_-]?key|key|token|secret|password|passwd|credentials?|authorization)\Z",
    re.IGNORECASE,
)
_OPTION = expression(r"(--?[\w-]+)(?:=(.*))?", re.DOTALL)


def is_secret(name: str, text: str) -> bool:
    """Whether a value under a name is a secret, and no variable."""
    return _ASKS_FOR_SECRET.search(name) is not None and "$" not in text and bool(text)


def masked_words(words: list[str]) -> str:
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
            shown.append(_masked(word))
        # `--token x`: the next word is the secret. `--token=x` has been hidden already.
        hide = named and option is not None and option[2] is None
    return " ".join(shown)


def _texts(value: Any) -> list[str]:
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)
    ]


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else 0


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str, separators=(",", ":"))
