"""Measure the sources: how many parts there are, how much a reader reads, what one check touches.

    python tools/measure.py [--names] [--instructions] [--json] [--tree FOLDER]

Each figure is beside its goal and its value at the commit where the rebuilding began
(`BASELINE`). Figures without a goal show a trend. They are of the tree that this script is in, or
with `--tree` of another checkout. Its packages are those below `src` (the main one) and
`packages/*/src`; a figure is of all of them unless it says “main package”.

**Lines.** A *code line* holds part of a statement other than a docstring. Comments are counted
twice: the lines with a comment, after code or alone, of all physical lines; and the lines with
nothing but a comment, of those that are not blank. Lines of data are those of TOML, JSON, YAML and
CSV files in the packages that are not blank.

**Names** are those of functions and methods, wherever they are defined, without leading
underscores. Left out are special methods (`__init__`), names that begin with `to_` or `from_`, and
public names: what the `__all__` of a module at the top of a package lists, and the methods of
classes that it lists. A name has one word if it has no underscore inside. A *participle* is one
word in `-ed` or an irregular one (`given`), also with a prefix (`unsaid`). A *preposition* counts
if it is the first word. `--names` lists participles and prepositions.

**Functions** are long by their code lines. Cognitive complexity: 1 for each `if`, `for`, `while`,
`except`, `match` and conditional expression, and 1 more for each such structure or inner function
that it is in; 1 for each `elif` and `else`, and for each sequence of the same `and` or `or`.
Recursion and comprehensions count nothing.

**Calls that make** an object of a class are calls of the class, of its subclasses, and of functions
that return it by their annotation and make one themselves (the calls inside of these count, too).
Of several classes of one name, the one that most modules import is meant. `Files` is to become
`System`, so calls for either count.

**What runs** is measured by `measure_probes.py` in processes of their own that start cold, with a
small environment:

- a *warm check* is the second `check` of one agent in one process, in a repository that holds
  nothing else. The functions of the packages that it calls are taken in the order of their first
  calls: they lie in so many *modules entered*, and a *switch* is where two that follow each other
  lie in different modules. The agent beside a server has a `.mcp.json` in its project and names a
  tool of that server;
- `pyproject.toml` is *looked for* when a path that ends with this name is given to `open`,
  `os.open`, `os.stat`, `os.lstat`, `os.access` or `os.readlink`, whether it exists or not; these
  are replaced by functions that count before the package is imported. Listing a folder does not
  count. The figure is of the folder where one cold check of the same agent does it most often;
- *modules imported* are those of the main package in `sys.modules` when `load` has returned or the
  command has ended; *modules run* by a load are those of which a second one, when nothing is left
  to import, calls a function;
- *opens* count each time that the root file is opened by its name, as an audit hook sees it;
- *instructions* (with `--instructions`, if valgrind is there) are those of the whole process,
  Python's own start included, once the bytecode has been written. They depend on the interpreter
  and on what is installed beside the package, so compare only what the same environment gave.

The baseline is what `--json` wrote for a checkout of that commit. Before the move to `clients/`,
`conventions/` is taken for it. The files that a new kind changes are the lines that
`git status --short --untracked-files=all` prints after a format with codes of its own was made by
the recipe in CONTRIBUTING.md, with what is generated: `tests/test_recipes.py` does it in a clone.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASELINE = "3d61c38e"
BASELINE_FILE = Path(__file__).with_name("measure-baseline.json")
PROBES = Path(__file__).with_name("measure_probes.py")
EXAMPLE = "examples/server/server.yaml"
WIDTH = 100
LONG_FUNCTION = 60
HIGH_COMPLEXITY = 40
DATA_SUFFIXES = {".csv", ".json", ".jsonl", ".toml", ".yaml", ".yml"}
#: Folders of code about one client; the second name is that of before the move to the first.
CLIENT_FOLDERS = {"clients", "conventions"}

Value = int | float | None


@dataclass(frozen=True)
class Figure:
    """One row of the table; no value if it could not be measured, and then the note says why."""

    name: str
    label: str
    value: Value
    goal: str = ""
    note: str = ""


# -------------------------------------------------------------------------------------- the sources


@dataclass(frozen=True)
class Lines:
    """How many lines of each sort a text has."""

    physical: int = 0
    filled: int = 0  #: not blank
    code: int = 0
    commented: int = 0
    comments: int = 0  #: nothing but a comment
    wide: int = 0

    def __add__(self, other: Lines) -> Lines:
        return Lines(
            self.physical + other.physical,
            self.filled + other.filled,
            self.code + other.code,
            self.commented + other.commented,
            self.comments + other.comments,
            self.wide + other.wide,
        )


#: Tokens that are not part of a statement's text.
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


class Module:
    """A Python file, read and parsed once; the rest is found when it is asked for."""

    def __init__(self, path: Path, sources: Path) -> None:
        self.path = path
        self.file = path.relative_to(sources).as_posix()
        self.name = self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.text = path.read_text(encoding="utf-8")
        self.syntax = ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.syntax))

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """The tokens, comments and layout included."""
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def code(self) -> list[tokenize.TokenInfo]:
        """What statements other than docstrings consist of."""
        docstrings = set(docstring_lines(self.nodes))
        return [
            each
            for each in self.tokens
            if each.type not in _LAYOUT and each.start[0] not in docstrings
        ]

    @cached_property
    def filled_lines(self) -> set[int]:
        """The numbers of the lines that are not blank."""
        lines = enumerate(self.text.splitlines(), start=1)
        return {number for number, line in lines if line.strip()}

    @cached_property
    def code_lines(self) -> set[int]:
        """The numbers of the lines with code."""
        return self.filled_lines & {
            number for each in self.code for number in range(each.start[0], each.end[0] + 1)
        }

    @cached_property
    def lines(self) -> Lines:
        """How many lines of each sort there are."""
        lines = self.text.splitlines()
        commented = {each.start[0] for each in self.tokens if each.type == tokenize.COMMENT}
        return Lines(
            physical=len(lines),
            filled=len(self.filled_lines),
            code=len(self.code_lines),
            commented=len(commented),
            comments=sum(lines[number - 1].lstrip().startswith("#") for number in commented),
            wide=sum(len(line) > WIDTH for line in lines),
        )


def docstring_lines(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """The numbers of all lines with docstrings: of the module, its classes, functions, fields."""
    for node in nodes:
        # No other statement is a mere string.
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


@dataclass(frozen=True)
class Tree:
    """A checkout to measure."""

    root: Path

    @cached_property
    def sources(self) -> list[Path]:
        """The folders that packages are imported from, that of the main package first."""
        return [self.root / "src", *sorted(self.root.glob("packages/*/src"))]

    @cached_property
    def modules(self) -> list[Module]:
        """The modules of all packages."""
        return [
            Module(path, sources)
            for sources in self.sources
            for path in sorted(sources.rglob("*.py"))
        ]

    @cached_property
    def functions(self) -> list[Function]:
        """The functions and methods of all packages."""
        return [each for module in self.modules for each in functions_of(module)]

    @cached_property
    def files(self) -> list[str]:
        """The files that git knows or would add; without git, those that are not hidden."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        try:
            done = subprocess.run(
                command, cwd=self.root, check=True, capture_output=True, text=True
            )
        except (OSError, subprocess.CalledProcessError):
            paths = (path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file())
            hidden = re.compile(r"(^|/)(\.|__pycache__/)")
            return [name for path in paths if not hidden.search(name := path.as_posix())]
        names = set(done.stdout.split("\0")) - {""}
        return sorted(name for name in names if (self.root / name).is_file())

    def code_lines_in(self, pattern: str) -> int:
        """The code lines of the Python files whose path from the root begins with a pattern."""
        begins = re.compile(pattern)
        return sum(
            Module(self.root / name, self.root).lines.code
            for name in self.files
            if name.endswith(".py") and begins.match(name)
        )


