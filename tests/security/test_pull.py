"""`pull` from strangers: archives, registries, passwords and signatures that are made to deceive.

What arrives is what was locked, or nothing is written; the plain cases are in `locking/test_ship`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import socket
import struct
import subprocess
import tarfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clock import Stopwatch
from equipage.files import writing
from equipage.ship import ShipError, artifact
from equipage.ship.artifact import packed, shipped, unpacked
from equipage.ship.credentials import Credentials
from equipage.ship.registry import Registry, reference_of
from equipage.views.workspace_lock import LockedFile, assembled, read
from equipage.views.workspace_lock import write as write_lock
from lab import environment, in_process, settle, write
from locking.test_ship import AGENT, SKILL, Fake, below, of_type, pushed, registry, tar

__all__ = ["registry"]  # a fixture


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        ".claude/agents/reviewer.md": AGENT,
        ".claude/skills/notes/SKILL.md": SKILL,
        ".git/HEAD": "",
    }
    write(tmp_path / "work", files)
    settle(monkeypatch, tmp_path / "work", environment(HOME=str(tmp_path)))
    assert in_process(["lock"]).code == 0
    return tmp_path / "work"


def refused(arguments: list[str], *reasons: str) -> str:
    code, out, err = in_process(arguments)
    assert (code, out) == (2, ""), err
    assert all(each in err for each in reasons), err
    assert "Traceback" not in err
    assert not Path("../new").exists()
    return err


# Archives.


def header(name: str, size: int, kind: bytes, *, link: str = "", form: bytes = b"ustar\x0000") -> bytes:  # fmt: skip
    """One block of a tar, whatever the module for it would refuse to write."""
    block = bytearray(512)
    block[: len(name.encode())] = name.encode()
    block[100:108] = b"0000644\0"
    block[124:136] = b"%011o\0" % size
    block[136:148] = b"00000000000\0"
    block[156:157] = kind
    block[157 : 157 + len(link)] = link.encode()
    block[257:265] = form
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def pax(**records: str) -> bytes:
    """The block of a PAX header and its records."""
    lines = b""
    for key, value in records.items():
        line = f" {key.replace('__', '.')}={value}\n".encode()
        size = len(line) + len(str(len(line)))
        lines += str(size + (len(str(size)) > len(str(len(line))))).encode() + line
    return header("x", len(lines), b"x") + padded(lines)


def sparse() -> bytes:
    """A file of the old GNU form that is a terabyte of nothing."""
    block = bytearray(header("a", 512, b"S", form=b"ustar  \0"))
    block[386:410] = b"%011o\0%011o\0" % (0, 512)
    block[483:495] = b"\x80\0\0\0\0\0\1\0\0\0\0\0"
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + bytes(512)


END = bytes(1024)
ARCHIVES: dict[str, tuple[bytes, str]] = {
    "a name in a PAX header leads out": (pax(path="../../a") + header("a", 0, b"0") + END, "leads out"),
    "a name in a GNU header leads out": (header("L", 5, b"L") + padded(b"/etc\0") + header("a", 0, b"0") + END, "leads out"),
    "a PAX header makes a link of it": (pax(linkpath="/etc/passwd") + header("a", 0, b"2") + END, "is a link"),
    "a size that is too large": (header("a", 8**11 - 1, b"0") + END, "holds more than"),
    "a size in a PAX header that is negative": (pax(size="-512") + header("a", 0, b"0") + END, "damaged"),
    "a size in a PAX header that is enormous": (pax(size="9" * 30) + header("a", 0, b"0") + END, "holds more than"),
    "a size that is no number": (pax(size="1e9") + header("a", 3, b"0") + padded(b"abc") + END, ""),
    "a sparse file of a terabyte": (sparse() + END, "neither a file nor a folder"),
    "a sparse file in a PAX header": (pax(GNU__sparse__major="1", GNU__sparse__minor="0", GNU__sparse__name="a", GNU__sparse__realsize=str(2**40)) + header("a", 512, b"0") + padded(b"1\n0\n512\n") + END, ""),
    "headers that follow each other for ever": ((pax(path="a") * 5000) + header("a", 0, b"0") + END, "damaged"),
    "long names that follow each other for ever": ((header("L", 2, b"L") + padded(b"a\0")) * 5000 + header("a", 0, b"0") + END, "damaged"),
    "a second header that cannot be read": (header("a", 0, b"0") + header("b", 0, b"0").replace(b"ustar", b"other") + END, "damaged"),
    "an archive behind the end of the first": (header("a", 0, b"0") + END + header("b", 0, b"0") + END, "damaged"),
    "a device": (header("a", 0, b"4") + END, "neither a file nor a folder"),
    "a type that nobody knows": (header("a", 0, b"Z") + END, ""),
    "accents that are written in two ways": (tar(("é", None, b"1"), ("e\u0301", None, b"2")), "one file on some systems"),
    "letters that are one in lower case": (tar(("straße", None, b"1"), ("STRASSE", None, b"2")), "one file on some systems"),
    "a file and a folder that differ in case": (tar(("docs", None, b"1"), ("Docs/a", None, b"2")), "is below a name that is a file"),
    "a file and a folder that differ in accents": (tar(("e\u0301", None, b"1"), ("é/a", None, b"2")), "is below a name that is a file"),
    "the short name of git's folder": (tar(("GIT~1/config", None, b"")), "belongs to git"),
    "git's folder with a dot": (tar((".git./config", None, b"")), "not a file name on every system"),
    "git's folder with a blank": (tar((".git /config", None, b"")), "not a file name on every system"),
    "git's folder with an invisible letter": (tar((".g\u200cit/config", None, b"")), "not a file name on every system"),
    "a repository without a work tree": (tar(("a/HEAD", None, b""), ("a/config", None, b""), ("a/objects/x", None, b""), ("a/refs/x", None, b"")), "'a/HEAD', which belongs to git"),
    "such a repository at the top": (tar(("HEAD", None, b""), ("objects/x", None, b"")), "'HEAD', which belongs to git"),
    "such a repository in other letters": (tar(("a/head", None, b""), ("a/OBJECTS/x", None, b"")), "'a/head', which belongs to git"),
    "such a repository below one of its names": (tar(("refs/a/HEAD", None, b""), ("refs/a/objects/x", None, b"")), "'refs/a/HEAD', which belongs to git"),
    "a repository that is elsewhere": (tar(("a/HEAD", None, b""), ("a/commondir", None, b"../b")), "'a/HEAD', which belongs to git"),
    "a repository of Mercurial": (tar((".hg/hgrc", None, b"[hooks]")), "belongs to a repository"),
    "a repository of Subversion": (tar(("a/.SVN/wc.db", None, b"")), "belongs to a repository"),
    "an absolute name in a PAX header": (pax(path="/etc/cron.d/a") + header("a", 0, b"0") + END, "leads out"),
    "a hard link to what comes later": (tar(("a", of_type(tarfile.LNKTYPE, "z"), b""), ("z", None, b"1")), "is a link"),
    "a hard link out": (tar(("a", of_type(tarfile.LNKTYPE, "../../etc/passwd"), b"")), "is a link"),
    "a name with an escape": (tar(("a\x1b[2J", None, b"")), "not a file name on every system"),
    "a name with a line break": (tar(("a\nb", None, b"")), "not a file name on every system"),
    "a name that ends with a dot": (tar(("skills/a.", None, b"")), "not a file name on every system"),
    "a name that ends with a blank": (tar(("skills/a ", None, b"")), "not a file name on every system"),
    "a stream of a file": (tar(("a:b", None, b"")), "not a file name on every system"),
    "the lock in other letters": (tar(("equipage.lock", None, b""), ("Equipage.LOCK", None, b"")), "one file on some systems"),
    "a file below the lock": (tar(("equipage.lock/x", None, b""), ("equipage.lock", None, b"")), "is below a name that is a file"),
    "a device of Windows": (tar(("skills/nul.md", None, b"")), "not a file name on every system"),
    "a name with a bidirectional mark": (tar(("a\u202egpj.md", None, b"")), "not a file name on every system"),
    "a name that is half a character": (header("a\udcff".encode("utf-8", "surrogateescape").decode("latin-1"), 0, b"0") + END, ""),
    "a stream inside a stream": (tar(("a\0b", None, b"1")), ""),
    "nothing": (b"", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives(name: str, folder: Path) -> None:
    data, reason = ARCHIVES[name]
    lock = (folder / "equipage.lock").read_bytes()
    started = time.process_time()
    with pytest.raises(ShipError) as raised:
        shipped(gzip.compress(data), lock)
    assert reason in str(raised.value), str(raised.value)
    assert str(raised.value).isprintable()
    assert time.process_time() - started < 2


def zeros(count: int) -> bytes:
    """The start of an archive that never ends, with so many bytes: a part of it again and again."""
    part = bytes(1 << 20)
    packer = zlib.compressobj(1, wbits=31)
    first, again = (packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (count // len(part) - 1)


def test_a_million_members_end_at_the_limit(folder: Path) -> None:
    """About four megabytes that are half a gigabyte: not all of it is unpacked or read."""
    lock = (folder / "equipage.lock").read_bytes()
    entry = header("a", 0, b"5")
    bomb = gzip.compress(entry * 100_000, 1)
    started = time.process_time()
    with pytest.raises(ShipError, match="more than 20,000 files"):
        shipped(bomb, lock)
    with pytest.raises(ShipError, match="holds more than"):
        shipped(zeros(artifact.MAX_BYTES * 2), lock)
    assert time.process_time() - started < 15


def test_bombs_in_bombs_are_refused_as_what_they_are(folder: Path) -> None:
    """Only one layer is ever unpacked."""
    lock = (folder / "equipage.lock").read_bytes()
    inner = gzip.compress(tar(("a", None, b"x")))
    with pytest.raises(ShipError, match="damaged"):
        shipped(gzip.compress(inner), lock)
    with pytest.raises(ShipError, match="more bytes after its end"):
        shipped(inner + inner, lock)


def test_what_is_executable_is_executable_and_nothing_more(folder: Path) -> None:
    """Neither set-user-id nor a mode that lets others write arrives."""

    def strange(entry: tarfile.TarInfo) -> None:
        entry.mode, entry.uid, entry.uname = 0o6777, 0, "root"

    made = packed((folder / "equipage.lock").read_bytes(), {})
    lock = (folder / "equipage.lock").read_bytes()
    files = {name: data for name, data in below(folder).items() if name.startswith(".claude")}
    entries = [(name, strange, data) for name, data in files.items()]
    archive = gzip.compress(tar(*entries, ("equipage.lock", None, lock)))
    manifest = json.loads(made.manifest)
    manifest["layers"][0] |= {"digest": artifact.digest_of(archive), "size": len(archive)}
    whole = artifact.Artifact(
        json.dumps(manifest).encode(), {**made.blobs, artifact.digest_of(archive): archive}
    )
    Path("../a.tar").write_bytes(artifact.layout(whole, "a"))
    os.umask(0o022)
    assert in_process(["pull", "../a.tar", "../new"]).code == 0
    modes = {each.stat().st_mode & 0o7777 for each in Path("../new").rglob("*") if each.is_file()}
    assert modes <= {0o755, 0o644}


def test_a_signed_guard_arrives_as_a_program(folder: Path) -> None:
    """A lock may be signed and an archive is not: its marks of programs are held to the lock."""
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}
    write(
        folder, {".claude/settings.json": {"hooks": {"PreToolUse": [group]}}, "guard.sh": "exit 2"}
    )
    write(folder, {".clinerules/hooks/PreToolUse": "exit 2"})
    (folder / "guard.sh").chmod(0o755)
    assert in_process(["lock"]).code == 0
    lock = (folder / "equipage.lock").read_bytes()
    files = {name: (folder / name).read_bytes() for name in json.loads(lock)["files"]}
    assert shipped(archive_of(lock, files, "guard.sh"), lock).executable == {"guard.sh"}
    with pytest.raises(
        ShipError, match=r"guard\.sh may be run where it was locked, but not in the"
    ):
        shipped(archive_of(lock, files), lock)
    # One that nobody marked does not become a hook on the way.
    with pytest.raises(ShipError, match="PreToolUse may be run in the archive, but not where it"):
        shipped(archive_of(lock, files, "guard.sh", ".clinerules/hooks/PreToolUse"), lock)


def test_a_lock_that_lies_about_what_files_mean(folder: Path) -> None:
    """Its hashes are right and it is sealed anew, so it is pulled; `verify` says what it hides."""
    known = read((folder / "equipage.lock").read_bytes())
    name = ".claude/agents/reviewer.md"
    items = {**known.items, name: msgspec.structs.replace(known.items[name], reach={}, refers=())}
    plain = msgspec.structs.replace(known, items=items)
    files = [LockedFile(name, item, ()) for name, item in plain.items.items()]
    files.append(msgspec.structs.replace(files[0], files=tuple(plain.files.items())))
    text = write_lock(assembled(files, plain.paths)).encode()
    (folder / "equipage.lock").write_bytes(text)
    assert in_process(["pack", "-o", "../a.tar"]).code == 0
    assert in_process(["pull", "../a.tar", "../new"]).code == 0
    os.chdir("../new")
    code, out, _ = in_process(["verify"])
    assert (code, f"reach widened: {name}" in out) == (1, True), out


def archive_of(lock: bytes, files: dict[str, bytes], *programs: str) -> bytes:
    made = packed(lock, files, frozenset(programs))
    wanted, _ = artifact.parts_of(made.manifest)
    return made.blobs[wanted.digest]


def test_a_folder_that_is_exchanged_while_files_are_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing stays outside, and nothing there is taken for ours and removed."""
    outside = folder.parent / "outside"
    write(outside, {"one": "mine"})
    real = writing._put_new

    def put(path: str, data: bytes) -> None:
        if path.endswith("two"):
            target.joinpath("a").rename(folder.parent / "moved")
            target.joinpath("a").symlink_to(outside)
        real(path, data)

    target = folder.parent / "there"
    monkeypatch.setattr(writing, "_put_new", put)
    with pytest.raises(writing.NotWritten, match="leads out of the project"):
        writing.write_tree(str(target), {"a/one": b"1", "a/two": b"2"}, ["a/two"])
    assert below(outside) == {"one": b"mine"}
    assert not os.access(outside / "one", os.X_OK)


