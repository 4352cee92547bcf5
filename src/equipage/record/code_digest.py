"""The code that a tool runs, with a hash of each file: what the digest of its pack does not cover.

Covered are the script or the module with its package, every module that these import from the
folder of the pack, and the program that is started. Modules from elsewhere are listed as uncovered.
Nothing is run or imported.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from equipage.core.diagnostics import EquipageError
from equipage.core.source import Source
from equipage.files import entries_of, is_file, is_folder, real_path
from equipage.files.reading import Files, sha256_of
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.findings import finding
from equipage.loading.result import canonical_json

#: The most files that the code of one tool may have.
MAX_FILES = 2000
_POLICY = PathPolicy(absolute="refuse", parents="refuse")
_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", ".git", ".hg", ".svn", ".venv"})
#: What records the versions of the packages of a Node.js script.
_NODE_LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
#: Where programs are looked for, whatever the PATH of the caller is.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class CodeProblem(EquipageError):
    """The code of a tool cannot be found, or must not be run; the text says why."""


class CodeFile(msgspec.Struct, frozen=True):
    """One file of the code."""

    name: str  #: from the folder of the pack
    path: str
    sha256: str


class Program(msgspec.Struct, frozen=True):
    """A program that is started. It belongs to the machine, not to the pack."""

    name: str
    path: str
    sha256: str


class Code(msgspec.Struct, frozen=True):
    """The code of one tool."""

    entry: str = ""  #: the path of the script or module
    files: tuple[CodeFile, ...] = ()
    program: Program | None = None
    request: tuple[str, ...] = ()  #: of a request: the address, the method, names of headers
    uncovered: tuple[str, ...] = ()  #: modules that come from elsewhere
    source: bytes = b""  #: the text of a Python script, as it was hashed

    @property
    def digest(self) -> str:
        """sha256 over all that is covered, wherever the pack lies."""
        parts: dict[str, Any] = {
            "files": {each.name: each.sha256 for each in self.files},
            "program": None
            if self.program is None
            else [self.program.path or self.program.name, self.program.sha256],
            "request": list(self.request),
        }
        return hashlib.sha256(canonical_json(parts)).hexdigest()


class CodeCache:
    """Caches the sources, modules and imports of several tools, which often share modules."""

    def __init__(self) -> None:
        self.reader = Files()
        self.real: dict[str, str] = {}
        self.sources: dict[tuple[str, str], Source] = {}  #: by base and reference
        self.modules: dict[tuple[str, str], str | None] = {}  #: by root and name: the reference
        self.imports: dict[tuple[str, str], tuple[str, ...]] = {}  #: by path and module

    def real_path(self, path: str) -> str:
        if path not in self.real:
            self.real[path] = real_path(path)
        return self.real[path]

    def source(self, reference: str, base: str) -> Source:
        """A file inside a base. Raises `CodeProblem`."""
        found = self.sources.get((base, reference))
        if found is None:
            try:
                found = self.reader.refer(reference, (base,), (base,), _POLICY).source
            except FileProblem as problem:
                why = finding(problem.code, reference, problem.values).message
                raise CodeProblem(f"cannot run `{reference}`: {why}") from None
            self.sources[base, reference] = found
        return found

    def module_file(self, name: str, root: str) -> str | None:
        """The path below a root of the file of a module."""
        if (root, name) not in self.modules:
            stem = name.replace(".", "/")
            references = (f"{stem}/__init__.py", f"{stem}.py")
            found = (each for each in references if is_file(os.path.join(root, each)))
            self.modules[root, name] = next(found, None)
        return self.modules[root, name]

    def imports_of(self, source: Source, module: str) -> tuple[str, ...]:
        """The dotted names that a Python file imports, see `_imported_names`."""
        key = (source.filename or "", module)
        if key not in self.imports:
            self.imports[key] = tuple(dict.fromkeys(_imported_names(source.data, module)))
        return self.imports[key]


def code_of(
    execution: Mapping[str, Any],
    folder: str,
    roots: Sequence[str] = (),
    *,
    programs: bool = True,
    known: CodeCache | None = None,
) -> Code:
    """The code that the execution of a pack in `folder` runs. Raises `CodeProblem`.

    Modules are also looked for in `roots`; a script must be inside the folder. Without `programs`,
    the programs of the machine are only named: what is found is the same on every machine.
    `known` is shared between tools whose code has files in common.
    """
    kind = execution["kind"]
    named = program_named if programs else lambda name: Program(name, "", "")
    known = known or CodeCache()
    cover = _CodeCollector(known.real_path(folder), tuple(map(known.real_path, roots)), known)
    if kind == "http":
        names = sorted(str(name).lower() for name in execution.get("headers") or {})
        request = (execution["url"], execution.get("method") or "POST", *names)
        return Code(request=request)
    if kind == "cli":
        command = execution["cmd"][0]
        if "/" in command and not os.path.isabs(command):
            entry = cover.add(command)
            return cover.code(entry, program=None)
        return cover.code("", named(command))
    if kind == "python":
        # Both may be given: the module is what a runner looks at first.
        if execution.get("module"):
            return cover.code(cover.add_module(execution["module"].partition(":")[0]), None)
        entry = cover.add(execution["script"])
        cover.follow_imports(entry)
        return cover.code(entry, None, cover.sources[entry].data)
    if kind == "php":
        entry = cover.add(execution.get("php") or execution["script"])
        return cover.code(entry, named(execution.get("phpBinary") or "php"))
    entry = cover.add_node(execution)
    return cover.code(entry, named("node"))


def program_named(name: str) -> Program:
    """A program by its name or absolute path. Raises `CodeProblem`."""
    if os.path.isabs(name):
        path = name
    elif "/" in name:
        raise CodeProblem(f"the program `{name}` must be a name or an absolute path")
    else:
        found = (os.path.join(folder, name) for folder in SYSTEM_PATH.split(":"))
        path = next((each for each in found if is_file(each)), "")
    digest = sha256_of(real_path(path)) if path else None
    if digest is None:
        raise CodeProblem(f"there is no program `{name}` in {SYSTEM_PATH}")
    return Program(name, path, digest)


class _CodeCollector:
    """Collects the files of the code of one tool."""

    def __init__(self, folder: str, roots: tuple[str, ...], known: CodeCache) -> None:
        self.folder = folder
        self.roots = tuple(dict.fromkeys((folder, *roots)))
        self.known = known
        self.files: dict[str, CodeFile] = {}
        self.sources: dict[str, Source] = {}
        self.uncovered: set[str] = set()

    def code(self, entry: str, program: Program | None, source: bytes = b"") -> Code:
        files = tuple(sorted(self.files.values(), key=lambda each: each.name))
        return Code(entry, files, program, (), tuple(sorted(self.uncovered)), source)

    def add(self, reference: str, base: str | None = None) -> str:
        """A file inside a root, by its path from there; returns its real path."""
        source = self.known.source(reference, base or self.folder)
        assert source.filename is not None
        if source.filename not in self.files:
            name = path_from_folder(source.filename, self.folder)
            self.files[source.filename] = CodeFile(name, source.filename, source.sha256)
            self.sources[source.filename] = source
            if len(self.files) > MAX_FILES:
                raise CodeProblem(f"the code has more than {MAX_FILES} files")
        return source.filename

    # Python.

    def add_module(self, name: str) -> str:
        """A module, its package, and what both import; returns the path of the module."""
        entry = self._find_module(name)
        if entry is None:
            raise CodeProblem(
                f"there is no module `{name}` in the folder of the pack; modules from elsewhere "
                "are not run"
            )
        base, reference = entry
        path = self.add(reference, base)
        package = name.split(".")[0]
        if is_folder(os.path.join(base, package)):
            for inner in _files_below(os.path.join(base, package)):
                self.add(f"{package}/{inner}", base)
        for each in [path, *self.files]:
            self.follow_imports(each)
        return path

    def _find_module(self, name: str) -> tuple[str, str] | None:
        """The root and the path below it of a module's file."""
        for root in self.roots:
            reference = self.known.module_file(name, root)
            if reference is not None:
                return root, reference
        return None

    def follow_imports(self, path: str) -> None:
        """Add every module of the roots that a file imports, and what those import."""
        waiting, seen = [path], set[str]()
        while waiting:
            here = waiting.pop()
            if here in seen or not here.endswith(".py"):
                continue
            seen.add(here)
            for name in self.known.imports_of(self.sources[here], self._module_name(here)):
                waiting += self._add_import(name)

    def _module_name(self, path: str) -> str:
        root = next((each for each in self.roots if path.startswith(each + os.sep)), self.folder)
        stem = path_from_folder(path, root).removesuffix(".py").replace("/", ".")
        return stem.removesuffix(".__init__") + ("." if stem.endswith(".__init__") else "")

    def _add_import(self, name: str) -> list[str]:
        """The files of the roots that an import of a dotted name runs."""
        parts, found = name.split("."), []
        for length in range(1, len(parts) + 1):
            place = self._find_module(".".join(parts[:length]))
            if place is not None:
                found.append(self.add(place[1], place[0]))
        top = parts[0]
        known = found or any(is_folder(os.path.join(root, top)) for root in self.roots)
        if not known and top not in sys.stdlib_module_names:
            self.uncovered.add(top)
        return found

    # Node.js.

    def add_node(self, execution: Mapping[str, Any]) -> str:
        """The script, everything in its folder but packages, and the file that pins these."""
        file = execution.get("script") or execution.get("node")
        reference = file or execution["module"]
        package = f"node_modules/{reference}/package.json"
        if not file and is_file(os.path.join(self.folder, package)):
            for name in _NODE_LOCKS:
                if is_file(os.path.join(self.folder, name)):
                    self.add(name)
            self.uncovered.add(f"node_modules/{reference}")
            return self.add(package)
        entry = self.add(reference)
        folder = os.path.dirname(entry)
        base = os.path.relpath(folder, self.folder).replace(os.sep, "/")
        prefix = "" if base == "." else f"{base}/"
        for inner in _files_below(folder):
            if inner.endswith((".js", ".cjs", ".mjs", ".json", ".node", ".wasm")):
                self.add(prefix + inner)
        if is_folder(os.path.join(folder, "node_modules")):
            pinned = [name for name in _NODE_LOCKS if is_file(os.path.join(folder, name))]
            for name in pinned:
                self.add(prefix + name)
            self.uncovered.add(f"{prefix}node_modules")
        return entry


