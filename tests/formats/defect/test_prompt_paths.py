"""Where `prompt.file` may lead: the original's measured answers, and where we are stricter."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from equipage.files.sandbox import MAX_BYTES
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.profile import profiles_of
from lab import TESTS

NUL = "\0"
DATA = json.loads((TESTS / "data" / "resolve_path.json").read_text())
#: The original reads these; we do not, each for a reason that requirements/profile.toml gives.
STRICTER = {
    "link.md": "the last component is followed, too",
    "sub/../../p/system.md": "a path may not leave the folder, not even to come back",
    "../p/system.md": "a path may not leave the folder, not even to come back",
    "<W>/agents/p/system.md": "absolute paths are refused, so that a profile means the same on every machine",
}


def lay_out(folder: Path) -> Path:
    root = folder / ".defect" / "agents" / "p"
    (root / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".defect" / "secret.md").write_text("TOP")
    (root / "system.md").write_text("SYS")
    (root / "link.md").symlink_to(folder / ".defect" / "secret.md")
    (root / "dlink").symlink_to(folder / ".defect")
    (root / "broken").symlink_to("nonexistent")
    (root / "inlink").symlink_to("sub")
    return root


@pytest.mark.requirement("PR-07")
@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: repr(case["requested"]))
def test_prompt_file(case: dict[str, Any], tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    requested = case["requested"].replace("<W>", str(tmp_path / ".defect"))
    config = f"description = 'x'\nprompt = {{ file = {json.dumps(requested)} }}\n"
    (root / "config.toml").write_text(config)
    (found,) = profiles_of(find_layer_folders(tmp_path, env={})).found
    reads = case["read"] == 'Ok("SYS")' and case["requested"] not in STRICTER
    assert (found.outcome.config is not None) == reads
    if found.outcome.config is not None:
        assert found.outcome.config.prompt.text == "SYS"
    else:
        assert "TOP" not in str(found.outcome.diagnostics)
        assert all(each.span is not None and each.span.line == 2 for each in found.outcome.errors)
        assert all(
            f"`prompt.file` `{requested[:60]}" in each.message for each in found.outcome.errors
        )


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _binary(path: Path) -> None:
    path.write_bytes(b"\xff")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)


def _nothing(_path: Path) -> None:
    pass


@pytest.mark.requirement("PR-07")
@pytest.mark.parametrize(
    ("requested", "make", "reason"),
    [
        pytest.param("", _nothing, "the path is empty", id="empty"),
        pytest.param(f"a{NUL}b", _nothing, "the path contains a NUL character", id="a NUL"),
        pytest.param("sub", Path.mkdir, "it is a directory, expected a file", id="a folder"),
        pytest.param(".", _nothing, "it is a directory, expected a file", id="the folder itself"),
        pytest.param("x.md", _pipe, "it is not a regular file", id="a pipe"),
        pytest.param("x.md", _loop, "it leads through too many links", id="a loop"),
        pytest.param(
            "x.md", _binary, "it is not valid UTF-8: byte 0xFF at offset 0", id="not text"
        ),
        pytest.param(
            "x.md", _large, "it is too large: 10485761 bytes (limit: 10485760)", id="too large"
        ),
        pytest.param("x" * 300, _nothing, os.strerror(errno.ENAMETOOLONG), id="a name too long"),
    ],
)
def test_a_path_that_cannot_be_a_prompt(
    requested: str, make: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    root = tmp_path / ".defect" / "agents" / "p"
    root.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    make(root / requested)
    (root / "config.toml").write_text(
        f"description = 'x'\nprompt = {{ file = {json.dumps(requested)} }}\n"
    )
    (problem,) = profiles_of(find_layer_folders(tmp_path, env={})).errors
    assert problem.code == "prompt-file-unusable"
    assert problem.message.startswith(f"invalid `prompt.file` `{requested.partition(NUL)[0][:60]}")
    assert problem.message.endswith(f"`: {reason}")


def test_every_stricter_path_is_one_of_the_cases() -> None:
    assert set(STRICTER) <= {case["requested"] for case in DATA["cases"]}