def package_in(sources: Path) -> Path:
    """The package below `src`. Exits unless there is exactly one."""
    packages = sorted(path.parent for path in sources.glob("*/__init__.py"))
    if len(packages) != 1:
        sys.exit(f"there are {len(packages)} packages in {sources}, expected one")
    return packages[0]


def fields_of(names: set[str], modules: Iterable[Module]) -> int | None:
    """How many annotated fields the class of a name has; of several such classes, the largest."""
    counts = [
        sum(isinstance(each, ast.AnnAssign) for each in node.body)
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.ClassDef) and node.name in names
    ]
    return max(counts, default=None)


def static_figures(package: Path) -> Iterator[Figure]:
    """What the sources say, of the tree with this main package."""
    tree = Tree(package.parents[1])
    yield from size_figures(tree, package)
    yield from structure_figures(tree)
    yield from function_figures(tree)
    yield from reading_figures(tree, package)


def size_figures(tree: Tree, package: Path) -> Iterator[Figure]:
    """How much there is."""
    own = [each for each in tree.modules if each.path.is_relative_to(package)]
    code = sum(each.lines.code for each in tree.modules)
    yield Figure("code_lines", "code lines", code, "≤ 49,000")
    code = sum(each.lines.code for each in own)
    yield Figure("code_lines_main", "code lines, main package", code, "≤ 41,000")
    tests = tree.code_lines_in("tests/|packages/[^/]+/tests/")
    yield Figure("test_lines", "code lines of tests", tests, "about 49,000")
    yield Figure("modules", "modules", len(tree.modules), "≤ 265")
    yield Figure("modules_main", "modules, main package", len(own), "≤ 205")
    largest = max(tree.modules, key=lambda each: each.lines.code)
    label = "largest module, code lines"
    yield Figure("largest_module", label, largest.lines.code, "≤ 550", largest.file)
    tools = tree.code_lines_in("(lab|tools|bench)/")
    yield Figure("tool_lines", "code lines of lab, tools, bench", tools)
    yield Figure("data_lines", "lines of data", data_lines(tree))
    entries = {name.partition("/")[0] for name in tree.files}
    entries = {each for each in entries if not each.startswith(".git")}
    yield Figure("top_entries", "entries of the top folder", len(entries), "≤ 22")
    pages = sum(name.startswith("docs/") and name.endswith(".md") for name in tree.files)
    yield Figure("pages", "Markdown pages under docs", pages, "≤ 120")


