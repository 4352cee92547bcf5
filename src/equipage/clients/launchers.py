"""Programs that fetch what they run: `npx`, `uvx`, `docker run` and their relatives.

What such a launcher runs is pinned if the command names one version of it for good: an exact
version, a commit, the digest of an image. Anything else runs what is published at that moment.

The checks of MCP servers are here, too, whichever tool reads the servers: unpinned launchers, plain
HTTP, secrets, variables in a form that the tool does not replace, names that collide.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import Convention, OwnRules
from equipage.core.codes import SECRET_IN_FILE
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path, get, walk
from equipage.core.text import lazy_regex
from equipage.files.walking import is_ignored
from equipage.loading.session import Session, is_template_or_fixture
from equipage.syntax.suspicious import SECRET_NAME, find_secrets, looks_like_password, looks_secret

#: Launchers of packages, by how an exact version is written.
NPM_LAUNCHERS = frozenset({"npx", "bunx", "pnpx"})
PYTHON_LAUNCHERS = frozenset({"uvx", "pipx"})
_CONTAINER_LAUNCHERS = frozenset({"docker", "podman", "nerdctl"})
_EXACT_VERSION = lazy_regex(r"v?\d+\.\d+(?:\.\d+)?[\w.+-]*\Z")
#: Options of launchers that take the next word.
_OPTIONS_WITH_VALUE = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "-c", "--call", "--registry", "--index-url"}
)
#: Options that take none. After any other the next word may be its value, perhaps a secret.
_FLAGS = frozenset({
    "-y", "--yes", "-q", "--quiet", "-s", "--silent", "-v", "--verbose", "--no", "--no-install",
    "--ignore-existing", "--prefer-offline", "--prefer-online", "--offline", "--bun", "--refresh",
    "--no-cache", "-n", "--isolated", "--native-tls", "--no-config", "--no-progress", "--",
})  # fmt: skip
_PACKAGE_OPTIONS = frozenset({"-p", "--package", "--from", "--spec"})
# fmt: off
#: Options of `docker run` that take the next word.
_DOCKER_OPTIONS_WITH_VALUE = frozenset({
    "-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "-p", "--publish", "-w",
    "--workdir", "-u", "--user", "--network", "--net", "--entrypoint", "-h", "--hostname", "-l",
    "--label", "-m", "--memory", "--cpus", "--platform", "--pull", "--add-host", "--device",
    "--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "--ulimit", "--shm-size", "--gpus",
    "--dns", "--expose", "--link", "--restart", "--runtime", "--volumes-from",
})
#: Two words that are one launcher → the launcher whose rules they follow.
_TWO_WORD_LAUNCHERS = {
    ("pnpm", "dlx"): "npx", ("yarn", "dlx"): "npx", ("bun", "x"): "npx", ("npm", "exec"): "npx",
    ("pipx", "run"): "uvx",
}
# fmt: on


def command_words(server: Mapping[str, Any]) -> list[str]:
    """The program that a server starts and its arguments; empty for one that runs elsewhere."""
    command = next((server[key] for key in ("command", "cmd") if server.get(key)), None)
    if isinstance(command, dict):  # Zed has the program in a table of its own
        return command_words({"command": command.get("path"), "args": command.get("args")})
    args = server.get("args")
    words: list[Any] = list(command) if isinstance(command, list) else [command]
    words += args if isinstance(args, list) else [args] if args else []
    return words if all(isinstance(word, str) for word in words) else []


#: A command without quotes: blanks alone divide it.
_UNQUOTED = re.compile(r"[\t\n !#-&(-\[\]-~]*")


def split_command(text: str) -> list[str]:
    """The words of a command in one text, as a shell divides it."""
    if _UNQUOTED.fullmatch(text):
        return text.split()  # many times faster
    import shlex  # few commands have quotes

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


#: Programs that run the script which their first word names.
_INTERPRETERS = frozenset({
    "bash", "bun", "deno", "node", "perl", "python", "python3", "ruby", "sh", "tsx", "uv", "zsh",
})  # fmt: skip
#: A relative path without variables and wildcards; a script, by its ending.
_PLAIN_PATH = lazy_regex(r"[\w.@+-]+(?:/[\w.@+-]+)*")
_SCRIPT = lazy_regex(r".*\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|mts|rb|pl)")


def script_of(words: list[str]) -> str | None:
    """The file that a command line runs, by its relative path; None if its first words name none.

    What follows an option is not looked at: it may be a module, or a text to run.
    """
    program, rest = words[0] if words else "", [*words[1:3], "", ""]
    if program in _INTERPRETERS:
        script = rest[1] if rest[0] == "run" else rest[0]
        return script if _SCRIPT.fullmatch(script) and _PLAIN_PATH.fullmatch(script) else None
    return program if "/" in program and _PLAIN_PATH.fullmatch(program) else None


def problem_of_file(file: str, folder: str, session: Session, *, runs: bool) -> str | None:
    """Whether a file that a command names is `missing`, or is to run and `cannot`.

    Nothing outside the project is looked at; what git ignores may be built before it runs, and what
    a template lacks is where it arrives.
    """
    path, system = os.path.normpath(f"{folder}/{file}"), session.files.system
    if not session.files.is_within(path, session.root) or is_template_or_fixture(session):
        return None
    if not session.files.exists(path):
        missing = path
        while not session.files.exists(os.path.dirname(missing)):
            missing = os.path.dirname(missing)
        is_built = is_ignored(missing, system, is_folder=missing != path)
        return None if is_built else "missing"
    status = system.status(path) if runs and system.is_file(path) else None
    # A text without a time is in no folder, and has no mark of a program.
    has_mark = status is None or not status.st_mtime or system.is_executable(path)
    return None if has_mark else "cannot"


class Launch(msgspec.Struct, frozen=True):
    """What a command fetches and runs."""

    launcher: str  #: the program, or the launcher whose rules it follows
    package: str
    pin: str | None = None  #: the exact version, commit or digest; None if it is not pinned


def launch_of(words: list[str]) -> Launch | None:
    """What a command line fetches and runs; None if it fetches nothing."""
    if not words:
        return None
    program = re.split(r"[\\/]", words[0])[-1].removesuffix(".cmd").removesuffix(".exe")
    rest = words[1:]
    if program == "cmd" and rest[:1] in (["/c"], ["/C"]):
        program, rest = rest[1] if len(rest) > 1 else "", rest[2:]
    if rest and (program, rest[0]) in _TWO_WORD_LAUNCHERS:
        program, rest = _TWO_WORD_LAUNCHERS[program, rest[0]], rest[1:]
    if (program, *rest[:2]) == ("uv", "tool", "run"):
        program, rest = "uvx", rest[2:]
    if program in NPM_LAUNCHERS | PYTHON_LAUNCHERS:
        package = _find_package(rest)
        if package is None or not re.match(r"[@\w]|-.* …\Z", package):
            return None
        return Launch(program, package, _exact_version(package, program))
    if program in _CONTAINER_LAUNCHERS and "run" in rest:
        image = _find_image(rest[rest.index("run") + 1 :])
        digest = re.search(r"@(sha256:[0-9a-f]{64})\Z", image or "")
        return Launch(program, image, digest and digest[1]) if image else None
    if program in ("deno", "go", "dnx"):
        return _runtime_launch(program, rest)
    return None


def _find_package(words: list[str]) -> str | None:
    """The package that a launcher runs: what an option names, else the first word."""
    first = None
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        name, _, value = word.partition("=")
        if name in _PACKAGE_OPTIONS and value:
            return value
        if before in _PACKAGE_OPTIONS:
            return word
        if not word.startswith("-") and before not in _OPTIONS_WITH_VALUE and first is None:
            if before.startswith("-") and "=" not in before and before not in _FLAGS:
                return f"{before} …"  # which word is the package cannot be known: it is not pinned
            first = word
            if not any(each.partition("=")[0] in _PACKAGE_OPTIONS for each in words[:number]):
                break
    return first


def _exact_version(package: str, program: str) -> str | None:
    """The version that a package names: `a@1.2.3`, `a==1.2.3`, a commit; None without one."""
    if package.startswith(("git+", "github:", "http")):
        commit = re.search(r"[@#]([0-9a-f]{40})\Z", package)
        return commit[1] if commit else None
    if package.startswith((".", "/", "~", "$", "{", "file:")):
        return package  # a file of the project, or not known here
    if program in NPM_LAUNCHERS:
        version = package[1:].partition("@")[2]
    else:
        parts = re.split(r"==|@", package, maxsplit=1)
        version = parts[1] if len(parts) == 2 else ""
    return version if _EXACT_VERSION.match(version) else None


def _find_image(words: list[str]) -> str | None:
    """The image that a container starts from: the first word that belongs to no option."""
    takes_next = False
    for word in words:
        if takes_next:
            takes_next = False
        elif word.startswith("-"):
            takes_next = word in _DOCKER_OPTIONS_WITH_VALUE
        else:
            return word
    return None


def _runtime_launch(program: str, words: list[str]) -> Launch | None:
    """Packages that `deno`, `go` and `dnx` fetch."""
    named = [word for word in words if not word.startswith("-") and word != "run"]
    package = named[0] if named else ""
    fetched = {
        "deno": package.startswith(("npm:", "jsr:", "http:", "https:")),
        "go": "/" in package and "." in package.partition("/")[0] and not package.startswith("."),
        "dnx": bool(package),
    }
    if not fetched[program]:
        return None
    version = package.rpartition("@")[2] if "@" in package.lstrip("@") else ""
    return Launch(program, package, version if _EXACT_VERSION.match(version) else None)


def launches_in(plain: Any) -> Iterator[tuple[Path, Launch]]:
    """Every launcher in a configuration, with the path of the command."""
    for path, words in commands_among(walk(plain)):
        launch = launch_of(words)
        if launch is not None:
            yield path, launch


def commands_among(nodes: Iterable[tuple[Path, Any]]) -> Iterator[tuple[Path, list[str]]]:
    """Every command line among the nodes of a configuration, divided into words, with its path."""
    for path, value in nodes:
        if isinstance(value, dict):
            words = command_words(value) if "command" in value or "cmd" in value else []
            if words:
                key = "command" if "command" in value else "cmd"
                alone = len(words) == 1 and " " in words[0]
                yield (*path, key), split_command(words[0]) if alone else words
        elif isinstance(value, str) and path and path[-1] in ("bash", "powershell", "run"):
            yield path, split_command(value)


def check_server_safety(
    tool: str, path: Path, server: dict[str, Any], renamed: dict[str, str]
) -> Iterator[Fact]:
    """The findings about one server; `renamed` are the names that the tool has for our keys."""
    words = command_words(server)
    line = words[0].split() if isinstance(server.get("command"), str) and words else []
    if len(line) > 1 and line[0] in _BARE_PROGRAMS:
        written = Shown(words[0])
        yield codes.SERVER_COMMAND_LINE.at((*path, "command"), command=written, program=line[0])
        words = line + words[1:]
    if words:
        yield from _check_pinned(words, (*path, "command"))
    for key, url in server.items():
        if renamed.get(key, key) == "url" and isinstance(url, str) and _PLAIN_HTTP.match(url):
            yield codes.SERVER_NOT_ENCRYPTED.at((*path, key), url=Shown(url))
    for place, text, name in _server_texts(server, path, renamed):
        yield from _check_variable_form(
            tool, place, text, is_shell=bool(words) and words[0] in _SHELLS
        )
        if next(find_secrets(text), None) is not None:
            continue  # its shape alone gives it away: that is reported for the whole file
        if name is not None and _is_secret(name, text):
            yield SECRET_IN_FILE.at(place, what=f"the secret of `{name}`")
        elif (login := _LOGIN.search(text)) is not None and looks_like_password(login[1]):
            yield SECRET_IN_FILE.at(place, what="a password in an address")


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


#: What a command begins with that was meant to be divided at its blanks.
_BARE_PROGRAMS = (
    NPM_LAUNCHERS | PYTHON_LAUNCHERS | _CONTAINER_LAUNCHERS | _INTERPRETERS
    | {"npm", "pnpm", "yarn", "go", "cargo", "dotnet", "java", "php"}
)  # fmt: skip


def missing_scripts(
    servers: Mapping[Any, Any], path: Path, session: Session, *, in_plugin: bool = False
) -> Iterator[Fact]:
    """The scripts of servers that are not there. A plugin names its own by a variable."""
    folder = os.path.dirname(session.path) if in_plugin else _started_in(session)
    prefix = "${CLAUDE_PLUGIN_ROOT}/" if in_plugin else "${workspaceFolder}/"
    for name, server in servers.items():
        words = command_words(server) if isinstance(server, dict) and "cwd" not in server else []
        script = script_of([each.removeprefix(prefix).removeprefix("./") for each in words])
        is_named = not in_plugin or f"{prefix}{script}" in words
        if script and is_named and problem_of_file(script, folder, session, runs=False):
            yield codes.SERVER_FILE_MISSING.at((*path, name, "command"), file=Shown(script))


def _started_in(session: Session) -> str:
    """Where a client starts what a file of a project names: the folder around its hidden one."""
    root = session.root.replace(os.sep, "/")
    inside = os.path.dirname(session.path).replace(os.sep, "/").removeprefix(root)
    return root + (inside.rpartition("/.")[0] if "/." in inside else inside)


def hook_scripts_exist(_convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """The scripts of hooks are there, where the project is or beside the file."""
    value = session.documents[0].value if session.documents else None
    folders = {_started_in(session), os.path.dirname(session.path)}
    for path, words in commands_among(walk(value)):
        script = None if "cwd" in get(value, path[:-1], {}) else script_of(words)
        if script and all(problem_of_file(script, each, session, runs=False) for each in folders):
            yield codes.HOOK_FILE_MISSING.at(path, file=Shown(script))


#: The kinds of files with nothing but hooks, Claude Code's own aside.
RULES = {
    kind: OwnRules((hook_scripts_exist,), (codes.HOOK_FILE_MISSING,))
    for kind in ("codex-hooks", "copilot-hooks", "cursor-hooks", "windsurf-hooks")
}


def _check_pinned(words: list[str], place: Path) -> Iterator[Fact]:
    launch = launch_of(words)
    if launch is None or launch.package.startswith("-"):  # the package is not known
        return
    # A tag of an image can be moved, but most are not: that is for a policy to refuse.
    is_image = launch.launcher in _CONTAINER_LAUNCHERS
    is_tagged = is_image and re.search(r":(?!latest\Z)[^/]+\Z|[$<{]", launch.package)
    is_known = is_image or launch.launcher in NPM_LAUNCHERS | PYTHON_LAUNCHERS
    if launch.pin is None and is_known and not is_tagged:
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

_LOGIN = lazy_regex(r"://[^\s/:@]+:([^\s/@]+)@(?!127\.)[\w-]+\.\w")


def _is_secret(name: str, text: str) -> bool:
    """Whether the value of a name such as `API_KEY` looks like a secret; a password is any text."""
    found = SECRET_NAME.search(name)
    if found is not None and found["password"]:
        return looks_like_password(text)
    return found is not None and looks_secret(text.removeprefix("Bearer ").removeprefix("Basic "))
