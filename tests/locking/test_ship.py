"""A workspace to a registry and back: what arrives is what was locked, or nothing is written."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clock import Stopwatch
from equipage.ship import ShipError, artifact
from equipage.ship.artifact import MediaTypes, digest_of, from_layout, layout, packed, shipped
from equipage.ship.credentials import TOKEN, credentials_of
from equipage.ship.registry import Registry, reference_of
from lab import environment, in_process, settle, write

AGENT = "---\nname: reviewer\ndescription: d\ntools: Read\n---\nReview.\n"
SKILL = "---\nname: notes\ndescription: d\n---\nRun scripts/a.sh.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        ".claude/agents/reviewer.md": AGENT,
        ".claude/skills/notes/SKILL.md": SKILL,
        ".claude/skills/notes/scripts/a.sh": "echo\n",
        "not-locked.txt": "private",
        ".git/HEAD": "",
    }
    write(tmp_path / "work", files)
    (tmp_path / "work/.claude/skills/notes/scripts/a.sh").chmod(0o755)
    settle(monkeypatch, tmp_path / "work", environment(HOME=str(tmp_path)))
    assert in_process(["lock"]).code == 0
    return tmp_path / "work"


def below(path: Path) -> dict[str, bytes]:
    return {
        each.relative_to(path).as_posix(): each.read_bytes()
        for each in sorted(path.rglob("*"))
        if each.is_file()
    }


# A registry of a few lines, which can be told to misbehave.


class Fake(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, *_args: Any) -> None:
        """Stay silent."""

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self) -> None:
        kept = self.server.kept
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization")))
        if self.server.before is not None and self.server.before(self):
            return
        data = kept.get(self.path.rpartition("/")[2])
        if data is None:
            self.reply(404)
        else:
            self.reply(200, data, Docker_Content_Digest=digest_of(data))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        if self.server.before is not None and self.server.before(self):
            return
        self.reply(202, Location="/upload?state=x")

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.before is not None and self.server.before(self):
            return
        name = self.path.rpartition("=")[2].replace("%3A", ":")
        if self.path.startswith("/v2/"):
            name = self.path.rpartition("/")[2]
            self.server.kept[digest_of(data)] = data
        self.server.kept[name] = data
        self.reply(201, Docker_Content_Digest=digest_of(data))


@pytest.fixture
def registry() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    server.daemon_threads = True
    server.kept, server.asked, server.before = {}, [], None
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    server.reference = f"127.0.0.1:{server.server_port}/team/agents:1"
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def pushed(registry: Any) -> str:
    code, out, err = in_process(["push", registry.reference])
    assert code == 0, err
    return out.strip()


def refused(arguments: list[str], reason: str) -> None:
    code, out, err = in_process([*arguments])
    assert (code, out) == (2, ""), err
    assert reason in err, err
    assert not Path("../new").exists()


@pytest.mark.requirement("SH-01")
def test_a_round_trip(registry: Any, folder: Path) -> None:
    named = pushed(registry)
    # Once more is the same, and sends no part twice.
    assert pushed(registry) == named
    code, out, err = in_process(["pull", registry.reference, "../new"])
    assert (code, out) == (0, f"{named.partition('@')[2]}\n")
    assert "3 files and the lock, in ../new" in err
    expected = below(folder)
    del expected["not-locked.txt"], expected[".git/HEAD"]
    assert below(folder.parent / "new") == expected
    assert os.access("../new/.claude/skills/notes/scripts/a.sh", os.X_OK)
    assert not os.access("../new/.claude/agents/reviewer.md", os.X_OK)
    # By digest, and into a folder with other files.
    write(folder.parent / "there", {"mine.txt": "mine"})
    assert in_process(["pull", named, "../there"]).code == 0
    assert below(folder.parent / "there") == {**expected, "mine.txt": b"mine"}


def test_through_a_file(folder: Path) -> None:
    code, out, _ = in_process(["pack", "-o", "../agents.tar"])
    assert code == 0
    first = Path("../agents.tar").read_bytes()
    assert in_process(["pack", "-o", "../agents.tar"]).out == out
    assert Path("../agents.tar").read_bytes() == first
    assert in_process(["pull", "../agents.tar", "../new"]).out == out
    assert "not-locked.txt" not in below(folder.parent / "new")


def test_media_types_are_options() -> None:
    types = ["--artifact-type", "a/x", "--files-type", "a/y", "--lock-type", "a/z"]
    assert in_process(["pack", "-o", "../agents.tar", *types]).code == 0
    made = from_layout(Path("../agents.tar").read_bytes())
    manifest = json.loads(made.manifest)
    assert manifest["artifactType"] == "a/x"
    assert [each["mediaType"] for each in manifest["layers"]] == ["a/y", "a/z"]
    assert in_process(["pull", "../agents.tar", "../new"]).code == 0


def test_only_what_was_locked_is_packed(folder: Path) -> None:
    (folder / ".claude/agents/reviewer.md").write_text(AGENT.replace("Read", "Bash"))
    refused(["pack", "-o", "../a.tar"], "reviewer.md is not what was locked; run `equipage verify`")
    assert in_process(["lock"]).code == 0
    (folder / ".claude/skills/notes/link").symlink_to("SKILL.md")
    assert in_process(["lock"]).code == 0
    refused(["pack", "-o", "../a.tar"], "link is a link or lies outside the project")
    (folder / ".claude/skills/notes/link").unlink()
    (folder / ".claude/skills/notes/.env").write_text("TOKEN=x\n")
    assert in_process(["lock"]).code == 0
    refused(["pack", "-o", "../a.tar"], ".env may hold secrets, and cannot be packed")
    (folder / "equipage.lock").write_text("{}")
    refused(["pack", "-o", "../a.tar"], "equipage.lock cannot be used")
    (folder / "equipage.lock").unlink()
    refused(["pack", "-o", "../a.tar"], "there is no equipage.lock")
    refused(["pack", "nowhere", "-o", "../a.tar"], "nowhere is not a folder")
    assert not Path("../a.tar").exists()


@pytest.mark.requirement("SH-02")
def test_nothing_is_written_over_what_is_there(registry: Any, folder: Path) -> None:
    pushed(registry)
    for name in (".claude/agents/reviewer.md", "equipage.lock"):
        there = write(folder.parent / "there", {name: "mine"})
        before = below(there)
        code, _, err = in_process(["pull", registry.reference, "../there"])
        assert (code, f"{name} is there already" in err) == (2, True)
        assert below(there) == before
        shutil.rmtree(there)
    # A link in the folder would lead out of it.
    (folder.parent / "outside").mkdir()
    (folder.parent / "there").mkdir()
    (folder.parent / "there/.claude").symlink_to(folder.parent / "outside")
    code, _, err = in_process(["pull", registry.reference, "../there"])
    assert (code, "leads out of the project" in err) == (2, True)
    assert below(folder.parent / "outside") == below(folder.parent / "there") == {}
    Path("../file").write_text("")
    assert in_process(["pull", registry.reference, "../file"]).code == 2


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_signatures_travel(registry: Any) -> None:
    for name in ("ours", "strange"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"../{name}"], check=True)  # fmt: skip
    Path("../signers").write_text(f"me@example.org {Path('../ours.pub').read_text()}")
    arguments = ["pull", registry.reference, "../new", "--allowed-signers", "../signers"]
    pushed(registry)
    refused(arguments, "the lock is not signed")
    assert in_process(["lock", "--sign", "../strange"]).code == 0
    pushed(registry)
    refused(arguments, "no key in ../signers made the signature")
    assert in_process(["lock", "--sign", "../ours"]).code == 0
    pushed(registry)
    assert in_process(arguments).code == 0
    assert Path("../new/equipage.lock.sig").exists()


# Registries that lie, or do not answer.


def blob(registry: Any, title: str) -> tuple[str, dict[str, Any]]:
    """The digest of a part, and the manifest."""
    manifest = json.loads(registry.kept["1"])
    part = next(
        each for each in manifest["layers"] if each["annotations"][artifact._TITLE] == title
    )
    return part["digest"], manifest


@pytest.mark.requirement("SH-03")
def test_a_registry_that_lies_about_a_digest(registry: Any) -> None:
    named = pushed(registry)
    digest, _ = blob(registry, "workspace.tar.gz")
    good = registry.kept[digest]
    registry.kept[digest] = good[:-1] + bytes([good[-1] ^ 1])
    refused(["pull", registry.reference, "../new"], f"the bytes that were sent for {digest} are")
    registry.kept[digest] = good[:-1]
    refused(["pull", registry.reference, "../new"], "bytes, expected")
    registry.kept[digest] = good + b"x"
    refused(["pull", registry.reference, "../new"], "sends more than")
    registry.kept[digest] = good
    # A manifest of another artifact, asked for by digest.
    registry.kept[named.partition("@")[2]] = registry.kept["1"].replace(b"2", b"3", 1)
    refused(["pull", named, "../new"], "sent a manifest")
    registry.before = lambda fake: fake.path.endswith("/1") and not fake.reply(200, registry.kept["1"], Docker_Content_Digest="sha256:0")  # fmt: skip
    refused(["pull", registry.reference, "../new"], "sent a manifest")


@pytest.mark.requirement("SH-02")
def test_a_workspace_that_is_not_what_its_lock_says(registry: Any, folder: Path) -> None:
    pushed(registry)
    lock = (folder / "equipage.lock").read_bytes()
    files = {name: data for name, data in below(folder).items() if name.startswith(".claude")}
    agent = ".claude/agents/reviewer.md"
    for changed, reason in (
        ({**files, agent: b"x"}, f"{agent} is not what was locked"),
        ({**files, "more.md": b"x"}, "more.md is in the archive, but not locked"),
        ({agent: files[agent]}, "is locked, but not in the archive"),
    ):
        made = packed(lock, changed)
        registry.kept |= {**made.blobs, "1": made.manifest}
        refused(["pull", registry.reference, "../new"], reason)
    made = packed(lock.replace(b"Read", b"Bash"), files)
    registry.kept |= {**made.blobs, "1": made.manifest}
    refused(["pull", registry.reference, "../new"], "its lock cannot be used: it was changed")
    # The lock beside the archive is another one than that inside.
    one, other = packed(lock, files), packed(lock + b" ", files)
    swapped = json.loads(one.manifest)
    swapped["layers"][0] = json.loads(other.manifest)["layers"][0]
    registry.kept |= {**one.blobs, **other.blobs, "1": json.dumps(swapped).encode()}
    refused(["pull", registry.reference, "../new"], "differs from the one beside it")


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (b"nonsense", "the manifest is not JSON"),
        (b"[]", "the manifest is not a JSON object"),
        (b"{}", "it is not a workspace"),
        (b'{"layers": [{}]}', "without a type, a sha256 and a size"),
        (b'{"layers": [{"mediaType": "a", "digest": "sha256:%s", "size": -1}]}' % (b"0" * 64), "without a type"),
        (b'{"layers": [{"mediaType": "a", "digest": "md5:0", "size": 1}]}', "without a type"),
        (b"[" * 100_000, "the manifest is not JSON"),
    ],
)  # fmt: skip
def test_manifests_that_are_none(registry: Any, manifest: bytes, reason: str) -> None:
    registry.kept["1"] = manifest
    refused(["pull", registry.reference, "../new"], reason)


def test_parts_that_are_too_large_are_not_asked_for(registry: Any) -> None:
    pushed(registry)
    _, manifest = blob(registry, "workspace.tar.gz")
    manifest["layers"][0]["size"] = 10**12
    registry.kept["1"] = json.dumps(manifest).encode()
    registry.asked.clear()
    refused(["pull", registry.reference, "../new"], "bytes; the limit is 134,217,728")
    assert len(registry.asked) == 1


@pytest.mark.requirement("SH-03")
def test_a_registry_that_does_not_answer(registry: Any) -> None:
    pushed(registry)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        where = f"127.0.0.1:{silent.getsockname()[1]}/a/b:1"
        watch = Stopwatch()
        refused(["pull", where, "../new", "--timeout", "0.3"], "did not finish within 0.3 seconds")
        refused(["push", where, "--timeout", "0.3"], "did not finish within 0.3 seconds")
        assert watch.seconds < 5
    refused(["pull", where, "../new"], "does not answer as a registry")
    refused(["pull", "127.0.0.1:1/a:tag", "../new"], "does not answer as a registry")


@pytest.mark.requirement("SH-03")
def test_a_registry_that_drips(registry: Any) -> None:
    pushed(registry)

    def drip(fake: Any) -> bool:
        if "/blobs/" not in fake.path:
            return False
        fake.send_response(200)
        fake.send_header("Content-Length", "100000")
        fake.end_headers()
        for _ in range(50):
            try:
                fake.wfile.write(b"x")
                fake.wfile.flush()
            except OSError:
                break
            time.sleep(0.05)
        fake.close_connection = True
        return True

    registry.before = drip
    watch = Stopwatch()
    refused(["pull", registry.reference, "../new", "--timeout", "0.4"], "did not finish within")
    assert watch.seconds < 2


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (500, {}, "answered with HTTP 500"),
        (403, {}, "refuses access"),
        (401, {}, "refuses access; sign in with --auth docker or --auth env"),
        (401, {"WWW_Authenticate": 'Bearer realm="ftp://x"'}, "refuses access"),
        (302, {"Location": "ftp://x"}, "redirects to an address that is not allowed"),
        (302, {"Location": "http://a@b/"}, "sends to an address that is not allowed"),
        (302, {"Location": "/v2/again"}, "redirects too often"),
        (404, {}, "has no team/agents:1"),
    ],
)
def test_answers_that_are_refused(
    registry: Any, status: int, headers: dict[str, str], reason: str
) -> None:
    registry.before = lambda fake: not fake.reply(status, **headers)
    refused(["pull", registry.reference, "../new"], reason)


def test_uploads_that_are_refused(registry: Any) -> None:
    for method, status, headers, reason in (
        ("POST", 500, {}, "answered with HTTP 500"),
        ("POST", 202, {}, "does not say where to upload to"),
        ("PUT", 400, {}, "answered with HTTP 400"),
        ("PUT", 201, {"Docker_Content_Digest": "sha256:0"}, "stored sha256:"),
    ):
        registry.before = lambda fake, m=method, s=status, h=headers: (fake.command == m and not fake.reply(s, **h))  # fmt: skip
        refused(["push", registry.reference], reason)
    refused(["push", "127.0.0.1/a@sha256:" + "0" * 64], "name a tag to push to")
    refused(["push", "nonsense"], "is not a reference: expected HOST/NAME:TAG")


# Signing in: only if it is asked for, and only to the registry itself.


def test_passwords_are_looked_for_only_where_the_user_says(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(registry)
    host = registry.reference.partition("/")[0]
    auth = "bWU6czNjcjN0"  # me:s3cr3t
    write(Path(".."), {".docker/config.json": json.dumps({"auths": {host: {"auth": auth}}})})

    def basic(fake: Any) -> bool:
        if fake.headers.get("Authorization") == f"Basic {auth}":
            return False
        fake.reply(401, WWW_Authenticate='Basic realm="x"')
        return True

    registry.before = basic
    arguments = ["pull", registry.reference, "../new"]
    refused(arguments, "refuses access")
    assert all(each[2] is None for each in registry.asked)
    refused([*arguments, "--auth", "env"], "needs the variable EQUIPAGE_REGISTRY_USER")
    assert in_process([*arguments, "--auth", "docker"]).code == 0
    shutil.rmtree("../new")
    settle(monkeypatch, Path.cwd(), environment(EQUIPAGE_REGISTRY_USER="me", EQUIPAGE_REGISTRY_PASSWORD="s3cr3t"))  # fmt: skip
    done = in_process([*arguments, "--auth", "env"])
    assert done.code == 0
    assert "s3cr3t" not in done.out + done.err
    found = credentials_of("env", host, os.environ, unasked)
    assert "s3cr3t" not in repr(found)
    with pytest.raises(ShipError, match=r"has no password for other\.org"):
        credentials_of("docker", "other.org", {"HOME": str(Path("..").resolve())}, unasked)


def unasked(program: str, host: str) -> bytes:
    raise AssertionError((program, host))


def test_helpers_are_asked_as_docker_asks_them(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def ask(program: str, host: str) -> bytes:
        asked.append((program, host))
        return b'{"ServerURL": "x", "Username": "me", "Secret": "s3cr3t"}'

    def given(config: Any, host: str) -> Any:
        text = config if isinstance(config, str) else json.dumps(config)
        write(tmp_path, {"config.json": text})
        return credentials_of("docker", host, {"DOCKER_CONFIG": str(tmp_path)}, ask)

    kept = {"auths": {"https://a.org/v1/": {"auth": "bWU6b2xk"}, "b.org": {}}}  # me:old
    config = {**kept, "credHelpers": {"c.org": "cloud"}, "credsStore": "store"}
    assert given(kept, "a.org").password == "old"
    assert given(config, "b.org").password == "s3cr3t"
    assert given(config, "c.org").user == "me"
    assert given(config, "docker.io").user == "me"
    assert asked == [
        ("docker-credential-store", "b.org"),
        ("docker-credential-cloud", "c.org"),
        ("docker-credential-store", "https://index.docker.io/v1/"),
    ]
    token = given({"auths": {"a.org": {"identitytoken": "t"}}}, "a.org")
    assert (token.user, token.password) == (TOKEN, "t")
    for config, reason in (
        ({"credsStore": "../evil"}, "is not a plain name"),
        ({"auths": {"a.org": {"auth": "%%"}}}, "has no password for a.org"),
        ({"auths": 5, "credHelpers": 5}, "has no password for a.org"),
        ("[", "is not JSON"),
        ("[]", "has no password for a.org"),
    ):
        with pytest.raises(ShipError, match=reason):
            given(config, "a.org")
    for answer in (b"", b"[]", b"{}", b'{"Username": "me", "Secret": ""}'):
        write(tmp_path, {"config.json": json.dumps({"credsStore": "store"})})
        with pytest.raises(ShipError, match="did not answer with a password"):
            credentials_of("docker", "a.org", {"DOCKER_CONFIG": str(tmp_path)}, lambda *_, said=answer: said)  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="the helper is a script of the shell")
def test_a_helper_runs_for_push_and_pull_and_its_secret_stays_out(
    registry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(registry)
    helper = write(Path("../bin"), {"docker-credential-mine": '#!/bin/sh\nread host\ntest -z "$FAILS" || { echo s3cr3t; exit 1; }\nls >&2\nprintf \'{"Username": "me", "Secret": "s3cr3t"}\'\n'})  # fmt: skip
    (helper / "docker-credential-mine").chmod(0o755)
    write(Path(".."), {".docker/config.json": '{"credsStore": "mine"}'})
    here = Path.cwd()

    def settled(path: str, **more: str) -> None:
        home = str(Path("..").resolve())
        settle(monkeypatch, here, environment(HOME=home, PATH=path, **more))

    def basic(fake: Any) -> bool:
        wanted = fake.headers.get("Authorization") == "Basic bWU6czNjcjN0"
        return not wanted and not fake.reply(401, WWW_Authenticate='Basic realm="x"')

    registry.before = basic
    arguments = ["pull", registry.reference, "../new", "--auth", "docker"]
    path = f"{helper.resolve()}:{os.environ['PATH']}"
    settled(path)
    done = in_process(arguments)
    assert done.code == 0, done.err
    assert "s3cr3t" not in done.out + done.err
    shutil.rmtree("../new")
    settled(path, FAILS="1")
    code, out, err = in_process(arguments)
    assert (code, "has no password for" in err, "s3cr3t" in out + err) == (2, True, False)
    settled(os.environ["PATH"].replace(f"{helper.resolve()}:", ""))
    refused(arguments, "there is no program `docker-credential-mine`")


def test_a_kept_token_is_exchanged(registry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed(registry)
    host = registry.reference.partition("/")[0]
    write(Path(".."), {".docker/config.json": json.dumps({"auths": {host: {"identitytoken": "k3pt"}}})})  # fmt: skip
    forms: list[bytes] = []

    def token(fake: Any) -> bool:
        if fake.path.startswith("/token"):
            forms.append(fake.rfile.read(int(fake.headers["Content-Length"])))
            return not fake.reply(200, b'{"access_token": "t0ken"}')
        wanted = fake.headers.get("Authorization") == "Bearer t0ken"
        challenge = f'Bearer realm="http://{host}/token",service="s",scope="pull"'
        return not wanted and not fake.reply(401, WWW_Authenticate=challenge)

    registry.before = token
    assert in_process(["pull", registry.reference, "../new", "--auth", "docker"]).code == 0
    assert forms == [b"service=s&scope=pull&grant_type=refresh_token&refresh_token=k3pt&client_id=equipage"]  # fmt: skip


def test_a_token_is_not_sent_to_where_a_redirect_leads(registry: Any) -> None:
    pushed(registry)
    elsewhere: Any = ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    elsewhere.kept, elsewhere.asked, elsewhere.before = registry.kept, [], None
    threading.Thread(target=elsewhere.serve_forever, args=(0.01,), daemon=True).start()

    def token(fake: Any) -> bool:
        here = f"http://127.0.0.1:{registry.server_port}"
        if fake.path.startswith("/token"):
            assert "scope=pull" in fake.path
            return not fake.reply(200, b'{"token": "t0ken"}')
        if fake.headers.get("Authorization") != "Bearer t0ken":
            challenge = f'Bearer realm="{here}/token",service="s",scope="pull"'
            return not fake.reply(401, WWW_Authenticate=challenge)
        if "/blobs/" in fake.path:
            target = f"http://127.0.0.1:{elsewhere.server_port}{fake.path}"
            return not fake.reply(307, Location=target)
        return False

    registry.before = token
    assert in_process(["pull", registry.reference, "../new"]).code == 0
    assert [each[2] for each in elsewhere.asked] == [None, None]
    elsewhere.shutdown()
    elsewhere.server_close()
    registry.before = lambda fake: not fake.reply(200, b"[]") if fake.path.startswith("/token") else not fake.reply(401, WWW_Authenticate=f'Bearer realm="http://127.0.0.1:{registry.server_port}/token"')  # fmt: skip
    code, _, err = in_process(["pull", registry.reference, "../newer"])
    assert (code, "sent no token" in err) == (2, True)


# Archives of strangers.


def tar(*entries: tuple[str, Callable[[tarfile.TarInfo], None] | None, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, change, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if change is not None:
                change(entry)
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def of_type(kind: bytes, target: str = "") -> Callable[[tarfile.TarInfo], None]:
    def change(entry: tarfile.TarInfo) -> None:
        entry.type, entry.linkname = kind, target

    return change


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (tar(("../a", None, b"")), "'../a', which leads out of the folder"),
        (tar(("/etc/a", None, b"")), "which leads out of the folder"),
        (tar(("a/../../b", None, b"")), "which leads out of the folder"),
        (tar(("a//b", None, b"")), "which leads out of the folder"),
        (tar(("./a", None, b"")), "which leads out of the folder"),
        (tar(("x" * 1001, None, b"")), "which leads out of the folder"),
        (tar(("a\\b", None, b"")), "which is not a file name on every system"),
        (tar(("c:a", None, b"")), "which is not a file name on every system"),
        (tar(("a\nb", None, b"")), "which is not a file name on every system"),
        (tar((".git/hooks/pre-commit", None, b"")), "which belongs to git"),
        (tar(("sub/.GIT/config", None, b"")), "which belongs to git"),
        (tar(("a", of_type(tarfile.SYMTYPE, "/etc/passwd"), b"")), "which is a link"),
        (tar(("a", of_type(tarfile.LNKTYPE, "b"), b"")), "which is a link"),
        (tar(("a", of_type(tarfile.CHRTYPE), b"")), "which is neither a file nor a folder"),
        (tar(("a", of_type(tarfile.FIFOTYPE), b"")), "which is neither a file nor a folder"),
        (tar(("a", None, b"1"), ("a", None, b"2")), "holds a twice"),
        (tar(("a", None, b"1"), ("A", None, b"2")), "are one file on some systems"),
        (tar(("a", None, b"1"), ("a/b", None, b"2")), "is below a name that is a file, too"),
        (tar(("a", None, b"12345" * 500))[:1024], "the archive is damaged"),
        (b"nonsense" * 100, "the archive is damaged"),
    ],
)  # fmt: skip
@pytest.mark.requirement("SH-03")
def test_archives_that_are_refused(folder: Path, data: bytes, reason: str) -> None:
    lock = (folder / "equipage.lock").read_bytes()
    with pytest.raises(ShipError) as raised:
        shipped(gzip.compress(data), lock)
    assert reason in str(raised.value)


@pytest.mark.requirement("SH-03")
def test_archives_that_are_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = (folder / "equipage.lock").read_bytes()
    monkeypatch.setattr(artifact, "MAX_FILES", 50)
    many = tar(*((f"f{number}", None, b"") for number in range(51)))
    folders = tar(*((f"f{number}", of_type(tarfile.DIRTYPE), b"") for number in range(51)))
    for data in (many, folders):
        with pytest.raises(ShipError, match="more than 50 files"):
            shipped(gzip.compress(data), lock)
    monkeypatch.setattr(artifact, "MAX_BYTES", 10_000)
    with pytest.raises(ShipError, match="more than 10,000 bytes"):
        shipped(gzip.compress(tar(("a", None, b"x" * 10_001))), lock)
    # Zeros that are small when packed are never unpacked whole.
    with pytest.raises(ShipError, match="more than 10,000 bytes"):
        shipped(gzip.compress(bytes(50_000_000)), lock)
    for data, reason in (
        (gzip.compress(many)[:-5], "cut off, or has more bytes after its end"),
        (gzip.compress(many) + b"x", "cut off, or has more bytes after its end"),
        (b"nonsense", "the archive is damaged"),
    ):
        with pytest.raises(ShipError, match=reason):
            shipped(data, lock)


def test_archives_of_the_layout_that_are_refused(folder: Path) -> None:
    lock = (folder / "equipage.lock").read_bytes()
    made = packed(lock, {"a": b"x"}, types=MediaTypes())
    good, _ = artifact.unpacked(layout(made, "x"))

    def archived(files: dict[str, bytes]) -> None:
        Path("../bad.tar").write_bytes(tar(*((name, None, data) for name, data in files.items())))

    digest = made.digest.partition(":")[2]
    for change, reason in (
        ({"index.json": b"{}"}, "does not hold exactly one artifact"),
        ({"index.json": b""}, "the index is not JSON"),
        ({f"blobs/sha256/{digest}": b"x"}, "bytes, expected"),
        ({f"blobs/sha256/{hashlib.sha256(lock).hexdigest()}": b""}, "0 bytes, expected"),
    ):
        archived({**good, **change})
        refused(["pull", "../bad.tar", "../new"], reason)
    archived({name: data for name, data in good.items() if digest not in name})
    refused(["pull", "../bad.tar", "../new"], "the archive lacks its manifest")
    Path("../bad.tar").write_text("x")
    refused(["pull", "../bad.tar", "../new"], "the archive is damaged")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("localhost:5000/a", ("localhost:5000", "a", "latest", None)),
        ("oci://r.example.org/a/b-c:1.2", ("r.example.org", "a/b-c", "1.2", None)),
        (f"r/a:1@sha256:{'0' * 64}", ("r", "a", "1", f"sha256:{'0' * 64}")),
    ],
)
def test_references(written: str, expected: tuple[Any, ...]) -> None:
    found = reference_of(written)
    assert (found.host, found.name, found.tag, found.digest) == expected


@pytest.mark.parametrize(
    "written", ["a", "a:1", "https://h/a", "h/A", "h/a@sha256:0", "h/../a", "u@h/a"]
)
def test_what_is_no_reference(written: str) -> None:
    with pytest.raises(ShipError):
        reference_of(written)


def test_only_this_machine_is_spoken_to_without_encryption() -> None:
    assert Registry("localhost:5000").scheme == "http"
    assert Registry("[::1]:5000").scheme == "http"
    assert Registry("registry.example.org").scheme == "https"
    assert Registry("127.0.0.1.example.org").scheme == "https"
    assert Registry("registry.example.org", plain_http=True).scheme == "http"
