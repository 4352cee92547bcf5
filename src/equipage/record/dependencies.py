"""The files that a configuration depends on without including them, each with its hash.

The code of a tool is the script or the module with its package, every module that these import from
the folder of the pack, code that their texts name, and the program that is started. Of languages
that are not parsed here, it is all that a script names, and all code in the folders of these files.
Modules from elsewhere are listed as uncovered. Commands of hooks and servers name files in their
words. Nothing is run or imported.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import msgspec

from equipage.clients.instructions import MAX_IMPORT_DEPTH, transitive_imports
from equipage.core.diagnostics import EquipageError
from equipage.core.path import Path
from equipage.core.source import Source
from equipage.files import System, entries_of, is_below
from equipage.files.reading import Files
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.files.walking import is_ignored
from equipage.formats.toolpack.model import Toolpack
from equipage.loading.findings import finding
from equipage.loading.pipeline import Outcome
from equipage.loading.result import canonical_json
from equipage.record.commands import (
    IGNORED_FOLDERS,
    MAX_PATH_LENGTH,
    PATH_IN_TEXT,
    files_below,
    folders_up,
    is_private,
    may_be_path,
    strip_project_prefix,
    words_naming_files,
)

#: The most files that the code of one tool may have.
MAX_FILES = 2000
_POLICY = PathPolicy(absolute="refuse", parents="refuse")
#: What records the versions of the packages of a Node.js script.
_NODE_LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml")
#: The endings of code, which a script may load by a name that it makes up.
_CODE_ENDINGS = re.compile(
    r"\.(?:awk|[ckz]?sh|bash|fish|in[ci]|jar|[cm]?jsx?|lua|mk|node|phar|php|phtml|p[lm]|ps1|pyc?|r|rb|sed|so|tcl"
    r"|tsx?|wasm)\Z|\b(?:composer|deno|package)\.json\Z|\bpyproject\.toml\Z",
    re.IGNORECASE,
)
#: What languages add to a name: of a module of Python, or of one of Node.js.
_IMPLIED_ENDINGS = ("", ".py", ".js", ".cjs", ".mjs", ".json")
#: What a path may start with besides a name; an absolute path starts with nothing.
_ELSEWHERE = frozenset({".", "..", ""})
#: The programs that `php` may be.
_PHP = re.compile(r"php[0-9.]*(?:-cli)?")
#: Where programs are looked for, whatever the PATH of the caller is.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

#: How texts name files that a client puts in their place.
_FILE_REFERENCE = re.compile(
    r"\{file:([^}\n]+)\}|@\{([^}\n]+)\}|#\[\[file:([^\]\n]+)\]\]|file://([^\s\"')]+)"
)
#: A value that may be a path and nothing else.
_PATH_ALONE = re.compile(r"[^\s{}<>|*?]+[./][^\s{}<>|*?]*")


class CodeProblem(EquipageError):
    """The code of a tool cannot be found, or must not be run; the text says why."""


class CodeFile(msgspec.Struct, frozen=True):
    """One file of the code."""

    name: str  #: from the folder of the pack
    path: str
    sha256: str
    is_read: bool = True  #: whether a tool may read it where no folder of its own holds it


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

    def __init__(self, files: Files) -> None:
        self.disk, self.reader = files.system, files
        self.real: dict[str, str] = {}
        self.sources: dict[tuple[str, str], Source] = {}  #: by base and reference
        self.modules: dict[tuple[str, str], str | None] = {}  #: by root and name: the reference
        self.imports: dict[tuple[str, str], tuple[str, ...]] = {}  #: by path and module
        self.names: dict[str, set[str]] = {}  #: by folder: what is in it, with endings and without

    def real_path(self, path: str) -> str:
        if path not in self.real:
            self.real[path] = self.disk.real(path)
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

    def names_in(self, folder: str) -> set[str]:
        """The names in a folder, with their endings and without."""
        if folder not in self.names:
            names = {each.name for each in entries_of(folder, self.disk)}
            self.names[folder] = names | {os.path.splitext(each)[0] for each in names}
        return self.names[folder]

    def module_file(self, name: str, root: str) -> str | None:
        """The path below a root of the file of a module."""
        if (root, name) not in self.modules:
            stem = name.replace(".", "/")
            references = (f"{stem}/__init__.py", f"{stem}.py")
            found = (each for each in references if self.disk.is_file(os.path.join(root, each)))
            self.modules[root, name] = next(found, None)
        return self.modules[root, name]

    def imports_of(self, source: Source, module: str) -> tuple[str, ...]:
        """The dotted names that a Python file imports, see `_imported_names`."""
        key = (source.filename or "", module)
        if key not in self.imports:
            self.imports[key] = tuple(dict.fromkeys(_imported_names(source.data, module)))
        return self.imports[key]


def code_of(
    pack: Toolpack, folder: str, roots: Sequence[str], known: CodeCache, *, programs: bool = True
) -> Code:
    """The code that a pack in `folder` runs. Raises `CodeProblem`.

    Modules and files that code names are also looked for in `roots`; a script must be inside the
    folder. Without `programs`, the programs of the machine are only named: what is found is the
    same on every machine. `known` is shared between tools whose code has files in common.
    """
    execution = pack.execution
    kind = execution["kind"]
    if kind == "http":
        names = sorted(str(name).lower() for name in execution.get("headers") or {})
        request = (execution["url"], execution.get("method") or "POST", *names)
        return Code(request=request)
    cover = _CodeCollector(known.real_path(folder), tuple(map(known.real_path, roots)), known)
    entry, program, source = _start_of(execution, cover)
    cover.imports = kind == "python" and not pack.caps.get("subprocess")
    written = (pack.caps.get("filesystem") or {}).get("write") or ()
    places = product(cover.roots, written)
    cover.written = [os.path.normpath(os.path.join(root, each)) for root, each in places]
    words = [*execution.get("cmd", ()), *(execution.get("args") or ())]
    cover.follow_names([*words, *(pack.env.get("set") or {}).values()])
    if program is None:
        return cover.code(entry, None, source)
    found = program_named(program, known.disk) if programs else Program(program, "", "")
    return cover.code(entry, found, source)


def _start_of(execution: Mapping[str, Any], cover: _CodeCollector) -> tuple[str, str | None, bytes]:
    """The script or module that is run, the program that runs it, and the text of a Python script.

    What is found on the way is covered. Raises `CodeProblem`.
    """
    kind = execution["kind"]
    if kind == "cli":
        command = execution["cmd"][0]
        is_own = "/" in command and not os.path.isabs(command)
        return (cover.add(command), None, b"") if is_own else ("", command, b"")
    if kind == "python":
        # Both may be given: the module is what a runner looks at first.
        if execution.get("module"):
            return cover.add_module(execution["module"].partition(":")[0]), None, b""
        entry = cover.add(execution["script"])
        cover.follow_imports(entry)
        return entry, None, cover.sources[entry].data
    if kind == "php":
        program = execution.get("phpBinary") or "php"
        # By its own name, too: a link may be called whatever its maker likes.
        real = cover.known.disk.real(program) if os.path.isabs(program) else program
        names = (os.path.basename(program), os.path.basename(real))
        if not all(map(_PHP.fullmatch, names)) or cover.root_of(real) is not None:
            raise CodeProblem(
                f"`phpBinary: {program}` is not PHP as this machine has it; "
                "`kind: cli` runs programs"
            )
        return cover.add(execution.get("php") or execution["script"]), program, b""
    return cover.add_node(execution), "node", b""


def program_named(name: str, system: System) -> Program:
    """A program by its name or absolute path. Raises `CodeProblem`."""
    if os.path.isabs(name):
        path = name
    elif "/" in name:
        raise CodeProblem(f"the program `{name}` must be a name or an absolute path")
    else:
        found = (os.path.join(folder, name) for folder in SYSTEM_PATH.split(":"))
        path = next(filter(system.is_file, found), "")
    digest = system.sha256(system.real(path)) if path else None
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
        #: whether it runs what it imports, and of the rest only what it names with its ending
        self.imports = False
        self.written: list[str] = []  #: where the tool writes, which is data of it
        self.walked: set[str] = set()

    def code(self, entry: str, program: Program | None, source: bytes = b"") -> Code:
        files = tuple(sorted(self.files.values(), key=lambda each: each.name))
        return Code(entry, files, program, (), tuple(sorted(self.uncovered)), source)

    def add(self, reference: str, base: str | None = None) -> str:
        """A file inside a root, by its path from there; returns its real path."""
        source = self.known.source(reference, base or self.folder)
        assert source.filename is not None
        if source.filename not in self.sources:
            self.sources[source.filename] = source
            self._keep(source.filename, source.sha256)
        return source.filename

    def _keep(self, path: str, sha256: str, *, is_read: bool = True) -> None:
        is_read = is_read or (path in self.files and self.files[path].is_read)
        self.files[path] = CodeFile(path_from_folder(path, self.folder), path, sha256, is_read)
        if len(self.files) > MAX_FILES:
            raise CodeProblem(
                f"the code has more than {MAX_FILES} files: give the pack a folder of its own"
            )

    # Other languages.

    def follow_names(self, words: Iterable[str]) -> None:
        """Add every file that words or the texts of covered files name, and all other code in the
        folders of these files."""
        waiting = list(self.files)
        for word in words:
            waiting += self._add_named([word, *PATH_IN_TEXT.findall(word)], self.folder)
        if not waiting:  # `make`, say: it looks into the folder that it works in
            entries = entries_of(self.folder, self.known.disk)
            waiting = self._add_code(self.folder, (each.name for each in entries))
        seen = set[str]()
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                folder, data = os.path.dirname(here), self.known.disk.peek(here) or b""
                names = PATH_IN_TEXT.findall(data.decode("utf-8", "replace"))
                if self.imports:
                    names = [each for each in names if _CODE_ENDINGS.search(each)]
                elif _may_be_code(here):
                    waiting += self._add_code_below(folder)
                waiting += self._add_named(names, folder)

    def _add_named(self, names: Iterable[str], folder: str) -> list[str]:
        """The files that texts may name, from a folder, that of the pack, or a root."""
        found: list[str] = []
        for name in dict.fromkeys(names):
            # As in `$HOME_OF_IT/x.sh`, `__DIR__ . '/x.php'` and `import a.b`.
            shapes = {name, name.lstrip("/"), name.partition("/")[2], name.replace(".", "/")}
            for base, shape in product({folder, *self.roots}, shapes - {""}):
                start = shape.partition("/")[0]
                # A look at the first part of the name spares most looks at files.
                if start not in self.known.names_in(base) and start not in _ELSEWHERE:
                    continue
                path = os.path.normpath(os.path.join(base, shape))
                if os.path.basename(path) in self.known.names_in(os.path.dirname(path)):
                    for ending in _IMPLIED_ENDINGS:
                        found += self._add_path(path + ending)
                    found += self._add_code_below(path) if path not in self.roots else ()
        return found

    def _add_code_below(self, folder: str) -> list[str]:
        """The code in a folder of the pack, at any depth."""
        real = self.known.real_path(folder)
        if real in self.walked or not is_below(real, self.folder):
            return []
        self.walked.add(real)
        return self._add_code(real, files_below(real, self.known.disk))

    def _add_code(self, folder: str, names: Iterable[str]) -> list[str]:
        paths = (os.path.join(folder, each) for each in names if _may_be_code(each))
        return [real for each in paths for real in self._add_path(each)]

    def _add_path(self, path: str) -> list[str]:
        """The real path of a file in a root, if it is code of the tool."""
        real = self.known.real_path(path)
        root = self.root_of(real)
        is_code = _CODE_ENDINGS.search(real) is not None
        is_data = not is_code and any(is_below(real, each) for each in self.written)
        # A jail does not let a link lead out.
        if root is None or is_data or is_private(real) or _is_left_out(real[len(root) :]):
            return []
        digest = self.known.disk.sha256(real) if self.known.disk.is_file(real) else None
        if digest is None:
            return []
        # A text names data, too: what is not code must be declared to be read.
        is_hidden = f"{os.sep}." in real[len(root) :]
        self._keep(real, digest, is_read=is_code and not is_hidden and not self.imports)
        return [real]

    def root_of(self, path: str) -> str | None:
        """The root that a path is in."""
        return next((each for each in self.roots if is_below(path, each)), None)

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
        if self.known.disk.is_folder(os.path.join(base, package)):
            for inner in files_below(os.path.join(base, package), self.known.disk):
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
        known = found or any(
            self.known.disk.is_folder(os.path.join(root, top)) for root in self.roots
        )
        if not known and top not in sys.stdlib_module_names:
            self.uncovered.add(top)
        return found

    # Node.js.

    def add_node(self, execution: Mapping[str, Any]) -> str:
        """The script, and the file that pins packages."""
        file = execution.get("script") or execution.get("node")
        reference = file or execution["module"]
        package = f"node_modules/{reference}/package.json"
        if not file and self.known.disk.is_file(os.path.join(self.folder, package)):
            for name in _NODE_LOCKS:
                if self.known.disk.is_file(os.path.join(self.folder, name)):
                    self.add(name)
            self.uncovered.add(f"node_modules/{reference}")
            return self.add(package)
        entry = self.add(reference)
        folder = os.path.dirname(entry)
        base = os.path.relpath(folder, self.folder).replace(os.sep, "/")
        prefix = "" if base == "." else f"{base}/"
        if self.known.disk.is_folder(os.path.join(folder, "node_modules")):
            pinned = [
                name for name in _NODE_LOCKS if self.known.disk.is_file(os.path.join(folder, name))
            ]
            for name in pinned:
                self.add(prefix + name)
            self.uncovered.add(f"{prefix}node_modules")
        return entry


def _is_left_out(path: str) -> bool:
    """Whether a path leads into packages, which another file pins, or into version control."""
    return not IGNORED_FOLDERS.isdisjoint(path.split(os.sep))


def _may_be_code(path: str) -> bool:
    """Whether a file is code, by its name; without an ending it is."""
    return not os.path.splitext(path)[1] or _CODE_ENDINGS.search(path) is not None


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


class Lookups:
    """Caches the files that configurations of one run name: many name the same ones."""

    def __init__(self, system: System) -> None:
        self.disk = system
        #: path → the file without links and its hash; empty for a file that is not to be locked,
        #: None where there is no file
        self.files: dict[str, tuple[str, str] | tuple[()] | None] = {}
        self.ignored: dict[str, bool] = {}  #: folder → whether git ignores what is in it
        self.ignores: dict[str, Any] = {}  #: folder → the patterns that hold in it


class NamedFiles:
    """Finds the files that one configuration names; each has its real path and its hash."""

    def __init__(self, folder: str, root: str, known: Lookups) -> None:
        """`folder` is that of the configuration; like the root, it has no links in it."""
        self.folder = folder
        self.root, self.top = root, os.path.join(root, "")
        self.known = known
        self.places: list[str] = []  #: where paths may start; found with the first

    def files_run_by(self, commands: Sequence[list[str]]) -> Iterator[tuple[str, str]]:
        """The files that commands run, such as the scripts of hooks."""
        for word in words_naming_files(commands):
            yield from self._find_file(word)

    def files_at(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The files at paths that are to be locked."""
        yield from (found for path in paths if (found := self._hash_file(path)))

    def files_named_in(
        self, outcome: Outcome, nodes: Iterable[tuple[Path, Any]]
    ) -> Iterator[tuple[str, str]]:
        """The files that values name, and those that the text imports."""
        for _, value in nodes:
            if not isinstance(value, str):
                continue
            if "file:" in value or "@{" in value:
                for match in _FILE_REFERENCE.finditer(value):
                    yield from self._find_file(next(filter(None, match.groups())))
            if (
                len(value) <= MAX_PATH_LENGTH
                and "://" not in value
                and _PATH_ALONE.fullmatch(value)
            ):
                yield from self._find_file(value)
        session = outcome.session
        if outcome.sources and "@" in outcome.sources[0].text:
            for path in transitive_imports(session.path, session, MAX_IMPORT_DEPTH):
                yield from self._find_file(path)

    def _find_file(self, word: str) -> Iterator[tuple[str, str]]:
        if not may_be_path(word):
            return
        inner = strip_project_prefix(word)
        if not may_be_path(inner):
            return
        is_absolute = os.path.isabs(inner)
        for place in self._start_folders():
            path = inner if is_absolute else f"{place}{os.sep}{inner}"
            known = self.known.files
            if path not in known:
                known[path] = self._hash_file(path)
            found = known[path]
            if found:
                yield found
            if found is not None:
                return
        # `agent.py:graph` names a part of a file.
        file, colon, part = inner.rpartition(":")
        if colon and part.isidentifier():
            yield from self._find_file(file)

    def _hash_file(self, path: str) -> tuple[str, str] | tuple[()] | None:
        """The real path and hash of a file; empty or None as in `Lookups.files`."""
        disk = self.known.disk
        if not disk.is_file(path):
            return None
        real = disk.real(path)
        if not real.startswith(self.top):
            return None
        # What belongs to one machine, or holds secrets, is neither locked nor shipped.
        is_left_out = is_ignored(path, disk, self.known.ignores)
        if is_private(path) or is_left_out or self._is_ignored(os.path.dirname(path)):
            return ()
        digest = disk.sha256(real)
        return () if digest is None else (real, digest)

    def _is_ignored(self, folder: str) -> bool:
        """Whether git ignores a folder, or one that it is in."""
        if not folder.startswith(self.top):
            return False
        ignored = self.known.ignored
        if folder not in ignored:
            is_own = is_ignored(folder, self.known.disk)
            ignored[folder] = is_own or self._is_ignored(os.path.dirname(folder))
        return ignored[folder]

    def _start_folders(self) -> list[str]:
        """The folder of the configuration and those above it, up to the root."""
        if not self.places:
            self.places = folders_up(self.folder, self.root)
        return self.places
