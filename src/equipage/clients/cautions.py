"""Findings about servers that work but deserve care: what they start, send and give away.

- A launcher without an exact version runs whatever is published at that moment.
- An address with `http:` can be read and changed on the way.
- A variable in the form of another tool is not replaced, but sent as it is written.
- A secret belongs in a variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes_mcp as codes
from equipage.clients.launchers import NPM_LAUNCHERS, PYTHON_LAUNCHERS, launch_of
from equipage.core.codes_kinds import SECRET_IN_FILE
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.syntax.suspicious import find_secrets, looks_secret


def check_server_safety(
    tool: str, path: Path, server: dict[str, Any], renamed: dict[str, str]
) -> Iterator[Fact]:
    """The findings about one server; `renamed` are the names that the tool has for our keys."""
    words = _command_line(server)
    if words:
        yield from _check_pinned(words, (*path, "command"))
    for key, url in server.items():
        if renamed.get(key, key) == "url" and isinstance(url, str) and _PLAIN_HTTP.match(url):
            yield codes.SERVER_NOT_ENCRYPTED.at((*path, key), url=Shown(url))
    for place, text, name in _server_texts(server, path, renamed):
        yield from _check_variable_form(
            tool, place, text, is_shell=bool(words) and words[0] in _SHELLS
        )
        if name is not None and _is_secret(name, text):
            yield SECRET_IN_FILE.at(place, what=f"the secret of `{name}`")


def _command_line(server: dict[str, Any]) -> list[str]:
    """The program and its arguments."""
    command, args = server.get("command"), server.get("args")
    words: list[Any] = command if isinstance(command, list) else [command]
    words = [*words, *(args if isinstance(args, list) else ())]
    return words if all(isinstance(word, str) for word in words) else []


def _server_texts(
    server: dict[str, Any], path: Path, renamed: dict[str, str]
) -> Iterator[tuple[Path, str, str | None]]:
    """Every text of a server with its path, and the name that it is given, if there is one."""
    for key, value in server.items():
        if renamed.get(key, key) not in ("command", "args", "url", "env", "headers"):
            continue
        if isinstance(value, str):
            yield (*path, key), value, None
        elif isinstance(value, list):
            for at, each in enumerate(value):
                if isinstance(each, str):
                    yield (*path, key, at), each, None
        elif isinstance(value, dict):
            for name, each in value.items():
                if isinstance(each, str):
                    yield (*path, key, name), each, str(name)


def check_name_collisions(servers: dict[str, Any], path: Path) -> Iterator[Fact]:
    """Report servers whose names become the same in the names of their tools."""
    seen: dict[str, str] = {}
    for name in servers:
        first = seen.setdefault(re.sub(r"[^A-Za-z0-9_-]", "_", name), name)
        if first != name:
            yield codes.SERVER_NAMES_COLLIDE.at(
                (*path, name), part="key", name=Shown(name), other=Shown(first)
            )


def undefined_inputs(
    servers: dict[str, Any], path: Path, inputs: object, renamed: dict[str, str]
) -> Iterator[Fact]:
    """Values that VS Code should ask for, and no entry of `inputs` describes."""
    entries = inputs if isinstance(inputs, list) else []
    known = {each.get("id") for each in entries if isinstance(each, dict)}
    tables = ((name, each) for name, each in servers.items() if isinstance(each, dict))
    for name, server in tables:
        for place, text, _ in _server_texts(server, (*path, name), renamed):
            for match in _INPUT.finditer(text):
                if match[1] not in known:
                    yield codes.INPUT_UNDEFINED.at(place, name=Shown(match[1]))


_INPUT = lazy_regex(r"\$\{input:([^}]*)\}")


# Launchers.

_SHELLS = frozenset({"sh", "bash", "zsh", "cmd", "cmd.exe", "powershell", "pwsh", "/bin/sh"})


def _check_pinned(words: list[str], place: Path) -> Iterator[Fact]:
    launch = launch_of(words)
    # A tag of an image can be moved, but most are not: that is for a policy to refuse.
    if launch is None or launch.package.startswith("-"):  # the package is not known
        return
    if launch.pin is None and launch.launcher in NPM_LAUNCHERS | PYTHON_LAUNCHERS:
        package, launcher = Shown(launch.package), launch.launcher
        yield codes.SERVER_NOT_PINNED.at(place, package=package, launcher=launcher)


# Addresses.

#: An unencrypted address, unless it is this machine or in a private network.
_PLAIN_HTTP = lazy_regex(
    r"http://(?!localhost\b|127\.|\[::1\]|0\.0\.0\.0|host\.docker\.internal|10\.|192\.168\.)"
    r"(?!172\.(?:1[6-9]|2\d|3[01])\.)(?![^/:]*\.(?:local|internal|localhost|test)(?:[:/]|\Z))"
    r"(?![\w-]+(?:[:/]|\Z))(?![^/]*[$<{])",
    re.IGNORECASE,
)


# Variables.

_VARIABLE_FORMS = {
    "plain": lazy_regex(r"\$\{[A-Za-z_]\w*(?::?-[^}]*)?\}"),
    "bare": lazy_regex(r"(?:\A|Bearer )\$[A-Z_][A-Z0-9_]{2,}\Z"),
    "env": lazy_regex(r"\$\{env:[A-Za-z_]\w*\}"),
    "braces": lazy_regex(r"(?<!\$)\{env:[A-Za-z_]\w*\}"),
    "input": lazy_regex(r"\$\{input:[^}]*\}"),
    "editor": lazy_regex(
        r"\$\{(?:workspaceFolder|workspaceRoot|userHome|workspaceFolderBasename)\}"
    ),
}
#: The forms that a tool replaces, and how it writes a variable.
_EXPANDED_FORMS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "Claude Code": (("plain",), "${NAME}"),
    "Claude Desktop": ((), None),
    "Codex": ((), None),
    "Gemini CLI": (("plain", "bare"), "${NAME}"),
    "Qwen Code": (("plain", "bare"), "${NAME}"),
    "GitHub Copilot": (("plain", "bare", "input"), "${NAME}"),
    "OpenCode": (("braces",), "{env:NAME}"),
    "VS Code": (("env", "input", "editor"), "${env:NAME}"),
    "Cursor": (("env", "editor"), "${env:NAME}"),
    "Windsurf": (("env",), "${env:NAME}"),
    "Roo Code": (("env", "editor"), "${env:NAME}"),
}


def _check_variable_form(tool: str, place: Path, text: str, *, is_shell: bool) -> Iterator[Fact]:
    """Report a variable in a form that the tool does not replace."""
    if tool not in _EXPANDED_FORMS or ("$" not in text and "{" not in text) or is_shell:
        return
    forms, better = _EXPANDED_FORMS[tool]
    for form, pattern in _VARIABLE_FORMS.items():
        match = pattern.search(text)
        if match is None or form in forms:
            continue
        if form == "plain" and "editor" in forms and _VARIABLE_FORMS["editor"].search(text):
            continue
        if form == "editor" and "plain" not in forms:
            continue  # reported as any variable is
        yield codes.VARIABLE_NOT_EXPANDED.at(
            place, tool=tool, written=Shown(match.group().strip()), better=better
        )
        return


# Secrets.

_SECRET_NAME = lazy_regex(
    r"(?:\A|[_-])(?:api[_-]?key|key|token|secret|password|passwd|credentials?)\Z|\Aauthorization\Z"
    r"|\Acookie\Z|x-api-key",
    re.IGNORECASE,
)


def _is_secret(name: str, text: str) -> bool:
    """Whether the value of a name such as `API_KEY` looks like a secret.

    False for one that its shape alone gives away: that is reported for the whole file.
    """
    if _SECRET_NAME.search(name) is None or next(find_secrets(text), None) is not None:
        return False
    return looks_secret(text.removeprefix("Bearer ").removeprefix("Basic "))
