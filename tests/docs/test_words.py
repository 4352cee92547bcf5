"""Prose is plain: docstrings, comments, messages and pages avoid words that make a reader stop.

CONTRIBUTING.md says what to write instead: subject, verb, object, with the product or the user as
the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import REPOSITORY, matching

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
FOLDERS = (
    "src", "docs", "examples", "requirements", "tools", "bench", "tests/cases", "tests/cli/cases"
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
    yield from matching(REPOSITORY, "*.md")


def test_words_that_stop_a_reader_are_not_used() -> None:
    found = []
    for path in pages():
        text = path.read_text(encoding="utf-8")
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
    ],
)
def test_what_counts_as_such_a_word(line: str, bad: bool) -> None:
    assert bool(AVOIDED.search(line)) is bad
