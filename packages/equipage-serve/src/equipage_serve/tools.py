"""Tools: packs that are ready to be called. Everything that can be decided before a call is here.

A pack becomes a tool if its kind is allowed, its code is found inside its folder, its templates and
schemas can be used, and what it is denied can be enforced. All reasons why not are reported at
once.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from equipage.files import Entry, entries_of, is_below, parents_of
from equipage.files.disk import Disk
from equipage.files.reading import Files
from equipage.files.sandbox import real_path
from equipage.formats.toolpack.model import Toolpack
from equipage.record.commands import folders_up, is_private
from equipage.record.dependencies import SYSTEM_PATH, Code, CodeCache, CodeProblem, code_of
from equipage.schemas import SchemaProblem
from equipage_serve import templates
from equipage_serve.confinement import (
    Confinement,
    Level,
    Unservable,
    bubblewrap_command,
    confine,
    limits_of,
    system_paths,
)
from equipage_serve.platform import PACKAGE_FOLDER, Platform
from equipage_serve.templates import Template, TemplateProblem
from equipage_serve.validation import Validator

KINDS = ("python", "node", "php", "cli", "http")
Start = Literal["pack", "project"]
STARTS: tuple[Start, ...] = ("pack", "project")


class Settings(msgspec.Struct, frozen=True):
    """What the caller decides about all tools. Numbers are bounds: a pack may ask for less."""

    allow: frozenset[str] = frozenset()  #: the execution kinds that may run
    isolation: Level = "strict"
    #: where paths in `caps.filesystem` start, and where tools work: the folder of their pack, or
    #: the root of the project
    paths: Start = "pack"
    max_input_bytes: int = 1 << 20
    max_output_bytes: int = 2 << 20
    timeout_ms: int = 15_000
    concurrency: int = 2 * (os.cpu_count() or 1)  #: calls that run at once
    queue: int = 64  #: calls that may wait; one more is refused
    #: whether a process of a deterministic Python callable serves several calls, one after another
    reuse: bool = False
    warm: int = 4  #: processes that are kept ready for each tool that is in use
    private_addresses: bool = False  #: whether `http` tools may reach this machine and its network
    cache_bytes: int = 64 << 20
    cache_seconds: float = 600.0


class Request(msgspec.Struct, frozen=True):
    """What an `http` tool sends."""

    scheme: str
    method: str
    address: Template
    headers: tuple[tuple[str, Template], ...]


class Tool(msgspec.Struct, frozen=True):
    """One pack, ready to be called."""

    pack: Toolpack
    kind: str
    folder: str  #: that of the pack
    base: str  #: where it works, and where paths start
    code: Code
    confinement: Confinement
    accepts: Validator
    gives: Validator
    max_input_bytes: int
    max_output_bytes: int
    timeout_ms: int
    arguments: tuple[Template, ...] = ()
    request: Request | None = None
    cache_key: Template | None = None
    reused: bool = False  #: whether one process serves several calls
    key: str = ""  #: names what runs: equal for equal packs with equal code


def prepare(
    pack: Toolpack, settings: Settings, platform: Platform, roots: Sequence[str] = ()
) -> Tool:
    """A pack as a tool. Raises `Unservable` with every reason why it cannot be one.

    Modules are looked for in the folder of the pack, then in `roots`.
    """
    execution, kind = pack.execution, pack.execution["kind"]
    folder = os.path.realpath(os.path.dirname(os.path.abspath(pack.source_path)))
    reasons: list[str] = []
    # Refused first and alone: other reasons do not matter for a kind that may not run.
    if kind not in settings.allow:
        raise Unservable(f"the kind `{kind}` is not allowed; allow it with `--allow {kind}`")
    attempt = _Attempts(reasons)
    base = attempt(lambda: _base_folder(folder, roots, settings), Unservable) or folder
    caps = attempt(lambda: _caps_with_targets(pack.caps, base), Unservable) or pack.caps
    confinement = attempt(
        lambda: confine(kind, caps, base, platform, settings.isolation), Unservable
    )
    known = CodeCache(Files(Disk()))
    code = attempt(lambda: code_of(pack, folder, roots, known), CodeProblem)
    accepts = attempt(lambda: Validator(pack.input_schema), SchemaProblem)
    gives = attempt(lambda: Validator(pack.output_schema), SchemaProblem)
    written = execution.get("args") or execution.get("cmd", ())[1:]
    arguments = [
        attempt(partial(templates.compile_argument, each), TemplateProblem) for each in written
    ]
    if kind == "cli":
        attempt(lambda: _require_literal(execution["cmd"][0]), TemplateProblem)
    request = attempt(lambda: _request(pack), TemplateProblem) if kind == "http" else None
    key_text = pack.templating.get("cacheKey")
    cache_key = (
        attempt(lambda: templates.compile_template(key_text), TemplateProblem) if key_text else None
    )
    if reasons:
        raise Unservable(*reasons)
    # A pack may ask for less than the caller allows, never for more.
    own = execution.get("timeoutMs") or pack.timeout_ms
    timeout = min(settings.timeout_ms, pack.timeout_ms, own)
    return Tool(
        pack,
        kind,
        folder,
        base,
        code,
        confinement,
        accepts,
        gives,
        min(settings.max_input_bytes, pack.limits["maxInputBytes"]),
        min(settings.max_output_bytes, pack.limits["maxOutputBytes"]),
        timeout,
        tuple(arguments),
        request,
        cache_key,
        reused=_is_reused(pack, settings, confinement),
        key=f"{pack.digest}-{code.digest}",
    )


def _base_folder(folder: str, roots: Sequence[str], settings: Settings) -> str:
    """Where paths of a pack start. Raises `Unservable`."""
    if settings.paths == "pack":
        return folder
    found = next((root for each in roots if is_below(folder, root := os.path.realpath(each))), None)
    if found is None:
        raise Unservable("its paths start at the root of the project, and no root was given")
    return found


def _caps_with_targets(caps: Mapping[str, Any], base: str) -> dict[str, Any]:
    """Caps whose paths are those of the files themselves. Raises `Unservable`."""
    files: dict[str, list[str]] = {}
    declared = caps.get("filesystem") or {}
    changed = [os.path.normpath(os.path.join(base, each)) for each in declared.get("write") or ()]
    for mode, paths in declared.items():
        for path in paths:
            written = os.path.normpath(os.path.join(base, path))
            target = real_path(written)
            # A lock covers the pack, and not where a link leads; a tool could have put it there.
            is_own = any(is_below(written, each) and written != each for each in changed)
            if target != written and (is_own or not os.path.isabs(path)):
                raise Unservable(f"`{path}` in `caps` is a link to {target}: write that path")
            files.setdefault(mode, []).append(target)
    return {**caps, "filesystem": files}


def _is_reused(pack: Toolpack, settings: Settings, confinement: Confinement) -> bool:
    """Whether calls may share a process: the pack must say that they do not affect each other."""
    # A script is run once by its nature, and one call could leave files to the next without
    # Landlock, and processes where it may start some.
    is_callable = bool(pack.execution.get("module")) and pack.execution["kind"] == "python"
    holds = confinement.landlock and not confinement.forks
    return settings.reuse and settings.warm > 0 and pack.deterministic and is_callable and holds


class _Attempts:
    """Collects the reasons of what fails, so that all of them are reported."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = reasons

    def __call__(self, make: Callable[[], Any], expected: type[Exception]) -> Any:
        try:
            return make()
        except Unservable as error:
            self.reasons += error.reasons
        except expected as error:
            self.reasons.append(str(error))


