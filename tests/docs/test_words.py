"""Prose is plain: docstrings, comments, messages and pages avoid words that make a reader stop.

CONTRIBUTING.md says what to write instead: subject, verb, object, with the product or the user as
the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import REPOSITORY

pytestmark = pytest.mark.long

#: “there is no file” says what is missing; “a README is no agent” wants “is not an agent”.
AVOIDED = re.compile(
    r"\b(?:is|are|was) told\b"
    r"|\bstands?\b"
    r"|(?<!there )\bis no\b(?! (?:longer|such)\b)"
    r"|\b(?:nobody|somebody|whoever)\b(?!-)"
    r"|\bmend(?:s|ed|ing)?\b"
    r"|\bpassed over\b"
    r"|\bkeeps? from existing\b"
    r'|"""The same ',
    re.IGNORECASE,
)
FOLDERS = ("src", "docs", "examples", "requirements", "tools")
SUFFIXES = {".md", ".py", ".pyi", ".toml"}


def pages() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            # Pages that are made contain the text of examples.
            made = "reference/codes/" in path.as_posix() or "reference/kinds/" in path.as_posix()
            if path.suffix in SUFFIXES and path.is_file() and not made:
                yield path
    yield from sorted(REPOSITORY.glob("*.md"))


def test_words_that_stop_a_reader_are_not_used() -> None:
    found = []
    for path in pages():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found += [
                f"{path.relative_to(REPOSITORY)}:{number}: {each[0]!r} in {line.strip()[:80]!r}"
                for each in AVOIDED.finditer(line)
            ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("there is no file `a.md`", False),
        ("it is no longer read", False),
        ("a README is no agent", True),
        ("Nobody reads it", True),
        ("written to standard output", False),
        ("where the key stands", True),
    ],
)
def test_what_counts_as_such_a_word(line: str, bad: bool) -> None:
    assert bool(AVOIDED.search(line)) is bad
