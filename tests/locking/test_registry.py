"""The same with programs that others wrote: a real registry, `skopeo`, `oras` and its library.

`make test-registry` installs them and fails if anything is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipage.ship.artifact import from_layout, parts_of
from lab import REPOSITORY, environment, in_process, settle, write

pytestmark = pytest.mark.skipif(
    not os.environ.get("EQUIPAGE_TEST_REGISTRY"), reason="run by `make test-registry`"
)
#: As `install.sh` finds or makes it.
ORAS = os.environ.get("EQUIPAGE_ORAS") or shutil.which("oras") or str(REPOSITORY / ".clients/oras/oras")  # fmt: skip
CONFIG = """\
version: 0.1
log: {{level: error}}
storage:
  filesystem: {{rootdirectory: {folder}}}
  delete: {{enabled: true}}
http: {{addr: "127.0.0.1:{port}"}}
"""
AGENT = "---\nname: reviewer\ndescription: d\ntools: Read\n---\nReview.\n"
SKILL = "---\nname: notes\ndescription: d\n---\nRun scripts/a.sh.\n"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    write(tmp_path, {"registry.yml": CONFIG.format(folder=tmp_path / "kept", port=port)})
    words = ["docker-registry", "serve", str(tmp_path / "registry.yml")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        ".claude/agents/reviewer.md": AGENT,
        ".claude/skills/notes/SKILL.md": SKILL,
        ".claude/skills/notes/scripts/a.sh": "echo\n",
        ".git/HEAD": "",
    }
    write(tmp_path / "work", files)
    settle(monkeypatch, tmp_path / "work", environment(HOME=str(tmp_path)))
    assert in_process(["lock"]).code == 0
    return tmp_path / "work"


def skopeo(*arguments: str) -> bytes:
    words = ["skopeo", "--insecure-policy", *arguments]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.requirement("SH-01")
def test_a_round_trip(host: str, folder: Path) -> None:
    code, out, err = in_process(["push", f"{host}/team/agents:1"])
    assert code == 0, err
    named = out.strip()
    for what in (f"{host}/team/agents:1", named):
        assert in_process(["pull", what, "../new"]).code == 0
        for each in (".claude/agents/reviewer.md", "equipage.lock"):
            assert (Path("../new") / each).read_bytes() == (folder / each).read_bytes()
        shutil.rmtree("../new")
    code, _, err = in_process(["pull", f"{host}/team/agents:2", "../new"])
    assert (code, "has no team/agents:2" in err) == (2, True)


@pytest.mark.requirement("SH-01")
def test_skopeo_reads_what_we_pushed_and_we_read_what_it_copied(host: str, folder: Path) -> None:
    assert in_process(["push", f"{host}/team/agents:1"]).code == 0
    raw = skopeo("inspect", "--raw", "--tls-verify=false", f"docker://{host}/team/agents:1")
    manifest = json.loads(raw)
    assert manifest["artifactType"] == "application/vnd.equipage.workspace.v1"
    # As files, and to another name in the registry; each arrives as it was.
    skopeo("copy", "--src-tls-verify=false", f"docker://{host}/team/agents:1", "dir:../copied")
    digest = manifest["layers"][0]["digest"].partition(":")[2]
    with tarfile.open(f"../copied/{digest}") as archive:
        assert ".claude/agents/reviewer.md" in archive.getnames()
    other = f"{host}/mirror/agents:2"
    skopeo("copy", "--src-tls-verify=false", "--dest-tls-verify=false", f"docker://{host}/team/agents:1", f"docker://{other}")  # fmt: skip
    assert in_process(["pull", other, "../new"]).code == 0
    assert Path("../new/equipage.lock").read_bytes() == (folder / "equipage.lock").read_bytes()


def test_skopeo_reads_what_we_packed(host: str, folder: Path) -> None:
    assert in_process(["pack", "-o", "../agents.tar"]).code == 0
    target = f"docker://{host}/packed/agents:1"
    skopeo("copy", "--dest-tls-verify=false", "oci-archive:../agents.tar", target)
    assert in_process(["pull", f"{host}/packed/agents:1", "../new"]).code == 0
    # And we read the archive that it makes.
    skopeo("copy", "--src-tls-verify=false", target, "oci-archive:../theirs.tar:x")
    assert in_process(["pull", "../theirs.tar", "../newer"]).code == 0
    assert Path("../newer/equipage.lock").exists()


def test_oras_reads_what_we_pushed_and_we_read_what_it_pushed(
    host: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import oras.client

    client = oras.client.OrasClient(hostname=host, insecure=True)
    assert in_process(["push", f"{host}/team/agents:1"]).code == 0
    pulled = client.pull(target=f"{host}/team/agents:1", outdir="../oras")
    assert sorted(Path(each).name for each in pulled) == ["equipage.lock", "workspace.tar.gz"]
    assert Path("../oras/equipage.lock").read_bytes() == (folder / "equipage.lock").read_bytes()
    # It takes a gzipped tar for a folder, and unpacks it.
    assert (Path("../oras") / ".claude/agents/reviewer.md").read_text() == AGENT
    # The same parts, pushed by it.
    assert in_process(["pack", "-o", "../agents.tar"]).code == 0
    made = from_layout(Path("../agents.tar").read_bytes())
    archive, lock = (made.blobs[each.digest] for each in parts_of(made.manifest))
    write(folder.parent / "parts", {"workspace.tar.gz": archive, "equipage.lock": lock})
    monkeypatch.chdir(folder.parent / "parts")
    files = ["workspace.tar.gz", "equipage.lock"]
    client.push(target=f"{host}/theirs/agents:1", files=files)
    done = in_process(["pull", f"{host}/theirs/agents:1", "../new"])
    assert done.code == 0, done.err
    assert (Path("../new/.claude/agents/reviewer.md")).read_text() == AGENT


def oras(*arguments: str) -> str:
    done = subprocess.run([ORAS, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.requirement("SH-01")
def test_the_program_oras_reads_what_we_pushed(host: str, folder: Path) -> None:
    assert in_process(["push", f"{host}/team/agents:1"]).code == 0
    source = f"{host}/team/agents:1"
    manifest = json.loads(oras("manifest", "fetch", "--plain-http", source))
    assert manifest["artifactType"] == "application/vnd.equipage.workspace.v1"
    assert oras("repo", "tags", "--plain-http", f"{host}/team/agents").split() == ["1"]
    oras("pull", "--plain-http", "-o", "../oras", source)
    assert Path("../oras/equipage.lock").read_bytes() == (folder / "equipage.lock").read_bytes()
    with tarfile.open("../oras/workspace.tar.gz") as archive:
        assert ".claude/agents/reviewer.md" in archive.getnames()
    # What it copies to another name arrives as it was.
    oras("cp", "--from-plain-http", "--to-plain-http", source, f"{host}/mirror/agents:2")
    assert in_process(["pull", f"{host}/mirror/agents:2", "../new"]).code == 0
    # And it reads the archive that we pack.
    assert in_process(["pack", "-o", "../agents.tar"]).code == 0
    said = oras("manifest", "fetch", "--oci-layout", "../agents.tar:work")
    assert json.loads(said) == manifest


@pytest.mark.requirement("SH-01")
def test_we_read_what_the_program_oras_pushed(
    host: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_process(["pack", "-o", "../agents.tar"]).code == 0
    made = from_layout(Path("../agents.tar").read_bytes())
    archive, lock = (made.blobs[each.digest] for each in parts_of(made.manifest))
    write(folder.parent / "parts", {"workspace.tar.gz": archive, "equipage.lock": lock})
    monkeypatch.chdir(folder.parent / "parts")
    target = f"{host}/theirs/agents:1"
    files = ("workspace.tar.gz:application/gzip", "equipage.lock:application/json")
    oras("push", "--plain-http", "--artifact-type", "application/x", target, *files)
    done = in_process(["pull", target, "../new"])
    assert done.code == 0, done.err
    assert Path("../new/.claude/agents/reviewer.md").read_text() == AGENT
    # Something else that it pushed is refused.
    oras("push", "--plain-http", f"{host}/theirs/other:1", "equipage.lock")
    code, _, err = in_process(["pull", f"{host}/theirs/other:1", "../newer"])
    assert (code, "it is not a workspace" in err) == (2, True)
    assert not Path("../newer").exists()


def test_a_registry_that_was_tampered_with(host: str, tmp_path: Path) -> None:
    assert in_process(["push", f"{host}/team/agents:1"]).code == 0
    data = next(
        each
        for each in (tmp_path / "kept").rglob("data")
        if each.read_bytes().startswith(b"\x1f\x8b")
    )
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    code, _, err = in_process(["pull", f"{host}/team/agents:1", "../new"])
    assert code == 2
    assert "the bytes that were sent for sha256:" in err
    assert not Path("../new").exists()
