"""Skills as they are served: frozen folders, and what clients would not accept is refused."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from equipage.serve.confinement import Unservable
from equipage.serve.skills import frozen_skill
from lab import Link, write

HEADER = "---\nname: notes\ndescription: Writes notes.\n---\nDo it.\n"


def skill(
    folder: Path, header: str = HEADER, files: dict[str, Any] | None = None, **more: Any
) -> Any:
    write(folder, {"notes/SKILL.md": header, **(files or {})})
    return frozen_skill(str(folder / "notes" / "SKILL.md"), **more)


def test_every_file_with_its_digest(tmp_path: Path) -> None:
    found = skill(tmp_path, files={"notes/a/b c#?%ü.txt": "x", "notes/image.png": b"\x89PNG\xff"})
    entry = found.entry()
    assert entry["uri"] == "skill://notes/SKILL.md"
    assert entry["frontmatter"] == {"name": "notes", "description": "Writes notes."}
    assert [each["uri"] for each in entry["resources"]] == [
        "skill://notes/SKILL.md",
        "skill://notes/a/b%20c%23%3F%25%C3%BC.txt",
        "skill://notes/image.png",
    ]
    digest = hashlib.sha256(HEADER.encode()).hexdigest()
    assert entry["resources"][0] == {
        "uri": "skill://notes/SKILL.md",
        "digest": f"sha256:{digest}",
        "size": len(HEADER),
    }
    by_name = {each.name: each for each in found.files}
    assert by_name["image.png"].text is None
    assert by_name["SKILL.md"].mime_type == "text/markdown"


def test_bytes_are_those_of_the_load(tmp_path: Path) -> None:
    text = "\ufeff---\r\nname: notes\r\ndescription: d\r\n---\r\nx"
    found = skill(tmp_path, text)
    os.unlink(tmp_path / "notes" / "SKILL.md")
    assert found.files[0].data == text.encode()


def test_folders(tmp_path: Path) -> None:
    folders = skill(tmp_path, files={"notes/a/b.txt": "x", "notes/a/c/d.txt": "x"}).folders()
    assert [each["uri"] for each in folders["skill://notes"]] == [
        "skill://notes/SKILL.md",
        "skill://notes/a",
    ]
    assert folders["skill://notes"][1]["mimeType"] == "inode/directory"
    assert [each["name"] for each in folders["skill://notes/a"]] == ["a/b.txt", "c"]


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    files = {
        "notes/.git/config": "x",
        "notes/__pycache__/a.pyc": "x",
        "notes/a.txt~": "x",
        "notes/link": Link("../secret"),
        "notes/kept.txt": "x",
    }
    found = skill(tmp_path, files=files)
    assert sorted(found.left_out) == [".git", "__pycache__", "a.txt~", "link"]
    assert [each.name for each in found.files] == ["SKILL.md", "kept.txt"]


def test_values_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    """Clients compare the entry with their own reading of the file."""
    header = "---\nname: notes\ndescription: yes\nsince: 2026-01-01\nold: 010\nswitch: on\n---\n"
    header = header.replace("description: yes", "description: 'yes'")
    found = skill(tmp_path, header).frontmatter
    assert (found["since"], found["old"], found["switch"]) == ("2026-01-01", 10, "on")


REFUSED = {
    "no header": ("text", "no header"),
    "not YAML": ("---\na: [\n---\n", "not YAML"),
    "a list": ("---\n- a\n---\n", "not a mapping"),
    "NaN": ("---\nname: notes\ndescription: d\nn: .nan\n---\n", "JSON cannot express"),
    "capitals": ("---\nname: Notes\ndescription: d\n---\n", "lower-case"),
    "two hyphens": ("---\nname: a--b\ndescription: d\n---\n", "single hyphens"),
    "long name": (f"---\nname: {'a' * 65}\ndescription: d\n---\n", "at most 64"),
    "long description": (f"---\nname: a\ndescription: {'d' * 1025}\n---\n", "1 to 1024"),
    "no description": ("---\nname: a\n---\n", "1 to 1024"),
    "compatibility": (
        f"---\nname: a\ndescription: d\ncompatibility: {'c' * 501}\n---\n",
        "1 to 500",
    ),
    "metadata": ("---\nname: a\ndescription: d\nmetadata: {n: 1}\n---\n", "names to texts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(Unservable, match=reason):
        skill(tmp_path, text)


def test_too_many_files(tmp_path: Path) -> None:
    files = {f"notes/{number}.txt": "x" for number in range(512)}
    with pytest.raises(Unservable, match="512 files"):
        skill(tmp_path, files=files)
    assert len(skill(tmp_path, oversize=True).files) == 513