def _require_literal(command: str) -> str:
    # A program whose name depends on the input could be any program.
    if "{{" in command or "{%" in command:
        raise TemplateProblem("the program of a `cli` tool must not be a template")
    return command


def _request(pack: Toolpack) -> Request:
    execution = pack.execution
    scheme, _, fill = templates.compile_address(execution["url"])
    if scheme not in (pack.caps.get("network") or ()):
        raise TemplateProblem(
            f"the address needs `{scheme}`, which `caps: {{network: […]}}` does not list"
        )
    method = execution.get("method") or "POST"
    if not method.isascii() or not method.isalpha():
        raise TemplateProblem(f"`{method}` is not a method of HTTP")
    headers = tuple(
        (name, templates.compile_header(name, value))
        for name, value in (execution.get("headers") or {}).items()
    )
    return Request(scheme, method.upper(), fill, headers)


# What a process is started with.


def environment(tool: Tool, parent: Mapping[str, str], home: str) -> dict[str, str]:
    """The variables that a process of the tool sees, and no others."""
    env = tool.pack.env
    passed = {name: parent[name] for name in env.get("passthrough") or () if name in parent}
    return {
        # Fixed ones first: a pack can replace them by what it sets itself, not the caller's
        # process.
        "PATH": SYSTEM_PATH,
        "LANG": "C.UTF-8",
        "LC_CTYPE": "C.UTF-8",
        "HOME": home,
        "TMPDIR": home,
        **passed,
        **(env.get("set") or {}),
    }