def data_lines(tree: Tree) -> int:
    """How many lines, other than blank ones, the files with data in the packages have."""
    files = (
        tree.root / name
        for name in tree.files
        if any((tree.root / name).is_relative_to(sources) for sources in tree.sources)
    )
    texts = (each.read_text(encoding="utf-8") for each in files if each.suffix in DATA_SUFFIXES)
    return sum(bool(line.strip()) for text in texts for line in text.splitlines())


def reading_figures(tree: Tree, package: Path) -> Iterator[Figure]:
    """What a reader meets: order, comments, wide lines."""
    lines = sum((each.lines for each in tree.modules), Lines())
    top = list(package.glob("*.py"))
    yield Figure("top_files", "modules at the top of the main package", len(top))
    layers, where = layers_of(tree.root)
    yield Figure("layers", "layers", layers, note=where)
    reading, which = reading_list(tree.root, package)
    yield Figure("reading_lines", "reading list, lines", reading, note=which)
    fields = fields_of({"Format", "Kind"}, tree.modules)
    yield Figure("kind_fields", "fields of `Format` (was `Kind`)", fields)
    yield Figure("physical_lines", "physical lines", lines.physical)
    commented = round(100 * lines.commented / lines.physical, 2)
    note = "lines with a comment, per 100 physical lines"
    yield Figure("comments_per_100", "comments per 100 lines", commented, note=note)
    comments = round(100 * lines.comments / lines.filled, 2)
    note = "lines with nothing but a comment, per 100 that are not blank"
    yield Figure("comment_lines_per_100", "comment lines per 100 lines", comments, note=note)
    yield Figure("wide_lines", f"lines over {WIDTH} columns", lines.wide)


