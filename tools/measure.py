"""Measure the sources: how many parts there are, how much a reader reads, what one load touches.

    python tools/measure.py [--instructions] [--json]

The figures are those the structure of the package is held to, each beside its goal. They are of the
tree that this script is in; the package is the one below `src`. What depends on running it is
measured in processes of their own that start cold, with a small environment:

- *modules imported* are those of the package in `sys.modules` when `load` has returned or the
  command has ended; *modules run* are those of which a second load, when nothing is left to import,
  calls a function;
- *opens* count each time that the root file is opened by its name, as an audit hook sees it;
- *instructions* (with `--instructions`, if valgrind is there) are those of the whole process,
  Python's own start included, once the bytecode has been written. They depend on the interpreter
  and on what is installed beside the package, so compare only what the same environment gave.

A *code line* holds part of a statement other than a docstring. Comments are counted twice: the
lines with a comment, after code or alone, of all physical lines; and the lines with nothing but a
comment, of those that are not blank.
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
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = "examples/server/server.yaml"
WIDTH = 100

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


def lines_of(text: str) -> Lines:
    """Count the lines of a module."""
    lines = text.splitlines()
    code: set[int] = set()
    commented: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            commented.add(token.start[0])
        elif token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    code -= set(docstring_lines(ast.parse(text)))
    filled = {number for number, line in enumerate(lines, start=1) if line.strip()}
    return Lines(
        physical=len(lines),
        filled=len(filled),
        code=len(code & filled),
        commented=len(commented),
        comments=sum(lines[number - 1].lstrip().startswith("#") for number in commented),
        wide=sum(len(line) > WIDTH for line in lines),
    )


def docstring_lines(tree: ast.Module) -> Iterator[int]:
    """The numbers of all lines with docstrings: of the module, its classes, functions, fields."""
    for node in ast.walk(tree):
        # No other statement is a mere string.
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def fields_of(name: str, modules: Iterable[Path]) -> int | None:
    """How many annotated fields the class of a name has; of several such classes, the largest."""
    counts = [
        sum(isinstance(each, ast.AnnAssign) for each in node.body)
        for path in modules
        if f"class {name}(" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    return max(counts, default=None)


def static_figures(package: Path) -> Iterator[Figure]:
    """What can be said without running anything."""
    modules = sorted(package.rglob("*.py"))
    lines = sum((lines_of(path.read_text(encoding="utf-8")) for path in modules), Lines())
    top = [path for path in package.iterdir() if path.suffix == ".py"]
    yield Figure("modules", "modules", len(modules), "≤ 156")
    yield Figure("top_files", "modules at the top", len(top), "≤ 12")
    layers, where = layers_of(ROOT)
    yield Figure("layers", "layers", layers, "12", where)
    note = "without blanks, comments, docstrings"
    yield Figure("code_lines", "code lines in src", lines.code, "≤ 22,000", note)
    yield Figure("physical_lines", "physical lines in src", lines.physical)
    reading, which = reading_list(ROOT, package)
    yield Figure("reading_lines", "reading list, lines", reading, "≤ 1,500", which)
    yield Figure("kind_fields", "fields of `Kind`", fields_of("Kind", modules), "≤ 14")
    commented = round(100 * lines.commented / lines.physical, 2)
    note = "lines with a comment, per 100 physical lines"
    yield Figure("comments_per_100", "comments per 100 lines", commented, note=note)
    comments = round(100 * lines.comments / lines.filled, 2)
    note = "lines with nothing but a comment, per 100 that are not blank"
    yield Figure("comment_lines_per_100", "comment lines per 100 lines", comments, "≥ 4", note)
    share = f"{100 * lines.wide / lines.filled:.1f} % of those that are not blank"
    yield Figure("wide_lines", f"lines over {WIDTH} columns", lines.wide, "0", share)


def layers_of(root: Path) -> tuple[int | None, str]:
    """How many layers the imports are held to, and where that is written.

    That is the longest contract of import-linter; before there was one, the list of the layer test.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    linter = project.get("tool", {}).get("importlinter")
    if linter is not None:
        contracts = [each for each in linter.get("contracts", ()) if each.get("type") == "layers"]
        return max((len(each["layers"]) for each in contracts), default=0), "import-linter"
    test = root / "tests" / "test_architecture.py"
    if test.is_file():
        for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS":
                return len(ast.literal_eval(node.value)), test.relative_to(root).as_posix()
    return None, "neither a contract of import-linter nor a layer test"