def names_for_templates(tool: Tool, arguments: Any, parent: Mapping[str, str]) -> dict[str, Any]:
    """What the templates of a tool see."""
    pack = tool.pack
    passed = {name: parent[name] for name in pack.env.get("passthrough") or () if name in parent}
    return {
        "input": arguments,
        "env": {**passed, **(pack.env.get("set") or {})},
        "id": pack.id,
        "version": pack.version,
        "context": pack.templating.get("context") or {},
    }


def hidden_texts(tool: Tool, names: Mapping[str, Any]) -> list[str]:
    """What no message may contain: the values of variables, and those of the input.

    A name in the input is a value, too, unless the schema has it.
    """
    found, schema = [*names["env"].values()], json.dumps(tool.accepts.schema)
    waiting: list[Any] = [names["input"]]
    for each in waiting:
        if isinstance(each, dict):
            waiting += [*each.values(), *(key for key in each if json.dumps(key) not in schema)]
        elif isinstance(each, list):
            waiting += each
        else:
            found.append(each if isinstance(each, str) else json.dumps(each))
    return found


def command_of(tool: Tool, names: Mapping[str, Any], home: str) -> list[str]:
    """The program of a tool and its arguments, filled; empty for Python in a fork."""
    code = tool.code
    command: list[str] = []
    if code.program is not None:
        command.append(code.program.path)
    if tool.kind == "node":
        # V8 reserves far more address space than it uses, so a limit on that would end every start.
        command.append("--max-old-space-size=512")
    if tool.kind == "python":
        command += _python_command(tool) if tool.confinement.bwrap else []
    elif tool.kind == "node" and code.entry.endswith("/package.json"):
        command += ["--input-type=module", "-e", _NODE_IMPORT, tool.pack.execution["module"]]
    elif code.entry:
        command.append(code.entry)
    command += [fill(names) for fill in tool.arguments]
    if tool.confinement.bwrap and command:
        # It follows links, which a tool may have put there since its last call.
        read, write = (
            tuple(each for each in paths if real_path(each) == each)
            for paths in (tool.confinement.read, tool.confinement.write)
        )
        confinement = msgspec.structs.replace(tool.confinement, read=read, write=write)
        return [*bubblewrap_command(confinement, readable_paths(tool), tool.base, home), *command]
    return command


#: Runs a package of Node.js by its name.
_NODE_IMPORT = "await import(process.argv[1])"
#: Runs a tool of the kind `python` where a fork cannot be confined.
_BUBBLEWRAP_SCRIPT = """
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from equipage_serve import worker
del sys.path[0]
run = json.loads(sys.argv[2])
worker.search_in(run["folders"], run["hashes"])
if "callable" in run:
    worker.run_callable(*run["callable"])
worker.run_script(base64.b64decode(run["source"]), run["path"])
"""


def _python_command(tool: Tool) -> list[str]:
    run = {**_python_run(tool), "folders": _module_folders(tool)}
    text = msgspec.json.encode(run).decode()
    return [sys.executable, "-I", "-X", "utf8", "-c", _BUBBLEWRAP_SCRIPT, PACKAGE_FOLDER, text]


