"""Prose and names are plain: neither has words that make a reader stop.

CONTRIBUTING.md says what to write instead: subject, verb, object, with the product or the user as
the subject. A function is named by what it does or returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import REPOSITORY, environment, matching, module_at

#: “there is no file” says what is missing; “a README is no agent” wants “is not an agent”. Words
#: may be on two lines, as long as the lines belong to one sentence.
AVOIDED = re.compile(
    r"\b(?:is|are|was|were|being)\s+told\b"
    r"|\bstands?\b"
    r"|(?<!there )(?<!there\n)\b(?:is|are|was)\s+no\b(?!\s+(?:longer|such|more)\b)"
    r"|\b(?:nobody|somebody|whoever)\b(?!-)"
    r"|\bmend(?:s|ed|ing)?\b"
    r"|\bpasse[sd]\s+over\b"
    r"|\bkeeps?\s+from\s+existing\b"
    r'|"""The same ',
    re.IGNORECASE,
)
#: What separates the words of an identifier: `stands_alone`, `StandsAlone`.
BETWEEN_WORDS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
#: Constants of codes are named as their codes are.
NAMES_OF_CODES = {"FILE_PASSED_OVER"}
#: Functions whose name is a participle or begins with a preposition, by module. One that is gone or
#: has a better name must leave the list.
EXCUSED = {
    # A method of uvicorn.
    "equipage_serve/wire/http": {"_TimedConnection.on_response_complete"},
    # What comes of a value: the workspace after an edit, the files for the next load.
    "files/reading": {"Files.for_next_load"},
    "workspace/__init__": {"Workspace.after"},
    # What is written in a text, part by part: the same question to every syntax.
    "syntax/__init__": {"Engine.written"},
    "syntax/json": {"written"},
    "syntax/toml_places": {"written"},
    "syntax/yaml/__init__": {"written"},
    "syntax/yaml/places": {"written"},
    "syntax/variables": {"Substituted.without"},
}
FOLDERS = (
    "src", "packages/equipage-serve/src", "packages/equipage-faults/src", "docs", "examples",
    "requirements", "tools", "lab", "tests/cases", "tests/cli/cases"
)  # fmt: skip
SUFFIXES = {".css", ".md", ".py", ".pyi", ".toml", ".yaml", ".yml"}
#: Folders of environments and of other people's data.
NOT_OURS = re.compile(r"/(?:\.venv|node_modules|data/|\.clients)")


def pages() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in matching(REPOSITORY / folder, "**/*"):
            inside = f"/{path.relative_to(REPOSITORY).as_posix()}"
            if path.suffix in SUFFIXES and not NOT_OURS.search(inside) and path.is_file():
                yield path
    yield from matching(REPOSITORY, "*.md", "packages/*/*.md")


def split_identifiers(text: str) -> str:
    """A text with the words of its identifiers apart."""
    for each in NAMES_OF_CODES:
        text = text.replace(each, "")
    # A private name keeps a mark, or `is _NO_VALUE` would become “is no value”.
    text = re.sub(r"\b_+", "`", text)
    return BETWEEN_WORDS.sub(" ", text)


def test_words_that_stop_a_reader_are_not_used() -> None:
    found = []
    for path in pages():
        text = split_identifiers(path.read_text(encoding="utf-8"))
        for each in AVOIDED.finditer(text):
            number = text.count("\n", 0, each.start()) + 1
            around = text[max(0, each.start() - 40) : each.end() + 40]
            found.append(f"{path.relative_to(REPOSITORY)}:{number}: {each[0]!r} in {around!r}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("there is no file `a.md`", False),
        ("it is no longer read", False),
        ("a README is no agent", True),
        ("files that are no\n# agents", True),
        ("there\nare no agents", False),
        ("Nobody reads it", True),
        ("written to standard output", False),
        ("where the key stands", True),
        ("if ref_stands_alone:", True),
        ("class _StandsAlone:", True),
        ("if value is _NO_VALUE:", False),
        ("standard_output = FILE_PASSED_OVER", False),
    ],
)
def test_what_counts_as_such_a_word(line: str, bad: bool) -> None:
    assert bool(AVOIDED.search(split_identifiers(line))) is bad


def test_functions_are_named_by_what_they_do_or_return(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = module_at(REPOSITORY / "tools" / "measure.py")
    # Its processes are watched as those of any test.
    monkeypatch.setattr(measure, "environment", lambda tree: environment(*tree.sources))
    found: dict[str, set[str]] = {}
    for each, _ in measure.unclear_names(measure.Tree(REPOSITORY)):
        module = each.module.file.removeprefix("equipage/").removesuffix(".py")
        found.setdefault(module, set()).add(each.qualified)
    assert found == EXCUSED