_READING = re.compile(r"^#+ Read in this order$(?P<text>.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def reading_list(root: Path, package: Path) -> tuple[int | None, str]:
    """How many lines the modules have that ARCHITECTURE.md says to read first, and what was found.

    The list is the numbered one; each item begins with the name of a module or a package, as in
    `syntax/document` or `kinds/server/`. What the section recommends after it does not count.
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


# ----------------------------------------------------------------------------------- cold processes

#: Prints how many modules one load imports, and how many a second one runs.
_LOAD = """\
import sys

package, file = sys.argv[1:]
run = set()

def ours(names):
    return sum(each.partition(".")[0] == package for each in names)

def called(frame, event, _argument):
    if event == "call":
        run.add(frame.f_globals.get("__name__", ""))

load = __import__(package).load
load(file, env={})
imported = ours(sys.modules)
sys.setprofile(called)
load(file, env={})
sys.setprofile(None)
print(imported, ours(run))
"""
#: Prints how many modules a check imports, on the line after its report.
_CHECK = """\
import sys
from importlib import import_module

package, file = sys.argv[1:]
import_module(package + ".cli").main(["check", file])
print(sum(each.partition(".")[0] == package for each in sys.modules))
"""
#: Prints how often a load opens the root file by its name, whatever folder the name is relative to.
_OPENS = """\
import os, sys

package, file = sys.argv[1:]
opens = 0

def hook(event, arguments):
    global opens
    if event == "open" and isinstance(arguments[0], str):
        opens += os.path.basename(arguments[0]) == os.path.basename(file)

load = __import__(package).load
sys.addaudithook(hook)
load(file, env={})
print(opens)
"""


def environment() -> dict[str, str]:
    """What a cold process sees: these sources, and nothing of the caller that alters a run.

    `-I` would ignore both variables of Python; `-P` and `-s` leave out the rest of what it does.
    """
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": "/nonexistent",
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONHASHSEED": "0",
    }


def cold(*arguments: str) -> str:
    """The output of Python in a process of its own, started in the root of the repository."""
    command = [sys.executable, "-P", "-s", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True
    )
    return done.stdout


def cold_figures(package: str) -> Iterator[Figure]:
    """What one load and one check of the example touch."""
    imported, run = map(int, cold("-c", _LOAD, package, EXAMPLE).split())
    yield Figure("load_modules_imported", "modules imported by a cold load", imported)
    yield Figure("load_modules_run", "modules run by one load", run, "≤ 40")
    checked = int(cold("-c", _CHECK, package, EXAMPLE).splitlines()[-1])
    yield Figure("check_modules_imported", "modules imported by a cold check", checked, "≤ 70")
    opens = int(cold("-c", _OPENS, package, EXAMPLE))
    yield Figure("root_opens", "opens of the root file per load", opens, "1")


def instructions(package: str) -> Figure:
    """The instructions of a cold check of the example, as cachegrind counts them."""
    label = "instructions of a cold check"
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return Figure("check_instructions", label, None, note="there is no valgrind")
    check = ["-m", package, "check", EXAMPLE]
    cold(*check)  # writes the bytecode
    command = [
        valgrind,
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        *(sys.executable, "-P", "-s"),
        *check,
    ]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(), check=True, capture_output=True, text=True
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if counted is None:
        return Figure("check_instructions", label, None, note="valgrind printed no count")
    note = f"python -P -s -m {package} check {EXAMPLE}"
    return Figure("check_instructions", label, int(counted[1].replace(",", "")), note=note)


# ------------------------------------------------------------------------------------------- output


def table(figures: Iterable[Figure]) -> str:
    """The figures in columns."""
    rows = [("", "now", "goal", "")]
    rows += [(each.label, _shown(each.value), each.goal, each.note) for each in figures]
    label, value, goal = (max(len(row[column]) for row in rows) for column in range(3))
    lines = []
    for row in rows:
        line = f"{row[0]:<{label}}  {row[1]:>{value}}  {row[2]:<{goal}}  {row[3]}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _shown(value: Value) -> str:
    return "-" if value is None else f"{value:,}"


def package_in(sources: Path) -> Path:
    """The package below `src`. Exits unless there is exactly one."""
    packages = sorted(path.parent for path in sources.glob("*/__init__.py"))
    if len(packages) != 1:
        sys.exit(f"there are {len(packages)} packages in src, expected one")
    return packages[0]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the sources of this tree.")
    parser.add_argument("--instructions", action="store_true", help="count those of a check")
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    options = parser.parse_args()
    package = package_in(ROOT / "src")
    figures = [*static_figures(package), *cold_figures(package.name)]
    if options.instructions:
        figures.append(instructions(package.name))
    if options.json:
        print(json.dumps({each.name: each.value for each in figures}, indent=1))
    else:
        print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
