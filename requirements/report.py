"""Makes CONFORMANCE.md, and for the site the tables of the requirements and their tests.

Requirements and deviations are rows of `requirements/*.toml`. A test claims ids with
`@pytest.mark.requirement("F-001")`; a case file with a line `Shows: F-001, EC-LOAD-003`.
Run it with `make conformance`; a test fails if the page is stale, if a requirement has no test, or
if a test claims an unknown id.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: The tests of every distribution.
TESTS = (ROOT / "tests", *sorted(ROOT.glob("packages/*/tests")))
PAGE = ROOT / "CONFORMANCE.md"

_SHOWS = re.compile(r"^Shows:\s*(.+)$", re.MULTILINE)

_HEAD = """\
# Conformance

Made by `make conformance` from `requirements/*.toml` and the tests; do not edit. *Deviations* are
the places where equipage differs from a seed's original or a fact sheet, with the reason. The site
has the full tables: each requirement of the seed documents with the tests that show it.
"""


@cache
def claims() -> dict[str, list[str]]:
    """Requirement id → the tests that claim it."""
    found: dict[str, list[str]] = {}
    for identity, test in [*_from_code(), *_from_cases()]:
        tests = found.setdefault(identity, [])
        if test not in tests:
            tests.append(test)
    return found


def _from_code() -> Iterator[tuple[str, str]]:
    for path in sorted(path for folder in TESTS for path in folder.rglob("*.py")):
        text = path.read_text()
        if "mark.requirement(" not in text:
            continue
        nodes = list(ast.walk(ast.parse(text)))
        where = path.relative_to(ROOT).as_posix()
        decorators = {
            id(decorator)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            for decorator in node.decorator_list
        }
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                for identity in _marked(node):
                    yield identity, f"{where}::{node.name}"
            # Any other marker is in `pytest.param(…, marks=…)`.
            elif isinstance(node, ast.Call) and id(node) not in decorators and _is_marker(node):
                for argument in node.args:
                    yield ast.literal_eval(argument), where


def _marked(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _is_marker(decorator):
            for argument in decorator.args:
                yield ast.literal_eval(argument)


def _is_marker(call: ast.Call) -> bool:
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "requirement"
    return named and ast.unparse(call.func) == "pytest.mark.requirement"


def _from_cases() -> Iterator[tuple[str, str]]:
    for path in sorted(path for folder in TESTS for path in folder.rglob("cases/**/*.md")):
        for match in _SHOWS.finditer(path.read_text()):
            for identity in re.split(r"[,\s]+", match[1].strip()):
                yield identity, path.relative_to(ROOT).as_posix()


def documents() -> list[dict[str, Any]]:
    """The requirement files, in order of their names."""
    return [
        {"name": path.stem, **tomllib.loads(path.read_text())}
        for path in sorted((ROOT / "requirements").glob("*.toml"))
    ]


def page() -> str:
    """The text of CONFORMANCE.md: how much is shown, and every deviation."""
    shown = claims()
    parts = [_HEAD, "| document | requirements | shown by a test | deviations |\n|---|--:|--:|--:|"]
    for document in documents():
        rows = document.get("requirement", [])
        count = sum(row["id"] in shown for row in rows)
        differing = len(document.get("deviation", []))
        parts.append(f"| {_title(document)} | {len(rows)} | {count} | {differing} |")
    for document in documents():
        if document.get("deviation"):
            parts += [f"\n## {_title(document)}\n", *_deviations(document)]
    return "\n".join(parts) + "\n"


def tables() -> Iterator[tuple[str, str]]:
    """For each document the name and the text of its page on the site."""
    shown = claims()
    for document in documents():
        parts = [f"# {_title(document)}\n", "| id | requirement | shown by |\n|---|---|---|"]
        for row in document.get("requirement", []):
            tests = "<br>".join(f"`{test}`" for test in shown.get(row["id"], []))
            parts.append(f"| {row['id']} | {_cell(row['text'])} | {tests} |")
        if document.get("deviation"):
            parts += ["\n## Deviations\n", *_deviations(document)]
        yield f"{document['name']}.md", "\n".join(parts) + "\n"


def _title(document: dict[str, Any]) -> str:
    return str(document.get("title", document["name"]))


def _deviations(document: dict[str, Any]) -> list[str]:
    rows = document["deviation"]
    listed = [f"| {row['id']} | {_cell(row['what'])} | {_cell(row['why'])} |" for row in rows]
    return ["| where | what | why |\n|---|---|---|", *listed]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def problems() -> list[str]:
    """Requirements without a test, requirements that are listed twice, and unknown ids."""
    known = [row["id"] for document in documents() for row in document.get("requirement", [])]
    shown = claims()
    return [
        *(f"requirement {each} has no test" for each in known if each not in shown),
        *(
            f"{test} claims {each}, an unknown requirement"
            for each in shown
            if each not in known
            for test in shown[each]
        ),
        *(
            f"requirement {each} is listed twice"
            for each in {each for each in known if known.count(each) > 1}
        ),
    ]


if __name__ == "__main__":
    PAGE.write_text(page())
    for problem in problems():
        print(problem, file=sys.stderr)
    sys.exit(bool(problems()))
