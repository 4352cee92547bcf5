"""Skills as they are served: frozen folders, and what clients would not accept is refused."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from equipage_serve import skills
from equipage_serve.confinement import Unservable
from equipage_serve.skills import freeze_skill
from lab import Link, write

HEADER = "---\nname: notes\ndescription: Writes notes.\n---\nDo it.\n"


def skill(
    folder: Path, header: str = HEADER, files: dict[str, Any] | None = None, **more: Any
) -> Any:
    write(folder, {"notes/SKILL.md": header, **(files or {})})
    return freeze_skill(str(folder / "notes" / "SKILL.md"), **more)


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


NOT_JSON = "its header has a value that JSON cannot express"
NAME = "`name` must have at most 64 lower-case letters, digits and single hyphens"
DESCRIPTION = "`description` must have 1 to 1024 characters"
COMPATIBILITY = "`compatibility` must have 1 to 500 characters"
METADATA = "`metadata` must map names to texts"


def header(name: str = "a", description: str = "d", **more: str) -> str:
    fields = {"name": name, "description": description, **more}
    return "".join(("---\n", *(f"{key}: {value}\n" for key, value in fields.items()), "---\n"))


#: The text of a skill, and every reason why it is not served; none if it is.
TEXTS: dict[str, tuple[str | bytes, list[str]]] = {
    "no header": ("text", ["it has no header between `---` lines"]),
    "not YAML": ("---\na: [\n---\n", ["its header is not YAML"]),
    "not UTF-8": (b"---\nname: \xff\n---\n", ["its text is not UTF-8"]),
    "a list": ("---\n- a\n---\n", ["its header is not a mapping"]),
    "NaN": (header(n=".nan"), [NOT_JSON]),
    "half a character": (header(n='"\\ud800"'), ["its header is not YAML"]),
    "capitals": (header("Notes"), [NAME]),
    "two hyphens": (header("a--b"), [NAME]),
    "a number": (header("5"), [NAME]),
    "a name of 65": (header("a" * 65), [NAME]),
    "a name of 64": (header("a" * 64), []),
    "a description of 1025": (header(description="d" * 1025), [DESCRIPTION]),
    "a description of 1024": (header(description="d" * 1024), []),
    "an empty description": (header(description="''"), [DESCRIPTION]),
    "no description": ("---\nname: a\n---\n", [DESCRIPTION]),
    "compatibility of 501": (header(compatibility="c" * 501), [COMPATIBILITY]),
    "compatibility of 500": (header(compatibility="c" * 500), []),
    "compatibility of one": (header(compatibility="c"), []),
    "empty compatibility": (header(compatibility="''"), [COMPATIBILITY]),
    "no compatibility": (header(compatibility="null"), []),
    "compatibility that is no text": (header(compatibility="5"), [COMPATIBILITY]),
    "metadata": (header(metadata="{n: 1}"), [METADATA]),
    "metadata that is no mapping": (header(metadata="[a]"), [METADATA]),
    "metadata with texts": (header(metadata="{n: '1'}"), []),
    "no metadata": (header(metadata="null"), []),
    "all at once": (
        "---\ncompatibility: 5\nmetadata: 5\n---\n",
        [NAME, DESCRIPTION, COMPATIBILITY, METADATA],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_headers(name: str, tmp_path: Path) -> None:
    text, reasons = TEXTS[name]
    files = {"notes/SKILL.md": text}
    if not reasons:
        assert skill(tmp_path, files=files).files
        return
    with pytest.raises(Unservable) as refused:
        skill(tmp_path, files=files)
    assert list(refused.value.reasons) == reasons


def test_a_file_as_clients_see_it(tmp_path: Path) -> None:
    found = skill(tmp_path, files={"notes/a/b.txt": "text"})
    assert [found.resource(each) for each in found.files] == [
        {
            "uri": "skill://notes/SKILL.md",
            "name": "notes",
            "mimeType": "text/markdown",
            "size": len(HEADER),
            "description": "Writes notes.",
        },
        {"uri": "skill://notes/a/b.txt", "name": "a/b.txt", "mimeType": "text/plain", "size": 4},
    ]
    assert found.uri == "skill://notes/SKILL.md"


@pytest.mark.parametrize(
    ("name", "mime_type"),
    [
        ("x.MD", "text/markdown"),
        ("x.yaml", "application/yaml"),
        ("x.yml", "application/yaml"),
        ("x.html", "text/html"),
        ("x.webp", "image/webp"),  # Python calls it common, not a standard
        ("x.tar.gz", "application/x-tar"),
        ("x.no-such", "application/octet-stream"),
        ("x", "application/octet-stream"),
    ],
)
def test_types(name: str, mime_type: str, tmp_path: Path) -> None:
    found = skill(tmp_path, files={f"notes/{name}": "x"})
    assert {each.name: each.mime_type for each in found.files}[name] == mime_type


def test_addresses_have_the_letters_that_they_may_have(tmp_path: Path) -> None:
    name = "a-._~!$&'()*+,;=@X%.txt"
    found = skill(tmp_path, files={f"notes/{name}": "x"})
    (uri,) = [each.uri for each in found.files if each.name == name]
    assert uri == "skill://notes/a-._~!$&'()*+,;=%40X%25.txt"


def test_another_file_is_no_skill(tmp_path: Path) -> None:
    write(tmp_path, {"notes/OTHER.md": HEADER})
    with pytest.raises(Unservable) as refused:
        freeze_skill(str(tmp_path / "notes" / "OTHER.md"))
    assert refused.value.reasons == ("the file must be named `SKILL.md`",)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"notes/SKILL.md": HEADER})
    with (tmp_path / "notes" / "big").open("wb") as file:
        file.truncate(16 * 1024 * 1024 + 1)
    with pytest.raises(Unservable) as refused:
        freeze_skill(str(tmp_path / "notes" / "SKILL.md"))
    (reason,) = refused.value.reasons
    assert reason.startswith("cannot read `big`: ")
    assert "16777216" in reason.replace(",", "")


def test_what_is_no_file_is_not_served(tmp_path: Path) -> None:
    write(tmp_path, {"notes/SKILL.md": HEADER})
    os.mkfifo(tmp_path / "notes" / "pipe")
    assert [each.name for each in skill(tmp_path).files] == ["SKILL.md"]


@pytest.mark.parametrize(
    ("most", "words"),
    [
        ({"MAX_FILES": 3}, "it has more than 3 files (`--oversize` serves it)"),
        (
            {"MAX_BYTES": len(HEADER) + 3},
            f"its files have more than {len(HEADER) + 3} bytes (`--oversize` serves it)",
        ),
    ],
)
def test_as_much_as_may_be(
    most: dict[str, int], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in most.items():
        monkeypatch.setattr(skills, name, value)
    assert len(skill(tmp_path, files={"notes/a": "1", "notes/b": "23"}).files) == 3
    with pytest.raises(Unservable) as refused:
        skill(tmp_path, files={"notes/c": "4"})
    assert refused.value.reasons == (words,)
    assert len(skill(tmp_path, oversize=True).files) == 4


def test_the_bounds() -> None:
    assert (skills.MAX_FILES, skills.MAX_BYTES) == (512, 16 << 20)