def layers_of(root: Path) -> tuple[int | None, str]:
    """How many layers the longest contract of import-linter has, and where that is written."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project.get("tool", {}).get("importlinter", {}).get("contracts", ())
    counts = [len(each["layers"]) for each in contracts if each.get("type") == "layers"]
    return max(counts, default=None), "contract of import-linter in pyproject.toml"


_READING = re.compile(r"^#+ Read in this order$(?P<text>.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def reading_list(root: Path, package: Path) -> tuple[int | None, str]:
    """How many lines the modules have that ARCHITECTURE.md says to read first, and what was found.

    The list is the numbered one; each item begins with the name of a module or a package, as in
    `syntax/document` or `formats/server/`. What the section recommends after it does not count.
    """
    page = root / "ARCHITECTURE.md"
    section = _READING.search(page.read_text(encoding="utf-8")) if page.is_file() else None
    if section is None:
        return None, "ARCHITECTURE.md has no section “Read in this order”"
    names = re.findall(r"^\d+\. `([^`\n]+)`", section["text"], re.MULTILINE)
    if not names:
        return None, "“Read in this order” in ARCHITECTURE.md has no numbered list"
    found = {name: files for name in names if (files := _files_named(name, package))}
    modules = {path for files in found.values() for path in files}
    total = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules)
    missing = [name for name in names if name not in found]
    note = f"{len(found)} names" + (f", not found: {', '.join(missing)}" if missing else "")
    return total, note


def _files_named(name: str, package: Path) -> list[Path]:
    """The modules that a name in ARCHITECTURE.md means."""
    inside = name.strip("/").removeprefix("src/").removeprefix(f"{package.name}/")
    path = package / inside.removesuffix(".py")
    module = path.with_name(path.name + ".py")
    return [module] if module.is_file() else sorted(path.rglob("*.py"))


# ---------------------------------------------------------------------------------------- structure


class References:
    """What names in the modules refer to."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.modules = {each.name: each for each in modules}
        #: What each module imports: local name to the module and the name in it, if any.
        self.imports = {name: imports_of(each) for name, each in self.modules.items()}
        self.classes = {
            (name, node.name): node
            for name, module in self.modules.items()
            for node in module.nodes
            if isinstance(node, ast.ClassDef)
        }

    def definition(self, module: str, node: ast.expr | None) -> tuple[str, str] | None:
        """The module and name that an expression in a module refers to, if it is that simple."""
        match node:
            case ast.Name():
                return self._follow(module, node.id)
            case ast.Attribute(value=ast.Name(id=above)):
                home, name = self._follow(module, above)
                return self._follow(f"{home}.{name}".strip("."), node.attr)
        return None

    def _follow(self, module: str, name: str) -> tuple[str, str]:
        followed = set()
        while (module, name) not in followed and name in self.imports.get(module, {}):
            followed.add((module, name))
            module, name = self.imports[module][name]
        return module, name

    def class_named(self, name: str) -> tuple[str, str] | None:
        """The class of a name; of several, the one that most modules import."""
        found = [each for each in self.classes if each[1] == name]
        users = Counter(
            self._follow(*imported)
            for those in self.imports.values()
            for imported in those.values()
        )
        return max(found, key=lambda each: users[each], default=None)

    def subclasses(self, base: tuple[str, str]) -> set[tuple[str, str]]:
        """A class and everything derived from it."""
        family = {base}
        while True:
            more = {
                each
                for each, node in self.classes.items()
                if any(self.definition(each[0], above) in family for above in node.bases)
            }
            if more <= family:
                return family
            family |= more

    def calls_that_make(self, name: str) -> list[str]:
        """Where the calls are that make an object of a class, as `file:line`."""
        base = self.class_named(name)
        if base is None:
            return []
        family = self.subclasses(base)
        makers = {
            (module.name, node.name)
            for module in self.modules.values()
            for node in module.syntax.body
            if isinstance(node, ast.FunctionDef)
            and self.definition(module.name, node.returns) in family
            and any(self._calls(module, ast.walk(node), family))
        }
        return [
            f"{module.file}:{line}"
            for module in self.modules.values()
            for line in self._calls(module, module.nodes, family | makers)
        ]

    def _calls(
        self, module: Module, nodes: Iterable[ast.AST], called: set[tuple[str, str]]
    ) -> Iterator[int]:
        """The lines of those calls among nodes of a module that call one of these."""
        for each in nodes:
            if isinstance(each, ast.Call) and self.definition(module.name, each.func) in called:
                yield each.lineno


