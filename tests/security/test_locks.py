"""A lock: one byte changed in any source is named; it fails only where the meaning changed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from equipage.cli import main
from equipage.loading.session import Request
from equipage.record.lock import _seal, lock_all, read, write
from equipage.record.verify import compare
from lab import load, repository

FILES = {
    "main.yaml": "# a comment\nserver: {name: a, version: 1.0.0}\ntools:\n  - $include: one.yaml\n  - $include: two.yaml\n",
    "library/one.yaml": "# one\ntool: {name: one, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, $file: text.txt}]}\n",
    "library/two.yaml": "tool:\n  name: two\n  description: d # why\n  inputSchema: {type: object}\nresponse:\n  content: [{type: text, text: t}]\n",
    "library/text.txt": "some text\n",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repository(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    assert main(["lock", "main.yaml", "--output", "main.lock"]) == 0
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["verify", "--lock", "main.lock"])
    return code, capsys.readouterr().out


def test_nothing_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys)
    assert (code, text) == (0, "nothing changed\n")


@pytest.mark.parametrize("name", FILES)
def test_one_byte_anywhere(name: str, project: Path) -> None:
    """Every byte of a source, changed: its file is listed, and whether the meaning changed."""
    old = read((project / "main.lock").read_bytes())
    original = (project / name).read_bytes()
    rng = random.Random(name)
    for place in rng.sample(range(len(original)), min(40, len(original))):
        changed = bytearray(original)
        changed[place] = ord("x") if changed[place] != ord("x") else ord("y")
        (project / name).write_bytes(bytes(changed))
        new, _ = lock_all(["main.yaml"], str(project), Request(env={}), jobs=1)
        found = compare(old, new)
        assert name in (*found.changed, *found.removed), place
        loaded = load("main.yaml").loaded_or_none()
        is_same = loaded is not None and _meaning(project) == loaded.to_dict()
        assert found.matters != is_same, place
    (project / name).write_bytes(original)


def _meaning(project: Path) -> object:
    """What the files come to as they were written at first."""
    kept = {name: (project / name).read_bytes() for name in FILES}
    for name, text in FILES.items():
        (project / name).write_text(text)
    loaded = load("main.yaml").loaded_or_none()
    for name, data in kept.items():
        (project / name).write_bytes(data)
    assert loaded is not None
    return loaded.to_dict()


def test_keys_in_another_order(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "library" / "two.yaml").write_text(
        "response:\n  content: [{text: t, type: text}]\ntool:\n  inputSchema: {type: object}\n  description: d\n  name: two\n"
    )
    code, text = said(capsys)
    assert code == 0
    assert "source changed: library/two.yaml" in text
    assert "meaning" not in text.splitlines()[0]


def test_a_changed_meaning_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "library" / "text.txt").write_text("Some text\n")
    code, text = said(capsys)
    assert code == 1
    assert "source changed: library/text.txt" in text


def test_a_source_more_or_less(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "library" / "three.yaml").write_text(
        FILES["library/two.yaml"].replace("two", "three")
    )
    (project / "main.yaml").write_text(FILES["main.yaml"].replace("two.yaml", "three.yaml"))
    code, text = said(capsys)
    assert code == 1
    assert "source added: library/three.yaml" in text
    assert "source removed: library/two.yaml" in text


@pytest.mark.parametrize(
    "bad", [b"", b"{}", b"[]", b"\xff", b'{"lock": 1}', b"[" * 100_000, b"null"]
)
def test_a_lock_that_is_none(bad: bytes, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "main.lock").write_bytes(bad)
    code, _ = said(capsys)
    assert code == 2


def test_a_forged_lock_proves_nothing_else(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock that leaves out a source is caught: the sources are those of the load, not of the
    lock."""
    lock = read((project / "main.lock").read_bytes())
    files = {name: each for name, each in lock.files.items() if not name.endswith("two.yaml")}
    lock = msgspec.structs.replace(lock, files=files)
    lock = msgspec.structs.replace(lock, seal=_seal(lock))
    (project / "main.lock").write_text(write(lock))
    _, text = said(capsys)
    assert "source added: library/two.yaml" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("grüße.yaml".encode(), "grüße.yaml", id="the same under every locale"),
        pytest.param(b"a\xff.yaml", "a\\xff.yaml", id="no UTF-8"),
    ],
)
def test_names_that_are_not_ascii(name: bytes, shown: str, project: Path) -> None:
    Path(os.fsdecode(name)).write_text(FILES["main.yaml"])
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable.encode(), b"-m", b"equipage", b"lock", b"--kind", b"server"]
    for locale in ({"LC_ALL": "C.UTF-8"}, bare):
        done = subprocess.run(
            [*command, name, b"-o", b"-"],
            stdout=subprocess.PIPE,
            env={**os.environ, **locale},
            check=True,
        )
        lock = read(done.stdout)
        assert list(lock.items) == [shown]
        assert shown in lock.files
