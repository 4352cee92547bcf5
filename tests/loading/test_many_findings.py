"""However much is wrong with a file, a report stays readable, and so does its cost."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from clock import promised
from equipage.core.diagnostics import MOST_FACTS
from equipage.loading.findings import MOST_SHOWN
from equipage.loading.session import Request
from equipage.workspace.project import load_one
from lab import write

HEAD = "server: {name: x}\ntools: []\n"


def found(text: str, tmp_path: Path) -> list[equipage.Diagnostic]:
    write(tmp_path, {"a.yaml": text})
    return list(equipage.check([tmp_path / "a.yaml"], env={}).diagnostics)


def test_findings_of_one_code_are_capped(tmp_path: Path) -> None:
    text = HEAD + "".join(f"k{number}: 1\n" for number in range(5_000)) + "server: {name: y}\n"
    diagnostics = found(text, tmp_path)
    unknown = [each for each in diagnostics if each.code == "unknown-field"]
    assert len(unknown) == MOST_SHOWN + 1
    rest = next(each for each in unknown if each.span is None)
    assert rest.message == "4,900 more findings of this code in the file, not shown"
    assert (rest.severity, rest.count) == ("warning", 4_900)
    assert "duplicate-key" in {each.code for each in diagnostics}, "other codes are shown"


def test_as_many_as_are_shown_are_all_shown(tmp_path: Path) -> None:
    text = HEAD + "".join(f"k{number}: 1\n" for number in range(MOST_SHOWN))
    diagnostics = found(text, tmp_path)
    assert len(diagnostics) == MOST_SHOWN
    assert all(each.span is not None for each in diagnostics)


def test_a_comment_is_not_unused_because_of_the_cap(tmp_path: Path) -> None:
    keys = [f"k{number}: 1" for number in range(300)]
    keys[-1] += "  # equipage: ignore[unknown-field]"
    assert {each.code for each in found(HEAD + "\n".join(keys), tmp_path)} == {"unknown-field"}


@pytest.mark.long
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param("a: 1\n" * 20_000, id="the same key again and again"),
        pytest.param("".join(f"k{n}: 1\n" for n in range(20_000)), id="unknown keys"),
    ],
)
def test_what_is_not_shown_is_not_made(keys: str, tmp_path: Path) -> None:
    """Facts that nobody will read cost neither time nor memory."""
    with promised(10):
        write(tmp_path, {"a.yaml": HEAD + keys})
        outcome = load_one(str(tmp_path / "a.yaml"), Request(env={}), kind="server")
    assert outcome.session is not None
    assert len(outcome.session.facts) <= 2 * (MOST_FACTS + 1)
    assert len(outcome.diagnostics) <= 2 * (MOST_SHOWN + 1)