def imports_of(module: Module) -> dict[str, tuple[str, str]]:
    """What a module imports, wherever in it: local name to the module and the name in it."""
    found = dict[str, tuple[str, str]]()
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = (node.module, each.name)
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.asname:
                    found[each.asname] = (each.name, "")
    return found


def structure_figures(tree: Tree) -> Iterator[Figure]:
    """How often one thing is made, and in how many places one thing is known."""
    references = References(tree.modules)
    runs = references.calls_that_make("Run")
    yield Figure("run_calls", "calls that make a `Run`", len(runs), "1")
    files = references.calls_that_make("Files") + references.calls_that_make("System")
    yield Figure("files_calls", "calls that make a `Files` or `System`", len(files), "1")
    variables = sum(
        isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "ContextVar"
        for module in tree.modules
        for node in module.nodes
    )
    yield Figure("context_variables", "context variables made", variables, "0")
    outside = [
        module.file
        for module in tree.modules
        if not CLIENT_FOLDERS & set(module.file.split("/")[:-1])
        and any("claude" in token.string.lower() for token in module.code)
    ]
    label = "modules outside clients that say “claude”"
    yield Figure("claude_modules", label, len(outside), "≤ 8")


# ------------------------------------------------------------------------ functions and their names


@dataclass(frozen=True)
class Function:
    """A function or method, with its name as Python qualifies it."""

    module: Module
    qualified: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return self.node.name.strip("_").split("_")

    @property
    def place(self) -> str:
        """The file and the line it begins in."""
        return f"{self.module.file}:{self.node.lineno}"

    @property
    def code_lines(self) -> int:
        """How many code lines it has, its signature included."""
        last = self.node.end_lineno or self.node.lineno
        return len(self.module.code_lines & set(range(self.node.lineno, last + 1)))


def functions_of(module: Module) -> Iterator[Function]:
    """The functions and methods of a module, inner ones, too."""
    yield from _functions_below(module, module.syntax, "")