def test_a_program_that_is_exchanged_before_it_is_marked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = folder.parent / "mine"
    mine.write_text("mine")
    real = writing._require_inside
    calls: list[str] = []

    def require(path: str, root: str) -> None:
        real(path, root)
        calls.append(path)
        if len(calls) == 3:  # before a folder is made, before it is written, and after
            os.unlink(path)
            os.link(mine, path)

    monkeypatch.setattr(writing, "_require_inside", require)
    with pytest.raises(writing.NotWritten, match="exchanged"):
        writing.write_tree(str(folder.parent / "there"), {"run": b"1"}, ["run"])
    assert not os.access(mine, os.X_OK)
    assert mine.read_text() == "mine"


def test_a_file_is_not_taken_for_a_registry(folder: Path, registry: Any) -> None:
    """A folder of a stranger holds a file whose path is the reference that the user writes."""
    pushed(registry)
    in_process(["pack", "-o", "../mine.tar"])
    host, _, rest = registry.reference.partition("/")
    path = Path("../hostile", host, rest)
    path.parent.mkdir(parents=True)
    shutil.copy("../mine.tar", path)
    os.chdir("../hostile")
    refused(["pull", registry.reference, "../new"], "is a file and a reference", "./", "oci://")
    assert in_process(["pull", f"oci://{registry.reference}", "../new"]).code == 0
    shutil.rmtree("../new")
    assert in_process(["pull", f"./{registry.reference}", "../new"]).code == 0


