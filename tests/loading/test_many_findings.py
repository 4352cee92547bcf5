"""However much is wrong with a file, a report stays readable, and so does its cost."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from clock import promised
from equipage.core.diagnostics import MAX_FACTS_PER_CODE
from equipage.loading.findings import MAX_FINDINGS_PER_CODE
from equipage.loading.session import Request
from equipage.project.settings import load_in_project
from lab import write

HEAD = "server: {name: x}\ntools: []\n"


def found(text: str, tmp_path: Path) -> list[equipage.Diagnostic]:
    write(tmp_path, {"a.yaml": text})
    return list(equipage.check([tmp_path / "a.yaml"], env={}).diagnostics)


def test_findings_of_one_code_are_capped(tmp_path: Path) -> None:
    text = HEAD + "".join(f"k{number}: 1\n" for number in range(5_000)) + "server: {name: y}\n"
    diagnostics = found(text, tmp_path)
    unknown = [each for each in diagnostics if each.code == "unknown-field"]
    assert len(unknown) == MAX_FINDINGS_PER_CODE + 1
    rest = next(each for each in unknown if each.span is None)
    assert rest.message == "4,900 more findings of this code in the file, not shown"
    assert (rest.severity, rest.count) == ("warning", 4_900)
    assert "duplicate-key" in {each.code for each in diagnostics}, "other codes are shown"


def test_as_many_as_are_shown_are_all_shown(tmp_path: Path) -> None:
    text = HEAD + "".join(f"k{number}: 1\n" for number in range(MAX_FINDINGS_PER_CODE))
    diagnostics = found(text, tmp_path)
    assert len(diagnostics) == MAX_FINDINGS_PER_CODE
    assert all(each.span is not None for each in diagnostics)


def test_a_comment_is_not_unused_because_of_the_cap(tmp_path: Path) -> None:
    keys = [f"k{number}: 1" for number in range(300)]
    keys[-1] += "  # equipage: ignore[unknown-field]"
    assert {each.code for each in found(HEAD + "\n".join(keys), tmp_path)} == {"unknown-field"}


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
        outcome = load_in_project(str(tmp_path / "a.yaml"), Request(env={}), kind="server")
    assert outcome.session is not None
    assert len(outcome.session.facts) <= 2 * (MAX_FACTS_PER_CODE + 1)
    assert len(outcome.diagnostics) <= 2 * (MAX_FINDINGS_PER_CODE + 1)


# Comments: what they silence is not counted, and what is said about them is capped, too.

_KEYS = range(MAX_FINDINGS_PER_CODE + 50)
_IGNORED = "  # equipage: ignore[unknown-field]"


@pytest.mark.parametrize(
    ("first", "last", "left"),
    [
        pytest.param(_IGNORED, _IGNORED, 0, id="all are ignored"),
        pytest.param(_IGNORED, "", len(_KEYS), id="the first ones are ignored"),
        pytest.param("", _IGNORED, len(_KEYS), id="the last ones are ignored"),
    ],
)
def test_what_comments_silence_is_not_counted(
    tmp_path: Path, first: str, last: str, left: int
) -> None:
    keys = [f"a{number}: 1{first}" for number in _KEYS] + [
        f"b{number}: 1{last}" for number in _KEYS
    ]
    diagnostics = found(HEAD + "\n".join(keys), tmp_path)
    assert {each.code for each in diagnostics} <= {"unknown-field"}
    assert sum(each.count for each in diagnostics) == left
    assert len(diagnostics) <= MAX_FINDINGS_PER_CODE + 1


@pytest.mark.parametrize(
    ("word", "code"), [("unknown-field", "unused-ignore"), ("x", "unknown-code")]
)
def test_findings_about_comments_are_capped(tmp_path: Path, word: str, code: str) -> None:
    diagnostics = found(HEAD + f"# equipage: ignore[{word}]\n" * len(_KEYS), tmp_path)
    assert {each.code for each in diagnostics} == {code}
    assert len(diagnostics) == MAX_FINDINGS_PER_CODE + 1
    assert sum(each.count for each in diagnostics) == len(_KEYS)


def test_each_file_of_a_load_has_a_cap_of_its_own(tmp_path: Path) -> None:
    keys = "".join(f"k{number} = 1\n" for number in _KEYS)
    names = [".defect/config.local.toml", ".defect/config.toml"]
    write(tmp_path, {".git/HEAD": "", **dict.fromkeys(names, keys)})
    rest = [each for each in equipage.check([tmp_path], env={}).errors if each.span is None]
    assert [(str(each.name).rpartition("/.")[2], each.count) for each in rest] == [
        ("defect/config.local.toml", 50),
        ("defect/config.toml", 50),
    ]


def test_what_is_not_shown_of_a_shared_file_is_counted_once(tmp_path: Path) -> None:
    tool = "tool: {name: a, description: d, inputSchema: {type: object}}\n"
    tool += "response: {content: [{type: text, text: done}]}\n"
    tool += "".join(f"k{number}: 1\n" for number in _KEYS)
    server = "server: {name: x}\ntools: [{$include: t.yaml}]\n"
    write(tmp_path, {".git/HEAD": "", "library/t.yaml": tool, "a.yaml": server, "b.yaml": server})
    rest = [each for each in equipage.check([tmp_path], env={}).warnings if each.span is None]
    assert [each.count for each in rest] == [50]
    assert str(rest[0].name).endswith("library/t.yaml")
