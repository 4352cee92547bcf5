"""Locks and signatures that are made to deceive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from equipage.record.lock import LockedFile, assemble_lock, read
from equipage.record.lock import write as write_lock
from lab import environment, in_process, settle, write

AGENT = "---\nname: reviewer\ndescription: d\ntools: Read\n---\nReview.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "work", {".claude/agents/reviewer.md": AGENT, ".git/HEAD": ""})
    settle(monkeypatch, tmp_path / "work", environment(HOME=str(tmp_path)))
    assert in_process(["lock"]).code == 0
    return tmp_path / "work"


def test_a_lock_that_lies_about_what_files_mean(folder: Path) -> None:
    """Its hashes are right and it is sealed anew; `verify` says what it hides."""
    known = read((folder / "equipage.lock").read_bytes())
    name = ".claude/agents/reviewer.md"
    items = {**known.items, name: msgspec.structs.replace(known.items[name], reach={}, refers=())}
    plain = msgspec.structs.replace(known, items=items)
    files = [LockedFile(name, item, ()) for name, item in plain.items.items()]
    files.append(msgspec.structs.replace(files[0], files=tuple(plain.files.items())))
    text = write_lock(assemble_lock(files, plain.paths)).encode()
    (folder / "equipage.lock").write_bytes(text)
    code, out, _ = in_process(["verify"])
    assert (code, f"reach widened: {name}" in out) == (1, True), out


def test_a_lock_is_not_written_through_a_link_that_came_with_the_project(folder: Path) -> None:
    (folder / "equipage.lock").unlink()
    mine = folder.parent / "rc"
    mine.write_text("mine")
    (folder / "equipage.lock").symlink_to(mine)
    code, _, err = in_process(["lock"])
    assert (code, "leads out of the project" in err) == (2, True), err
    assert mine.read_text() == "mine"
    # Named by the user, it is what the user wants.
    assert in_process(["lock", "-o", "equipage.lock"]).code == 0
    assert mine.read_text() != "mine"


# Signatures.

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is missing")


@pytest.fixture
def keys(folder: Path) -> tuple[str, str]:
    """The public halves of our key and of that of a stranger."""
    for name in ("ours", "strange"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"../{name}"], check=True)  # fmt: skip
    return Path("../ours.pub").read_text(), Path("../strange.pub").read_text()


def sign(key: str, namespace: str, path: str = "equipage.lock") -> None:
    Path(f"{path}.sig").unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, path], check=True)


def signed_verify(signers: str) -> tuple[int, str]:
    Path("../signers").write_text(signers)
    code, _, err = in_process(["verify", "--allowed-signers", "../signers"])
    return code, err


@needs_ssh
def test_who_may_sign_and_for_what(keys: tuple[str, str]) -> None:
    ours, strange = keys
    sign("../ours", "equipage")
    for signers, ok in {
        f"me {ours}": True,
        f"* {ours}": True,
        f"me {strange}": False,
        "": False,
        f"# me {ours}": False,
        f'me namespaces="equipage" {ours}': True,
        f'me namespaces="git,file" {ours}': False,
        f'me namespaces="equip*" {ours}': True,
        f'me valid-before="20200101" {ours}': False,
        f'me valid-after="20990101" {ours}': False,
        f"me cert-authority {ours}": False,
        # Of several lines with one key, `ssh-keygen` names the first that is valid today.
        f'git namespaces="git" {ours}me namespaces="equipage" {ours}': False,
        f'old valid-before="20200101" {ours}me {ours}': True,
        f'git namespaces="git" {ours}me cert-authority {ours}': False,
        f"me {strange}me {ours}": True,
    }.items():
        code, err = signed_verify(signers)
        assert (code == 0) is ok, (signers, err)


@needs_ssh
def test_signatures_of_other_things(keys: tuple[str, str]) -> None:
    ours, _ = keys
    for prepare in (
        lambda: sign("../ours", "git"),
        lambda: sign("../ours", "file"),
        lambda: Path("equipage.lock.sig").write_text("-----BEGIN SSH SIGNATURE-----\n"),
        lambda: Path("equipage.lock.sig").write_bytes(b"\0" * 100),
    ):
        prepare()
        code, err = signed_verify(f"me {ours}")
        assert code == 2, err
    # The signature of another lock of ours.
    write(Path("../other"), {"equipage.lock": Path("equipage.lock").read_text() + " "})
    sign("../ours", "equipage", "../other/equipage.lock")
    shutil.copy("../other/equipage.lock.sig", "equipage.lock.sig")
    code, err = signed_verify(f"me {ours}")
    assert (code, "is not valid" in err) == (2, True), err


@needs_ssh
def test_files_of_the_project_do_not_become_words_of_the_command(keys: tuple[str, str]) -> None:
    """Files are there that are named like the arguments for `ssh-keygen`."""
    ours, _ = keys
    for name in ("verify", "find-principals", "sign", "-f", "-I", "me", "equipage", "-n"):
        Path(name).write_text("x")
    assert in_process(["lock", "--sign", "../ours"]).code == 0
    code, err = signed_verify(f"me {ours}")
    assert code == 0, err


@needs_ssh
def test_a_signature_is_not_written_through_a_link(keys: tuple[str, str], folder: Path) -> None:
    outside = folder.parent / "made"
    (folder / "equipage.lock.sig").symlink_to(outside)
    assert in_process(["lock", "--sign", "../ours"]).code == 0
    assert not outside.exists()
    assert not (folder / "equipage.lock.sig").is_symlink()