# Where it is written.


def test_links_and_files_of_others_in_the_way(folder: Path) -> None:
    in_process(["pack", "-o", "../a.tar"])
    outside = folder.parent / "outside"
    outside.mkdir()
    there = folder.parent / "there"
    for name in (".claude", ".claude/agents", ".claude/skills"):
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).symlink_to(outside)
        code, _, err = in_process(["pull", "../a.tar", "../there"])
        assert (code, "leads out of the project" in err) == (2, True), err
        assert list(outside.iterdir()) == []
        shutil.rmtree(there)
    # A link to nowhere in the place of a file would be written through.
    there.mkdir()
    (there / "equipage.lock").symlink_to(outside / "made")
    code, _, err = in_process(["pull", "../a.tar", "../there"])
    assert (code, "is there already" in err) == (2, True), err
    assert list(outside.iterdir()) == []


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


# Registries. Some answers no module for servers would send, so these are written by hand.


class Raw:
    """A server that answers each connection with the next script."""

    def __init__(self, *scripts: Callable[[socket.socket, bytes], None]) -> None:
        self.scripts = list(scripts)
        self.heard: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.reference = f"127.0.0.1:{self.port}/team/agents:1"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while self.scripts:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.settimeout(10)
            with client:
                try:
                    heard = b""
                    while b"\r\n\r\n" not in heard:
                        heard += client.recv(65536)
                    self.heard.append(heard)
                    self.scripts.pop(0)(client, heard)
                except OSError:
                    continue

    def close(self) -> None:
        # An `accept` that waits does not notice that its socket is closed.
        with suppress(OSError):  # of systems where it does
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def raw() -> Iterator[Callable[..., Raw]]:
    made: list[Raw] = []

    def make(*scripts: Callable[[socket.socket, bytes], None]) -> Raw:
        made.append(Raw(*scripts))
        return made[-1]

    yield make
    for each in made:
        each.close()


