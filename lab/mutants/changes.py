"""Small wrong changes to the functions of a module. What is changed and how, mutmut decides; unlike
mutmut, decorated functions (properties, context managers) are changed, too."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import NEVER_MUTATE_FUNCTION_NAMES, Mutation, MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import get_ignored_lines


@dataclass(frozen=True)
class Change:
    """One wrong change: the function around it, the lines it is on, and the text it leaves."""

    module: str
    function: str
    number: int
    #: The function's lines in the module, which `text` replaces.
    first: int
    last: int
    #: The lines of the statement that was changed: a test that runs none of them notices nothing.
    lines: tuple[int, ...]
    text: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.function}:{self.number}"


class _Visitor(MutationVisitor):
    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef) and node.decorators:
            return node.name.value in NEVER_MUTATE_FUNCTION_NAMES or any(
                isinstance(each.decorator, cst.Name) and each.decorator.value == "overload"
                for each in node.decorators
            )
        return bool(super()._skip_node_and_children(node))


def changes_of(module: str, source: str) -> list[Change]:
    """Every change to the functions of a module, in the order of its lines."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = _Visitor(mutation_operators, get_ignored_lines(module, source, wrapper, None))
    tree = wrapper.visit(visitor)
    places = wrapper.resolve(PositionProvider)
    statements = _Statements(source)
    counts: dict[str, int] = {}
    found = []
    for function, qualified in _functions(tree):
        start = function.decorators[0] if function.decorators else function
        first, last = places[start].start.line, places[function].end.line
        for mutation in visitor.mutations:
            if mutation.contained_by_top_level_function is not function:
                continue
            counts[qualified] = counts.get(qualified, 0) + 1
            at = places[mutation.original_node]
            found.append(
                Change(
                    module,
                    qualified,
                    counts[qualified],
                    first,
                    last,
                    statements.around(at.start.line, at.end.line),
                    _rendered(tree, function, mutation),
                )
            )
    return found


def _functions(tree: cst.Module) -> list[tuple[cst.FunctionDef, str]]:
    found = []
    for statement in tree.body:
        if isinstance(statement, cst.FunctionDef):
            found.append((statement, statement.name.value))
        elif isinstance(statement, cst.ClassDef):
            found += [
                (each, f"{statement.name.value}.{each.name.value}")
                for each in statement.body.body
                if isinstance(each, cst.FunctionDef)
            ]
    return found


def _rendered(tree: cst.Module, function: cst.FunctionDef, mutation: Mutation) -> str:
    changed = function.deep_replace(mutation.original_node, mutation.mutated_node)
    assert isinstance(changed, cst.FunctionDef)
    return tree.code_for_node(changed.with_changes(leading_lines=[]))


class _Statements:
    """Which statement a line belongs to; of a compound one, the lines before its body."""

    def __init__(self, source: str) -> None:
        self._spans: list[tuple[int, int]] = []
        self._bodies: dict[int, tuple[int, int]] = {}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # What is wrong with a parameter shows wherever the function runs.
                self._bodies[node.lineno] = (node.body[0].lineno, node.end_lineno or node.lineno)
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None) or getattr(node, "cases", None)
                last = node.end_lineno or node.lineno
                if body:
                    inner = body[0]
                    start = inner.lineno if isinstance(inner, ast.stmt) else inner.pattern.lineno
                    last = max(node.lineno, start - 1)
                self._spans.append((node.lineno, last))

    def around(self, first: int, last: int) -> tuple[int, ...]:
        inside = [span for span in self._spans if span[0] <= first <= span[1]]
        if not inside:
            return tuple(range(first, last + 1))
        start, end = max(inside)
        if start in self._bodies:
            start, end = self._bodies[start]
        return tuple(range(start, max(end, last) + 1))


def alone(change: Change, source: str) -> str:
    """The changed function on its lines and in its class, without the rest of the module."""
    text = _replacement(change, source)
    owner, dot, _ = change.function.rpartition(".")
    if not dot:
        return "\n" * (change.first - 1) + text
    return "\n" * (change.first - 2) + f"class {owner}:\n" + text


def _replacement(change: Change, source: str) -> str:
    """`code_for_node` leaves out the indent of the block around a method."""
    lines = change.text.splitlines(keepends=True)
    if "." in change.function and not lines[0].startswith(" "):
        # Lines of a triple-quoted string would move, too; the only such strings are docstrings.
        lines = [" " * 4 + line if line.strip() else line for line in lines]
    return "".join(lines)


def shown(change: Change, source: str) -> str:
    """The change as people read it: its lines before and after."""
    old = source.splitlines()[change.first - 1 : change.last]
    new = _replacement(change, source).splitlines()
    pieces = list(difflib.unified_diff(old, new, lineterm="", n=0))[2:]
    # A docstring may have moved with the function.
    moved = {line[1:].strip() for line in pieces if line.startswith("-")}
    moved &= {line[1:].strip() for line in pieces if line.startswith("+")}
    return "\n".join(line for line in pieces if line[:1] in "-+" and line[1:].strip() not in moved)


def codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """All functions in compiled code, by name and first line."""
    found: dict[tuple[str, int], CodeType] = {}
    pending = [code]
    while pending:
        each = pending.pop()
        for constant in each.co_consts:
            if isinstance(constant, CodeType):
                found[constant.co_qualname, constant.co_firstlineno] = constant
                pending.append(constant)
    return found


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