def _files_below(folder: str) -> Iterator[str]:
    """The files of a folder at any depth, by their paths from there; links are not followed."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for entry in entries_of(os.path.join(folder, here)):
            if entry.name.startswith(".") or entry.name in _IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{here}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                yield f"{here}{entry.name}"


def _imported_names(data: bytes, module: str) -> Iterator[str]:
    """The dotted names that a Python file imports, wherever in it."""
    import ast  # few workspaces have tools

    try:
        waiting: list[ast.AST] = [ast.parse(data)]
    except (SyntaxError, ValueError, RecursionError):
        return  # it cannot be run, either
    # A package is its own first parent; a module has that of its folder.
    parents = module.split(".")[:-1]
    while waiting:
        node = waiting.pop()
        # Statements alone hold imports: expressions, which are most of a file, are left out.
        waiting += (
            each
            for name in ("body", "orelse", "finalbody", "handlers", "cases")
            for each in _statements_of(node, name)
        )
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            if start:
                yield start
                yield from (f"{start}.{each.name}" for each in node.names if each.name != "*")


def _statements_of(node: object, name: str) -> list[Any]:
    """The statements below another; the body of a `lambda` is an expression, and not a list."""
    found = getattr(node, name, None)
    return found if isinstance(found, list) else []


def path_from_folder(path: str, folder: str) -> str:
    """A path from a folder, with `/`; both have no links in them."""
    top = f"{folder}{os.sep}"
    inner = path[len(top) :] if path.startswith(top) else os.path.relpath(path, folder)
    return inner.replace(os.sep, "/")
