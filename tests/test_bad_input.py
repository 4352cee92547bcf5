"""Bad input gives a coded finding at once: no traceback, no hang."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lading
from clock import promised


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def codes(name: str = "main.yaml") -> list[str]:
    with promised(0.5):
        report = lading.check([name], kind="server", env={})
    return [each.code for each in report.errors]


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", "document-empty", id="empty"),
        pytest.param(b"# only a comment\n", "document-empty", id="only a comment"),
        pytest.param(b"\x89PNG\r\n\x1a\n\x00\x00", "not-utf8", id="binary"),
        pytest.param("server: é".encode("latin-1"), "not-utf8", id="another encoding"),
        pytest.param(b"server: \x00\n", "control-character", id="NUL"),
        pytest.param(b"server: {name: " + b"x" * 10_000_000 + b"}\n", None, id="a line of 10 MB"),
        pytest.param(b"- " * 30_000, "nesting-too-deep", id="60 kB nested 30,000 deep"),
        pytest.param(b"[" * 1_000_000, "nesting-too-deep", id="a million brackets"),
        pytest.param(b"{a: " * 50_000, "nesting-too-deep", id="flow mappings"),
        pytest.param("\n".join("  " * n + "a:" for n in range(2000)).encode(), "nesting-too-deep", id="block mappings"),
        pytest.param(BOMB.encode(), "alias-bomb", id="an alias bomb of 400 bytes"),
        pytest.param(b"a: &a [*a]\n", "recursive-alias", id="an alias of itself"),
        pytest.param(b"a: *nope\n", "undefined-alias", id="an alias of nothing"),
        pytest.param(b"server: [unclosed\n", "yaml-syntax", id="a bracket left open"),
        pytest.param(b"x: " + b"9" * 100_000 + b"\n", "number-too-long", id="a number of 100,000 digits"),
        pytest.param(b"server: ${X\n", "env-unclosed", id="a variable left open"),
        pytest.param(b"x" * (11 * 1024 * 1024), "file-too-large", id="11 MB"),
    ],
)
def test_one_coded_finding(content: bytes, code: str | None) -> None:
    Path("main.yaml").write_bytes(content)
    found = codes()
    assert code in found if code else "nesting-too-deep" not in found


def test_files_that_are_none() -> None:
    assert codes("missing.yaml") == ["file-missing"]
    Path("folder.yaml").mkdir()
    with pytest.raises(lading.LoadError) as caught:
        lading.load("folder.yaml", kind="server")
    assert [each.code for each in caught.value.errors] == ["file-is-directory"]
    os.mkfifo("pipe.yaml")
    assert codes("pipe.yaml") == ["file-not-regular"]


def test_an_unreadable_file() -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    Path("main.yaml").write_text("server: {}")
    Path("main.yaml").chmod(0)
    assert codes() == ["file-unreadable"]


def test_several_syntax_errors_of_one_file() -> None:
    Path("main.yaml").write_text("a: [1\nb: 2\nc: d: e\nf: {x\ng: fine\nh: 'open\n")
    assert codes() == ["yaml-syntax"] * 4


def test_nobody_knows_the_file() -> None:
    Path("a.yaml").write_text("hello: world\n")
    with pytest.raises(lading.LoadError) as caught:
        lading.load("a.yaml")
    assert [each.code for each in caught.value.diagnostics] == ["unrecognised"]
    assert [each.code for each in lading.check(["a.yaml"]).errors] == ["unrecognised"]
    assert lading.check(["."]).files == ()


def test_strings() -> None:
    loaded = lading.loads("server: {name: '${X}'}\ntools: []\n", kind="server", embedded=True)
    assert loaded.config.server.name == "${X}"
    with pytest.raises(lading.LoadError) as caught:
        lading.loads("server: {name: '\ud800'}", kind="server")
    assert [each.code for each in caught.value.errors] == ["lone-surrogate"]
    with pytest.raises(lading.LoadError) as caught:
        lading.loads("tools: [{$include: x}]", kind="server", embedded=True)
    assert "embedded-directive" in [each.code for each in caught.value.errors]
    with pytest.raises(lading.LoadError) as caught:
        lading.loads("#" * (11 * 1024 * 1024), kind="server")
    assert [each.code for each in caught.value.errors] == ["file-too-large"]


def test_strict_makes_warnings_fail() -> None:
    Path("main.yaml").write_text("server: {name: x, versoin: y}\ntools: []\n")
    assert lading.load("main.yaml").warnings
    with pytest.raises(lading.LoadError):
        lading.load("main.yaml", strict=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lading.loads("", kind="sever"), "did you mean `server`"),
        (lambda: lading.loads("", kind="server", libary="x"), "did you mean `library`"),
        (lambda: lading.loads("", kind="server", library=5), "library"),
    ],
)
def test_wrong_calls_say_what_was_meant(call: object, words: str) -> None:
    with pytest.raises(lading.UsageError, match=words):
        call()  # type: ignore[operator]