def _python_run(tool: Tool) -> dict[str, Any]:
    hashes = {each.path: each.sha256 for each in tool.code.files}
    module = tool.pack.execution.get("module")
    if module:
        return {"callable": [*module.split(":", 1), tool.reused], "hashes": hashes}
    source = base64.b64encode(tool.code.source).decode()
    return {"source": source, "path": tool.code.entry, "hashes": hashes}


def _module_folders(tool: Tool) -> list[str]:
    """Where a Python tool finds its modules: the folders that its covered files are in."""
    entry, module = tool.code.entry, (tool.pack.execution.get("module") or "").partition(":")[0]
    if not module:
        return [os.path.dirname(entry)]
    # `a.b` in `x/a/b.py` is found from `x`; a package has one folder more.
    depth = len(module.split(".")) + entry.endswith("__init__.py")
    root = entry
    for _ in range(depth):
        root = os.path.dirname(root)
    return list(dict.fromkeys((root, tool.folder)))


def readable_paths(tool: Tool) -> list[str]:
    """What a tool may read without asking: its folder, its code, and what runs it."""
    own = _own_paths(tool.folder)
    granted = frozenset(own)
    files = (each.path for each in tool.code.files if each.is_read)
    own += (each for each in files if granted.isdisjoint((each, *parents_of(each))))
    if tool.code.program is not None:
        own.append(os.path.realpath(tool.code.program.path))
    if tool.kind == "python":
        python = [sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib")]
        python += [each for each in sys.path if each.endswith(("site-packages", "dist-packages"))]
        own += [*python, *map(real_path, python)]
        if tool.confinement.bwrap:
            own.append(PACKAGE_FOLDER)
    return list(dict.fromkeys(own))


def _own_paths(folder: str) -> list[str]:
    """The folder of a pack, or as much of it as holds no secrets: the folder may be the root of a
    project. A link in it grants nothing."""
    partial, folders = set[str](), [folder]
    for here in folders:
        for each in entries_of(here, Disk()):
            if _is_kept_back(each):
                partial.update(folders_up(here, folder))
            elif each.is_dir(follow_symlinks=False) and each.name != "node_modules":
                folders.append(each.path)
    if not partial:
        return [folder]
    inner = (each for here in sorted(partial) for each in entries_of(here, Disk()))
    return [
        each.path
        for each in inner
        if not (each.path in partial or each.is_symlink() or _is_kept_back(each))
    ]


def _is_kept_back(entry: Entry) -> bool:
    """Whether a pack must name a file for its tool to read it."""
    # Compiled Python would run in place of the text that was checked.
    return entry.name.startswith(".") or entry.name == "__pycache__" or is_private(entry.path)


def _listed_folders(tool: Tool) -> list[str]:
    """Folders whose names a tool may see: its own, and its packages."""
    files = (each.path for each in tool.code.files if each.path.endswith("__init__.py"))
    return list(dict.fromkeys([tool.folder, *map(os.path.dirname, files)]))


def jail_of(tool: Tool, *, root: bool) -> dict[str, Any]:
    """What the supervisor has to know to start processes of a tool."""
    confinement = tool.confinement
    in_fork = tool.kind == "python" and not confinement.bwrap
    return {
        "folder": tool.base,
        "folders": _module_folders(tool) if in_fork else [],
        "limits": limits_of(
            tool.kind, tool.timeout_ms, confinement, root=root, calls=1000 if tool.reused else 1
        ),
        "run": _python_run(tool) if in_fork else {"program": True},
        "forks": confinement.forks,
        "network": confinement.network,
        "landlock": confinement.landlock,
        "filter": confinement.filter,
        # Those of the machine may be links, such as `/bin`; what a tool could replace is none.
        "read": [
            *(*readable_paths(tool), *confinement.read),
            *map(real_path, system_paths(confinement)),
        ],
        "write": [*confinement.write, "/dev/null"],
        "listed": _listed_folders(tool),
    }