def drip(first: bytes, then: bytes) -> Callable[[socket.socket, bytes], None]:
    """Say something, and then the same few bytes for ever."""

    def script(client: socket.socket, _heard: bytes) -> None:
        client.sendall(first)
        for _ in range(400):
            client.sendall(then)
            time.sleep(0.02)

    return script


OK = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "the first line": (b"HTTP/1.1 200 ", b"x"),
    "a header": (OK + b"X: ", b"x"),
    "headers": (OK, b"X: y\r\n"),
    "interim answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
    "a body without an end": (OK + b"\r\n", b"x"),
    "the size of a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "an extension of a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "trailers": (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    "the body of an error": (b"HTTP/1.1 500 No\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("name", DRIPS)
def test_whatever_drips_ends_in_time(name: str, raw: Any) -> None:
    server = raw(drip(*DRIPS[name]))
    watch = Stopwatch()
    err = refused(["pull", server.reference, "../new", "--timeout", "0.5"])
    assert "did not finish within" in err or "does not answer as a registry" in err or "HTTP" in err
    assert watch.seconds < 5


FLOODS = {
    "a manifest": OK + b"\r\n" + b"[" * 6_000_000,
    "one header": OK + b"X: " + b"x" * 6_000_000,
    "many headers": OK + b"X: y\r\n" * 1_000_000,
    "chunks of one byte": OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 400_000,
    "a length that is a lie": OK + b"Content-Length: 10\r\n\r\n" + b"x" * 6_000_000,
    "a negative length": OK + b"Content-Length: -1\r\n\r\n" + b"{}",
    "a length with five thousand digits": OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n" * 100_000,
}


#: Where a flood is slow to read, the limit is lower.
LIMITS = {"chunks of one byte": 300_000}


@pytest.mark.parametrize("name", FLOODS)
def test_floods_end_at_the_limit(name: str, raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = []
    if name in LIMITS:
        monkeypatch.setattr("equipage.ship.registry.MAX_MANIFEST", LIMITS[name])
        reasons = [f"sends more than {LIMITS[name]:,} bytes"]

    def script(client: socket.socket, _heard: bytes) -> None:
        client.sendall(FLOODS[name])

    server = raw(script)
    refused(["pull", server.reference, "../new", "--timeout", "20"], *reasons)


def elsewhere(*answers: bytes) -> Callable[[socket.socket, bytes], None]:
    def script(client: socket.socket, _heard: bytes) -> None:
        client.sendall(b"".join(answers))

    return script


PASSWORD = "s3cr3t-p4ssw0rd"


def wants(address: str, scheme: str = "Bearer") -> bytes:
    return (
        b"HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n"
        + f'WWW-Authenticate: {scheme} realm="{address}",service="s",scope="pull"\r\n\r\n'.encode()
    )


def test_a_password_is_not_sent_to_another_host_in_the_clear(raw: Any) -> None:
    thief = raw(elsewhere(OK + b'Content-Length: 14\r\n\r\n{"token": "t"}'))
    server = raw(elsewhere(wants(f"http://127.0.0.1:{thief.port}/token")))
    found = Registry(f"127.0.0.1:{server.port}", seconds=5, credentials=Credentials("me", PASSWORD))
    with pytest.raises(ShipError, match="refuses access"):
        found.manifest(reference_of(server.reference))
    assert thief.heard == []
    assert PASSWORD not in repr(server.heard)


REALMS = (
    "http://127.0.0.1:{port}@evil.example/token",
    "http://me:pw@127.0.0.1:{port}/token",
    "//127.0.0.1:{port}/token",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://[::1",
    "",
)


@pytest.mark.parametrize("realm", REALMS)
def test_addresses_to_sign_in_at_that_deceive(realm: str, raw: Any) -> None:
    server = raw(elsewhere(wants("x")), elsewhere(OK + b"Content-Length: 2\r\n\r\n{}"))
    server.scripts[0] = elsewhere(wants(realm.format(port=server.port)))
    found = Registry(f"127.0.0.1:{server.port}", seconds=5, credentials=Credentials("me", PASSWORD))
    with pytest.raises(ShipError):
        found.manifest(reference_of(server.reference))
    assert len(server.heard) == 1


def test_a_host_that_a_redirect_leads_to_gets_no_password(raw: Any) -> None:
    """Neither by its own challenge nor by a second one of the registry."""
    thief = raw(elsewhere(wants("x", "Basic")), elsewhere(wants("x", "Basic")))
    redirect = f"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:{thief.port}/b\r\nContent-Length: 0\r\n\r\n".encode()  # fmt: skip
    server = raw(elsewhere(wants("x", "Basic")), elsewhere(redirect))
    found = Registry(f"127.0.0.1:{server.port}", seconds=5, credentials=Credentials("me", PASSWORD))
    with pytest.raises(ShipError):
        found.manifest(reference_of(server.reference))
    assert b"Authorization" in server.heard[1]
    assert len(thief.heard) == 1
    assert b"Authorization" not in thief.heard[0]


ADDRESSES = (
    "http://127.0.0.1:abc/x",
    "http://127.0.0.1:99999999999999999999/x",
    "http://127.0.0.1:65536/x",
    "http://127.0.0.1:0/x",
    "http://127.0.0.1:-1/x",
    "http://a b/x",
    "http://a\x1b[31m/x",
    "http://a\x85b/x",
    "https://127.0.0.1:abc/x",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_that_are_none(address: str, raw: Any) -> None:
    """Wherever a registry may write one: a redirect, a place to sign in, a place to upload to."""
    redirect = f"HTTP/1.1 307 T\r\nLocation: {address}\r\nContent-Length: 0\r\n\r\n"
    challenge = wants(address.replace("http:", "https:")).decode("latin-1")
    for answer in (redirect, challenge):
        server = raw(elsewhere(answer.encode("latin-1")))
        err = refused(["pull", server.reference, "../new", "--timeout", "5"], "not allowed")
        assert err.strip().isprintable()
    missing = elsewhere(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    upload = f"HTTP/1.1 202 Go\r\nLocation: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"  # fmt: skip
    server = raw(missing, elsewhere(upload.encode("latin-1")))
    refused(["push", server.reference, "--timeout", "5"], "not allowed")


def test_a_port_that_is_none_in_a_reference() -> None:
    for port in ("65536", "9" * 30, "0"):
        refused(["pull", f"127.0.0.1:{port}/a/b:1", "../new", "--timeout", "5"], "not allowed")


PLACES = ("ftp://127.0.0.1:{port}/x", "http://me@127.0.0.1:{port}/x", "file:///tmp/x", "gopher://x")


@pytest.mark.parametrize("place", PLACES)
def test_files_are_not_sent_to_an_odd_place(place: str, raw: Any) -> None:
    missing = elsewhere(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    thief = raw(elsewhere(OK + b"Content-Length: 0\r\n\r\n"))
    said = f"HTTP/1.1 202 Go\r\nLocation: {place.format(port=thief.port)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"  # fmt: skip
    server = raw(missing, elsewhere(said.encode()))
    err = refused(["push", server.reference, "--timeout", "5"])
    assert "not allowed" in err
    assert thief.heard == []


TOKENS = (
    b'{"token": "a\\r\\nX-Injected: 1"}',
    b'{"token": 5}',
    b'{"token": ["a"]}',
    b'{"token": "\xff"}',
    b"[" * 200_000,
    b"null",
    b'{"token": "%s"}' % (b"x" * 100_000),
)


@pytest.mark.parametrize("number", range(len(TOKENS)))
def test_tokens_that_are_none(number: int, registry: Any) -> None:
    pushed(registry)

    def token(fake: Fake) -> bool:
        if fake.path.startswith("/token"):
            return not fake.reply(200, TOKENS[number])
        if fake.headers.get("X-Injected"):
            registry.asked.append("injected")
        where = f'Bearer realm="http://127.0.0.1:{registry.server_port}/token"'
        return not fake.reply(401, WWW_Authenticate=where)

    registry.before = token
    refused(["pull", registry.reference, "../new"])
    assert "injected" not in registry.asked


def test_media_types_and_titles_decide_nothing(registry: Any) -> None:
    """The parts are told by their place and proved by the lock, whatever they are called."""
    pushed(registry)
    manifest = json.loads(registry.kept["1"])
    for change in (
        {"mediaType": "text/html"},
        {"mediaType": ""},
        {"annotations": {"org.opencontainers.image.title": "../../evil"}},
        {"annotations": {"org.opencontainers.image.title": "equipage.lock"}},
        {"annotations": {"org.opencontainers.image.title": ["equipage.lock"]}},
        {"urls": ["http://evil.example/blob"]},
        {"data": "eHg="},
        {"size": 0},
        {"size": True},
        {"size": 10.0},
        {"digest": "sha256:../../../../etc/passwd".ljust(71, "x")},
        {"digest": f"sha512:{'0' * 128}"},
    ):
        changed = json.loads(json.dumps(manifest))
        changed["layers"][0] |= change
        registry.kept["1"] = json.dumps(changed).encode()
        registry.asked.clear()
        code, _, err = in_process(["pull", registry.reference, "../new"])
        assert "Traceback" not in err
        assert all("evil" not in path and ".." not in path for _, path, _ in registry.asked)
        if code == 0:
            assert sorted(below(Path("../new"))) == sorted({*below(Path()), "equipage.lock"} - {".git/HEAD"})  # fmt: skip
            shutil.rmtree("../new")
        else:
            assert not Path("../new").exists()


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


def signed_pull(signers: str) -> tuple[int, str]:
    Path("../signers").write_text(signers)
    assert in_process(["pack", "-o", "../a.tar"]).code == 0
    code, _, err = in_process(["pull", "../a.tar", "../new", "--allowed-signers", "../signers"])
    assert Path("../new").exists() == (code == 0)
    shutil.rmtree("../new", ignore_errors=True)
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
        code, err = signed_pull(signers)
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
        code, err = signed_pull(f"me {ours}")
        assert code == 2, err
    # The signature of another lock of ours.
    write(Path("../other"), {"equipage.lock": Path("equipage.lock").read_text() + " "})
    sign("../ours", "equipage", "../other/equipage.lock")
    shutil.copy("../other/equipage.lock.sig", "equipage.lock.sig")
    code, err = signed_pull(f"me {ours}")
    assert (code, "is not valid" in err) == (2, True), err


@needs_ssh
def test_files_of_the_project_do_not_become_words_of_the_command(keys: tuple[str, str]) -> None:
    """Files are there that are named like the arguments for `ssh-keygen`."""
    ours, _ = keys
    for name in ("verify", "find-principals", "sign", "-f", "-I", "me", "equipage", "-n"):
        Path(name).write_text("x")
    assert in_process(["lock", "--sign", "../ours"]).code == 0
    code, err = signed_pull(f"me {ours}")
    assert code == 0, err


@needs_ssh
def test_a_signature_is_not_written_through_a_link(keys: tuple[str, str], folder: Path) -> None:
    outside = folder.parent / "made"
    (folder / "equipage.lock.sig").symlink_to(outside)
    assert in_process(["lock", "--sign", "../ours"]).code == 0
    assert not outside.exists()
    assert not (folder / "equipage.lock.sig").is_symlink()


def test_numbers_of_blocks_are_read_as_numbers() -> None:
    """The helper above writes what it says."""
    made = header("a", 3, b"0") + padded(b"abc") + END
    assert unpacked(made)[0] == {"a": b"abc"}
    with tarfile.open(fileobj=io.BytesIO(made)) as archive:
        assert [each.name for each in archive] == ["a"]
    assert struct.calcsize("512s") == len(header("a", 0, b"0"))
    assert of_type(tarfile.SYMTYPE, "x") is not None