def _functions_below(module: Module, node: ast.AST, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(module, prefix + child.name, child)
            inner = f"{prefix}{child.name}.<locals>."
        elif isinstance(child, ast.ClassDef):
            inner = f"{prefix}{child.name}."
        yield from _functions_below(module, child, inner)


def complexity_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The cognitive complexity of a function, inner functions included."""
    return _complexity(node.body, 0)


def _complexity(nodes: Iterable[ast.AST], depth: int) -> int:
    return sum(_complexity_at(node, depth) for node in nodes)


def _complexity_at(node: ast.AST, depth: int) -> int:
    match node:
        case ast.If():
            return 1 + depth + _complexity([node.test], depth) + _branches(node, depth)
        case ast.For() | ast.AsyncFor():
            return 1 + depth + _complexity([node.iter], depth) + _branches(node, depth)
        case ast.While():
            return 1 + depth + _complexity([node.test], depth) + _branches(node, depth)
        case ast.ExceptHandler():
            return 1 + depth + _complexity(node.body, depth + 1)
        case ast.Match():
            return (
                1 + depth + _complexity([node.subject], depth) + _complexity(node.cases, depth + 1)
            )
        case ast.IfExp():
            return 1 + depth + _complexity(ast.iter_child_nodes(node), depth + 1)
        case ast.BoolOp():
            return 1 + _complexity(node.values, depth)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return _complexity(ast.iter_child_nodes(node), depth + 1)
    return _complexity(ast.iter_child_nodes(node), depth)


def _branches(node: ast.If | ast.For | ast.AsyncFor | ast.While, depth: int) -> int:
    """The complexity of the body of a structure, and of what is in its `elif` and `else`."""
    total = _complexity(node.body, depth + 1)
    match node:
        case ast.If(orelse=[ast.If() as other]):
            return total + 1 + _complexity([other.test], depth) + _branches(other, depth)
        case _ if node.orelse:
            return total + 1 + _complexity(node.orelse, depth + 1)
    return total


#: Words in `-ed` that are not participles.
_NO_PARTICIPLES = {
    "bed", "embed", "exceed", "feed", "indeed", "need", "proceed", "red", "seed", "shed", "speed",
    "succeed",
}  # fmt: skip
#: Irregular participles, but for those that are verbs or nouns in their own right: `read`, `bound`.
_IRREGULAR = {
    "bent", "bitten", "blown", "born", "borne", "bought", "broken", "brought", "built", "burnt",
    "caught", "chosen", "dealt", "done", "drawn", "driven", "eaten", "fallen", "felt", "flown",
    "forbidden", "forgotten", "fought", "found", "frozen", "given", "gone", "grown", "heard",
    "held", "hidden", "hung", "kept", "known", "laid", "learnt", "left", "lent", "lost", "made",
    "meant", "met", "paid", "proven", "ridden", "risen", "said", "sat", "seen", "sent", "shaken",
    "shot", "shown", "sold", "sought", "spelt", "spent", "spoken", "stolen", "stood", "struck",
    "stuck", "sung", "swept", "sworn", "taken", "taught", "thought", "thrown", "told", "torn",
    "understood", "won", "worn", "woven", "written",
}  # fmt: skip
_PREFIX = re.compile(r"^(for|fore|mis|out|over|re|un|under|with)(?=[a-z]{4})")
_PREPOSITIONS = {
    "about", "above", "across", "after", "against", "along", "among", "around", "as", "at",
    "before", "behind", "below", "beneath", "beside", "besides", "between", "beyond", "by", "down",
    "during", "except", "for", "from", "in", "inside", "into", "like", "near", "of", "off", "on",
    "onto", "out", "outside", "over", "past", "per", "since", "than", "through", "to", "toward",
    "towards", "under", "until", "up", "upon", "via", "with", "within", "without",
}  # fmt: skip


def is_participle(words: list[str]) -> bool:
    """Whether a name is a participle and nothing else."""
    if len(words) != 1 or words[0] in _NO_PARTICIPLES:
        return False
    word = words[0]
    return word.endswith("ed") or word in _IRREGULAR or _PREFIX.sub("", word) in _IRREGULAR


def begins_with_preposition(words: list[str]) -> bool:
    """Whether the first word of a name is a preposition."""
    return words[0] in _PREPOSITIONS


def named_functions(tree: Tree) -> list[Function]:
    """The functions whose names count: neither special nor public, nor conversions."""
    public = public_names(tree)
    return [
        each
        for each in tree.functions
        if not (each.node.name.startswith("__") and each.node.name.endswith("__"))
        and each.words[0] not in {"to", "from"}
        and (each.module.name, each.qualified) not in public
    ]


def public_names(tree: Tree) -> set[tuple[str, str]]:
    """Public functions, classes and methods: module and qualified name of each."""
    at_top = [each.name for each in tree.modules if each.file.count("/") == 1]
    offering = [each for each in at_top if not each.endswith(".__main__")]
    lines = run_probe(tree, "public-names", *offering).splitlines()
    return {(module, name) for module, _, name in (line.partition(" ") for line in lines)}


def function_figures(tree: Tree) -> Iterator[Figure]:
    """How functions are named, and how much one holds."""
    named = named_functions(tree)

    def share(found: int) -> float:
        return round(100 * found / len(named), 1)

    single = sum(len(each.words) == 1 for each in named)
    note = f"{single:,} of {len(named):,} names"
    yield Figure("one_word_names", "names of one word, %", share(single), note=note)
    participles = sum(is_participle(each.words) for each in named)
    label = "names that are a participle, %"
    yield Figure("participle_names", label, share(participles), "≤ 1", f"{participles:,} names")
    prepositions = sum(begins_with_preposition(each.words) for each in named)
    label = "names that begin with a preposition, %"
    yield Figure("preposition_names", label, share(prepositions), "≤ 2", f"{prepositions:,} names")
    lengths = [(each.code_lines, each) for each in tree.functions]
    long = [each for each in lengths if each[0] > LONG_FUNCTION]
    label = f"functions over {LONG_FUNCTION} code lines"
    yield Figure("long_functions", label, len(long), "≤ 4", _largest(long))
    degrees = [(complexity_of(each.node), each) for each in tree.functions]
    complex_ones = [each for each in degrees if each[0] > HIGH_COMPLEXITY]
    label = f"functions over a complexity of {HIGH_COMPLEXITY}"
    yield Figure("complex_functions", label, len(complex_ones), "≤ 2", _largest(complex_ones))
    label = "files changed by a new kind or convention"
    yield Figure("files_for_a_kind", label, None, "≤ 8", "held by tests/test_recipes.py")


def _largest(found: list[tuple[int, Function]]) -> str:
    """Functions with a number each, the largest first."""
    found = sorted(found, key=lambda each: (-each[0], each[1].place))
    return ", ".join(f"{each.module.name}.{each.qualified} {number}" for number, each in found)


def unclear_names(tree: Tree) -> Iterator[tuple[Function, str]]:
    """The functions whose name is a participle or begins with a preposition, and which it is."""
    for each in named_functions(tree):
        if is_participle(each.words):
            yield each, "a participle"
        elif begins_with_preposition(each.words):
            yield each, "begins with a preposition"


def list_names(tree: Tree) -> Iterator[str]:
    """A line for each name that is a participle or begins with a preposition."""
    for each, problem in unclear_names(tree):
        yield f"{each.place}: {each.qualified}: {problem}"


# ----------------------------------------------------------------------------------- cold processes

_AGENT = """\
---
name: reviewer
description: Reviews a change before it is merged.
{tools}---
Read the change and say what is wrong.
"""
_AGENT_FILE = ".claude/agents/reviewer.md"
#: An agent alone, and one that uses a server of its project.
ALONE = {_AGENT_FILE: _AGENT.format(tools="")}
BESIDE_SERVER = {
    _AGENT_FILE: _AGENT.format(tools="tools: Read, Grep, mcp__issues__search\n"),
    ".mcp.json": '{"mcpServers": {"issues": {"command": "issues-server"}}}\n',
}
#: What makes a folder a repository.
REPOSITORY = {".git/HEAD": "ref: refs/heads/main\n", ".git/info/exclude": ""}


def environment(tree: Tree) -> dict[str, str]:
    """What a cold process sees: these sources, and nothing of the caller that alters a run.

    `-I` would ignore both variables of Python; `-P` and `-s` leave out the rest of what it does.
    """
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": "/nonexistent",
        "PYTHONPATH": os.pathsep.join(map(str, tree.sources)),
        "PYTHONHASHSEED": "0",
    }


def run_cold(tree: Tree, *arguments: str, folder: Path | None = None) -> str:
    """The output of Python in a process of its own, started in a folder, else in the root."""
    done = subprocess.run(
        [sys.executable, "-P", "-s", *arguments],
        cwd=folder or tree.root,
        env=environment(tree),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def run_probe(tree: Tree, probe: str, *arguments: str, folder: Path | None = None) -> str:
    """The output of one of the probes."""
    return run_cold(tree, str(PROBES), probe, *arguments, folder=folder)


def numbers_of_check(tree: Tree, probe: str, package: str, files: dict[str, str]) -> list[int]:
    """The numbers of a probe that checks an agent in a project of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        output = run_probe(tree, probe, package, _AGENT_FILE, folder=Path(folder))
    return [int(each) for each in output.splitlines()[-1].split()]


def cold_figures(package: str, root: Path = ROOT) -> Iterator[Figure]:
    """What one load and one check touch."""
    tree = Tree(root)
    entered, switches = numbers_of_check(tree, "visits", package, ALONE | REPOSITORY)
    yield Figure("check_modules_run", "modules entered by a warm check", entered, "≤ 36")
    yield Figure("check_switches", "switches between them", switches, "≤ 130")
    entered, switches = numbers_of_check(tree, "visits", package, BESIDE_SERVER | REPOSITORY)
    label = "modules entered, agent beside a server"
    yield Figure("check_modules_run_beside_server", label, entered)
    yield Figure("check_switches_beside_server", "switches, agent beside a server", switches)
    most, total = numbers_of_check(tree, "looks", package, ALONE | REPOSITORY)
    label, note = "looks for pyproject.toml in one folder", f"{total} in all folders"
    yield Figure("pyproject_looks", label, most, "1", note)
    most, total = numbers_of_check(tree, "looks", package, ALONE)
    label, note = "the same outside of a repository", f"{total} in all folders"
    yield Figure("pyproject_looks_outside", label, most, "1", note)
    imported, run = map(int, run_probe(tree, "load-modules", package, EXAMPLE).split())
    yield Figure("load_modules_imported", "modules imported by a cold load", imported)
    yield Figure("load_modules_run", "modules run by one load", run)
    checked = int(run_probe(tree, "check-modules", package, EXAMPLE).splitlines()[-1])
    yield Figure("check_modules_imported", "modules imported by a cold check", checked)
    opens = int(run_probe(tree, "opens", package, EXAMPLE))
    yield Figure("root_opens", "opens of the root file per load", opens)


def instructions(package: str, root: Path) -> Figure:
    """The instructions of a cold check of the example, as cachegrind counts them."""
    label = "instructions of a cold check"
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return Figure("check_instructions", label, None, note="there is no valgrind")
    tree = Tree(root)
    check = ["-m", package, "check", EXAMPLE]
    run_cold(tree, *check)  # writes the bytecode
    command = [
        valgrind,
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        *(sys.executable, "-P", "-s"),
        *check,
    ]
    done = subprocess.run(
        command, cwd=root, env=environment(tree), check=True, capture_output=True, text=True
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if counted is None:
        return Figure("check_instructions", label, None, note="valgrind printed no count")
    note = f"python -P -s -m {package} check {EXAMPLE}"
    return Figure("check_instructions", label, int(counted[1].replace(",", "")), note=note)


# ------------------------------------------------------------------------------------------- output


def table(figures: Iterable[Figure], baseline: dict[str, Value]) -> str:
    """The figures in columns."""
    rows = [("", f"at {BASELINE}", "now", "goal", "")]
    for each in figures:
        before, now = _shown(baseline.get(each.name)), _shown(each.value)
        rows.append((each.label, before, now, each.goal, each.note))
    label, before_width, now_width, goal = (max(len(row[at]) for row in rows) for at in range(4))
    lines = []
    for row in rows:
        values = f"{row[1]:>{before_width}}  {row[2]:>{now_width}}"
        lines.append(f"{row[0]:<{label}}  {values}  {row[3]:<{goal}}  {row[4]}".rstrip())
    return "\n".join(lines)


def _shown(value: Value) -> str:
    return "-" if value is None else f"{value:,}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the sources of this tree.")
    parser.add_argument("--names", action="store_true", help="list participles and prepositions")
    parser.add_argument("--instructions", action="store_true", help="count those of a check")
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to measure")
    options = parser.parse_args()
    root = options.tree.resolve()
    package = package_in(root / "src")
    if options.names:
        print(*list_names(Tree(root)), sep="\n")
        return 0
    figures = [*static_figures(package), *cold_figures(package.name, root)]
    if options.instructions:
        figures.append(instructions(package.name, root))
    if options.json:
        print(json.dumps({each.name: each.value for each in figures}, indent=1))
    else:
        print(table(figures, json.loads(BASELINE_FILE.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
