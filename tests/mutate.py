"""`mutate.py PART…`: small wrong changes to the parts everything rests on; prints those that no test notices.

Each mutant is one change of one operator, constant or statement, tried against the tests of its part in a process of its
own. `mutate.py --list` names the parts.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.machinery
import importlib.util
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis  # noqa: F401 - imported here, so that no child has to
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "lading"

#: Part → module, the functions and classes that count (none: all), and the tests that must notice: the quick ones,
#: and those that are tried on what passes them.
PARTS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "merge": (
        "tree.py",
        ("merge", "_merge", "_brought", "_append", "graft", "Origins", "select", "_selected", "move", "put", "_set"),
        ("tests/test_tree.py",),
        ("tests/test_cases.py", "tests/kinds/settings"),
    ),
    "environment": (
        "environment.py",
        (),
        ("tests/test_environment.py",),
        ("tests/test_secrets.py", "tests/security/test_environment_values.py", "tests/test_cases.py"),
    ),
    "sandbox": (
        "files.py",
        (),
        ("tests/test_files.py",),
        ("tests/security/test_links.py", "tests/security/test_special_files.py", "tests/test_bad_input.py"),
    ),
    "weight": ("weight.py", (), ("tests/security/test_weight.py",), ()),
    "server limits": ("kinds/server/limits.py", (), ("tests/kinds/server/test_limits.py",), ("tests/test_cases.py",)),
    "json limits": ("syntax/json/limits.py", (), ("tests/syntax/test_json.py",), ()),
    "toml limits": ("syntax/toml/limits.py", (), ("tests/syntax/test_toml.py",), ()),
    "brackets": ("syntax/brackets.py", (), ("tests/syntax/test_json.py", "tests/syntax/test_toml.py"), ()),
}
#: Races and clocks notice nothing more, and take long; random input is not the same every time.
_SLOW = "not swapped and not whole_load and not pipe_in_the_place and not without_end and not linear and not grows"
#: What pytest says about modules that were imported before it looked is no concern here.
_RELAXED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")

Change = tuple[ast.AST, str, Callable[[ast.AST], ast.AST]]

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


def mutants(tree: ast.Module, names: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    """Every mutant of a module: its line, what was changed, and its text."""
    count = len(list(_changes(tree, names)))
    for number in range(count):
        other = copy.deepcopy(tree)
        node, what, change = list(_changes(other, names))[number]
        line = getattr(node, "lineno", 0)
        change(node)
        yield line, what, ast.unparse(ast.fix_missing_locations(other))


def _changes(tree: ast.Module, names: tuple[str, ...]) -> Iterator[Change]:
    for top in tree.body:
        if isinstance(top, ast.FunctionDef | ast.ClassDef) and (not names or top.name in names):
            for node in ast.walk(top):
                yield from _changes_of(node)


def _changes_of(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            if type(operator) in _COMPARISONS:
                yield node, f"{_word(operator)} → {_word(_COMPARISONS[type(operator)]())}", _compare(number)
    elif isinstance(node, ast.BoolOp):
        yield node, "and ↔ or", _swap_bool
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, "not dropped", _drop_not
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and not _is_annotation(node):
        yield node, f"{_word(node.op)} → {_word(_OPERATORS[type(node.op)]())}", _swap_operator
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield node, f"{node.value} → {not node.value}", _negate
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield node, f"{node.value} → {node.value + 1}", _next
    elif isinstance(node, ast.Raise):
        yield node, "raise dropped", _drop
    elif isinstance(node, ast.Continue):
        yield node, "continue → break", _drop
    elif isinstance(node, ast.IfExp):
        yield node, "branches swapped", _swap_branches


def _is_annotation(node: ast.BinOp) -> bool:
    """`int | None` is a type."""
    return isinstance(node.op, ast.BitOr) and any(
        isinstance(side, ast.Name | ast.Subscript) or (isinstance(side, ast.Constant) and side.value is None)
        for side in (node.left, node.right)
    )


def _word(operator: ast.AST) -> str:
    return type(operator).__name__


def _compare(number: int) -> Callable[[ast.AST], ast.AST]:
    def change(node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.Compare)
        node.ops[number] = _COMPARISONS[type(node.ops[number])]()
        return node

    return change


def _swap_bool(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return node


def _drop_not(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.UnaryOp)
    node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    return node


def _swap_operator(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.BinOp)
    node.op = _OPERATORS[type(node.op)]()
    return node


def _negate(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    node.value = not node.value
    return node


def _next(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    node.value += 1
    return node


def _drop(node: ast.AST) -> ast.AST:
    node.__class__ = ast.Pass if isinstance(node, ast.Raise) else ast.Break
    return node


def _swap_branches(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.IfExp)
    node.body, node.orelse = node.orelse, node.body
    return node


class _Mutated(importlib.machinery.SourceFileLoader):
    """Loads one module from another text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> types.CodeType:
        return compile(self.text, self.path, "exec")

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None


def passes(module: str, text: str, tests: tuple[str, ...], seconds: float) -> bool:
    """Whether the tests pass with the changed module; in a child, which starts with pytest imported and no lading."""
    child = os.fork()
    if child == 0:
        _try(module, text, tests)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _try(module: str, text: str, tests: tuple[str, ...]) -> NoReturn:
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    name = "lading." + module.removesuffix(".py").replace("/", ".")
    sys.meta_path.insert(0, _Mutated(name, str(SOURCES / module), text))  # type: ignore[arg-type]
    os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *_RELAXED, "-k", _SLOW, *tests])))


def run(part: str, seconds: float) -> tuple[int, list[str]]:
    module, names, quick, thorough = PARTS[part]
    original = (SOURCES / module).read_text()
    stages = [each for each in (quick, thorough) if each]
    if not all(passes(module, original, tests, seconds) for tests in stages):
        raise SystemExit(f"{part}: the tests fail without any change")
    found = list(mutants(ast.parse(original), names))
    lived = [each for each in found if all(passes(module, each[2], tests, seconds) for tests in stages)]
    return len(found), [f"{module}:{line}: {what}" for line, what, _ in lived]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", nargs="*", help="by default all")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=float, default=120, help="after which a mutant counts as noticed")
    options = parser.parse_args()
    if options.list:
        print("\n".join(PARTS))
        return 0
    os.chdir(ROOT)
    for part in options.part or PARTS:
        count, lived = run(part, options.seconds)
        print(f"{part}: {count} mutants, {count - len(lived)} noticed", flush=True)
        for each in lived:
            print(f"  {each}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
