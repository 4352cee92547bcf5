"""Artifacts without a registry: what is packed, byte by byte, and what is refused, word by word."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import random
import tarfile
import zlib
from typing import Any

import msgspec
import pytest

from equipage.ship import ShipError, artifact
from equipage.ship.artifact import (
    EMPTY,
    MANIFEST,
    Descriptor,
    MediaTypes,
    digest_of,
    from_layout,
    layout,
    packed,
    parts_of,
    require,
    shipped,
    unpacked,
)
from equipage.views import workspace_lock
from equipage.views.workspace_lock import Item, WorkspaceLock
from security.test_pull import header, pax

from .test_ship import of_type, tar

TITLE = "org.opencontainers.image.title"


def lock_of(files: dict[str, bytes], items: dict[str, Item] | None = None) -> bytes:
    """The lock of these files."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    items = items or {"a.md": Item("instructions")}
    lock = WorkspaceLock(workspace_lock.VERSION, workspace_lock.CANONICAL, (".",), items, hashes)
    sealed = msgspec.structs.replace(lock, seal=workspace_lock._seal(lock))
    return workspace_lock.write(sealed).encode()


FILES = {"b/run.sh": b"echo", "a.md": b"text"}
LOCK = lock_of(FILES)


def members(data: bytes) -> list[tuple[Any, ...]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return [
            (each.name, each.size, each.mode, each.mtime, each.uid, each.gid, each.uname, each.type)
            for each in archive
        ]


def reason(call: Any, *given: Any) -> str:
    with pytest.raises(ShipError) as raised:
        call(*given)
    assert raised.value.__cause__ is None
    return str(raised.value)


# Packing.


def test_an_artifact_is_a_manifest_an_archive_and_the_lock() -> None:
    made = packed(LOCK, FILES, frozenset({"b/run.sh"}), b"signed")
    manifest = json.loads(made.manifest)
    archive = made.blobs[manifest["layers"][0]["digest"]]
    assert manifest == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.equipage.workspace.v1",
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": digest_of(b"{}"),
            "size": 2,
        },
        "layers": [
            {
                "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
                "digest": digest_of(archive),
                "size": len(archive),
                "annotations": {TITLE: "workspace.tar.gz"},
            },
            {
                "mediaType": "application/vnd.equipage.lock.v3+json",
                "digest": digest_of(LOCK),
                "size": len(LOCK),
                "annotations": {TITLE: "equipage.lock"},
            },
        ],
    }
    assert made.manifest == json.dumps(manifest, separators=(",", ":")).encode()
    assert made.blobs == {digest_of(each): each for each in (b"{}", archive, LOCK)}
    assert made.digest == "sha256:" + hashlib.sha256(made.manifest).hexdigest()


def test_the_archive_says_nothing_about_this_machine() -> None:
    made = packed(LOCK, FILES, frozenset({"b/run.sh"}), b"signed")
    archive = made.blobs[parts_of(made.manifest)[0].digest]
    assert archive[4:8] == bytes(4)  # the time
    rest = (0, 0, 0, "", tarfile.REGTYPE)
    assert members(gzip.decompress(archive)) == [
        ("a.md", 4, 0o644, *rest),
        ("b/run.sh", 4, 0o755, *rest),
        ("equipage.lock", len(LOCK), 0o644, *rest),
        ("equipage.lock.sig", 6, 0o644, *rest),
    ]


def test_the_level_is_a_part_of_the_promise() -> None:
    """Equal files give equal bytes, today and with the next version."""
    chance = random.Random(1)
    words = " ".join(chance.choices(["the", "agent", "reads", "a", "file", "and"], k=20_000))
    made = packed(LOCK, {"a.md": words.encode()})
    archive = made.blobs[parts_of(made.manifest)[0].digest]
    plain = gzip.decompress(archive)
    levels = [level for level in range(10) if gzip.compress(plain, level, mtime=0) == archive]
    assert levels == [6]


def test_equal_files_make_an_equal_artifact() -> None:
    backwards = dict(reversed(FILES.items()))
    assert packed(LOCK, FILES) == packed(LOCK, backwards)
    assert packed(LOCK, FILES).manifest != packed(LOCK, FILES, signature=b"x").manifest
    assert packed(LOCK, FILES).manifest != packed(LOCK, FILES, frozenset({"a.md"})).manifest


def test_names_of_any_length_and_letters_are_packed() -> None:
    names = {"x" * 99 + "/" + "y" * 300: b"1", "é/ü": b"2"}
    lock = lock_of(names)
    made = packed(lock, names)
    archive = made.blobs[parts_of(made.manifest)[0].digest]
    assert shipped(archive, lock).files == names
    assert b" path=" in gzip.decompress(archive)


def test_parts_may_be_called_otherwise() -> None:
    made = packed(LOCK, FILES, types=MediaTypes("a/x", "a/y", "a/z"))
    manifest = json.loads(made.manifest)
    assert manifest["artifactType"] == "a/x"
    archive, lock = parts_of(made.manifest)
    assert (archive.media_type, lock.media_type) == ("a/y", "a/z")
    assert (archive.title, lock.title) == ("workspace.tar.gz", "equipage.lock")


def test_a_layout_holds_all_of_it() -> None:
    made = packed(LOCK, FILES)
    data = layout(made, "the:name")
    files, executable = unpacked(data)
    assert executable == frozenset()
    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    written = files["index.json"]
    assert json.loads(written) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            {
                "mediaType": MANIFEST,
                "digest": made.digest,
                "size": len(made.manifest),
                "annotations": {"org.opencontainers.image.ref.name": "the:name"},
            }
        ],
    }
    assert written == json.dumps(json.loads(written), separators=(",", ":")).encode()
    blobs = {name: each for name, each in files.items() if name.startswith("blobs/")}
    assert blobs == {
        f"blobs/sha256/{hashlib.sha256(each).hexdigest()}": each
        for each in (*made.blobs.values(), made.manifest)
    }
    back = from_layout(data)
    assert back.manifest == made.manifest
    assert made.blobs.items() <= back.blobs.items()


# Layouts and manifests of strangers.


def a_part(**changes: Any) -> dict[str, Any]:
    part = {"mediaType": "a/b", "digest": digest_of(b"x"), "size": 1}
    return {key: each for key, each in {**part, **changes}.items() if each is not ...}


def titled(title: Any, **changes: Any) -> dict[str, Any]:
    return a_part(annotations={TITLE: title}, **changes)


def manifest_of(*layers: Any) -> bytes:
    return json.dumps({"layers": layers}).encode()


ONE = "the archive does not hold exactly one artifact"
UNDESCRIBED = "the manifest describes a part without a type, a sha256 and a size"


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (None, "the index is not JSON"),
        (b"{", "the index is not JSON"),
        (b"\xff", "the index is not JSON"),
        (b'"\xff"', "the index is not JSON"),
        (b"[" * 100_000, "the index is not JSON"),
        (b"[]", "the index is not a JSON object"),
        (b"{}", ONE),
        (b'{"manifests": {}}', ONE),
        (b'{"manifests": []}', ONE),
        (json.dumps({"manifests": [a_part(), a_part()]}).encode(), ONE),
        (b'{"manifests": [5]}', UNDESCRIBED),
        (
            json.dumps({"manifests": [a_part()]}).encode(),
            f"the archive lacks its manifest {digest_of(b'x')}",
        ),
    ],
)
def test_indexes_that_are_refused(index: bytes | None, said: str) -> None:
    files = {} if index is None else {"index.json": index}
    assert reason(from_layout, tar(*((name, None, data) for name, data in files.items()))) == said


def test_a_manifest_that_is_not_what_the_index_says() -> None:
    for size, content in ((1, b"y"), (2, b"x")):
        index = json.dumps({"manifests": [a_part(size=size)]}).encode()
        name = f"blobs/sha256/{hashlib.sha256(b'x').hexdigest()}"
        said = reason(from_layout, tar(("index.json", None, index), (name, None, content)))
        assert digest_of(b"x") in said


@pytest.mark.parametrize(
    "part",
    [
        5,
        None,
        [],
        a_part(digest=...),
        a_part(digest=5),
        a_part(digest=digest_of(b"x")[:-1]),
        a_part(digest=digest_of(b"x") + "0"),
        a_part(digest="sha512:" + "0" * 64),
        a_part(digest="SHA256:" + "0" * 64),
        a_part(size=...),
        a_part(size="1"),
        a_part(size=True),
        a_part(size=1.0),
        a_part(size=-1),
        a_part(mediaType=...),
        a_part(mediaType=5),
    ],
)
def test_parts_that_are_not_described(part: Any) -> None:
    assert reason(parts_of, manifest_of(part, titled("equipage.lock"))) == UNDESCRIBED


NO_WORKSPACE = "it is not a workspace: it needs an archive of files and one equipage.lock"


@pytest.mark.parametrize(
    "manifest",
    [
        b"{}",
        b'{"layers": {}}',
        manifest_of(),
        manifest_of(titled("equipage.lock")),
        manifest_of(titled("a")),
        manifest_of(titled("a"), titled("b")),
        manifest_of(titled("equipage.lock"), titled("equipage.lock")),
        manifest_of(titled("a"), titled("b"), titled("equipage.lock")),
        manifest_of(titled("a"), titled("equipage.lock"), titled("equipage.lock")),
        manifest_of(titled("EQUIPAGE.LOCK"), titled("a")),
    ],
)
def test_manifests_that_are_not_of_a_workspace(manifest: bytes) -> None:
    assert reason(parts_of, manifest) == NO_WORKSPACE


@pytest.mark.parametrize("title", [None, 5, ["equipage.lock"], "", "X"])
def test_the_archive_may_have_any_title(title: Any) -> None:
    empty = a_part(size=0, digest=digest_of(b""))
    lock = titled("equipage.lock", size=7)
    for other in (titled(title), a_part(), a_part(annotations=title), empty):
        archive, found = parts_of(manifest_of(other, lock))
        assert found == Descriptor("a/b", digest_of(b"x"), 7, "equipage.lock")
        assert archive.size == other["size"]
        expected = title if isinstance(title, str) and other.get("annotations") == {TITLE: title} else ""  # fmt: skip
        assert archive.title == expected


def test_the_manifest_and_its_parts_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for large, small in (("equipage.lock", "a"), ("a", "equipage.lock")):
        manifest = manifest_of(titled(large, size=1001), titled(small))
        monkeypatch.setattr(artifact, "MAX_PACKED", 1000)
        said = f"{digest_of(b'x')} has 1,001 bytes; the limit is 1,000"
        assert reason(parts_of, manifest) == said
        monkeypatch.setattr(artifact, "MAX_PACKED", 1001)
        assert {each.size for each in parts_of(manifest)} == {1, 1001}
    manifest = manifest_of(titled("equipage.lock"), titled("a"))
    manifest += b" " * (2000 - len(manifest))
    monkeypatch.setattr(artifact, "MAX_MANIFEST", 2000)
    assert parts_of(manifest)
    assert reason(parts_of, manifest + b" ") == "the manifest has more than 2,000 bytes"


def test_bytes_are_what_was_described() -> None:
    wanted = Descriptor("a/b", digest_of(b"x" * 2000), 2000)
    require(wanted, b"x" * 2000)
    assert (
        reason(require, wanted, b"x" * 1999) == f"{wanted.digest} has 1,999 bytes, expected 2,000"
    )
    assert reason(require, wanted, b"y" * 2000) == (
        f"the bytes that were sent for {wanted.digest} are {digest_of(b'y' * 2000)}"
    )


# Archives and their lock.


def sent(*entries: Any) -> bytes:
    return gzip.compress(tar(*entries))


A, B = ("a.md", None, b"text"), ("b/run.sh", None, b"echo")


def test_what_is_locked_arrives() -> None:
    def executable(entry: tarfile.TarInfo) -> None:
        entry.mode = 0o100

    def readable(entry: tarfile.TarInfo) -> None:
        entry.mode = 0o677

    run = ("b/run.sh", executable, b"echo")
    text = ("a.md", readable, b"text")
    found = shipped(sent(("b", of_type(tarfile.DIRTYPE), b""), run, text), LOCK)
    assert (found.files, found.executable) == (FILES, {"b/run.sh"})
    assert (found.text, found.signature) == (LOCK, None)
    assert found.lock.files.keys() == FILES.keys()
    beside = ("equipage.lock", None, LOCK), ("equipage.lock.sig", None, b"signed")
    found = shipped(sent(A, *beside, B), LOCK)
    assert (found.files, found.signature, found.executable) == (FILES, b"signed", frozenset())


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ((A,), "b/run.sh is locked, but not in the archive"),
        ((A, B, ("c", None, b"")), "c is in the archive, but not locked"),
        ((A, ("b/run.sh", None, b"Echo")), "b/run.sh is not what was locked"),
        (
            (A, B, ("equipage.lock", None, LOCK + b"\n")),
            "the lock inside the archive differs from the one beside it",
        ),
    ],
)
def test_what_is_not_as_locked_is_refused(entries: tuple[Any, ...], said: str) -> None:
    assert reason(shipped, sent(*entries), LOCK) == said


def test_what_may_be_run_is_what_was_locked() -> None:
    """A lock may be signed, an archive is not: a mark that is lost or added is refused."""

    def runs(entry: tarfile.TarInfo) -> None:
        entry.mode = 0o755

    marked = Item("claude-hooks", executable=("b/run.sh", "elsewhere"))
    lock = lock_of(FILES, {"x": marked})
    assert shipped(sent(A, ("b/run.sh", runs, b"echo")), lock).executable == {"b/run.sh"}
    said = "b/run.sh may be run where it was locked, but not in the archive"
    assert reason(shipped, sent(A, B), lock) == said
    # Other files of a client may be run, unless they were locked as files that are not read.
    both = sent(("a.md", runs, b"text"), ("b/run.sh", runs, b"echo"))
    assert shipped(both, lock).executable == {"a.md", "b/run.sh"}
    unread = lock_of(
        FILES, {"a.md": Item("unread"), "b/run.sh": Item("unread", executable=("b/run.sh",))}
    )
    said = "a.md may be run in the archive, but not where it was locked"
    assert reason(shipped, both, unread) == said
    assert shipped(sent(A, ("b/run.sh", runs, b"echo")), unread).files == FILES


def test_a_lock_that_is_none_is_refused() -> None:
    said = reason(shipped, sent(A, B), b"{}")
    assert said.startswith("its lock cannot be used: it has no version")


def test_an_archive_has_one_stream_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sent(A, B)
    ends = "the archive is cut off, or has more bytes after its end"
    assert reason(shipped, data[:-1], LOCK) == ends
    assert reason(shipped, data + b"x", LOCK) == ends
    assert reason(shipped, data + data, LOCK) == ends
    assert reason(shipped, b"", LOCK) == ends
    for other in (
        b"x" + data,
        tar(A, B),
        zlib.compress(tar(A, B)),
        data[:20] + b"\xff" * 20 + data[40:],
    ):
        assert reason(shipped, other, LOCK) == "the archive is damaged"


def test_how_much_an_archive_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MAX_BYTES", 8)
    assert unpacked(tar(A, B))[0] == FILES
    too_much = "the archive holds more than 7 bytes"
    monkeypatch.setattr(artifact, "MAX_BYTES", 7)
    assert reason(unpacked, tar(A, B)) == too_much
    monkeypatch.setattr(artifact, "MAX_FILES", 2)
    # Headers are beside what files may have, and so much of them that all files fit.
    plain = bytes(7 + 2 * 2048)
    assert artifact._decompressed(gzip.compress(plain)) == plain
    assert reason(artifact._decompressed, gzip.compress(plain + b"x")) == too_much
    monkeypatch.undo()
    monkeypatch.setattr(artifact, "MAX_FILES", 2)
    folder = ("d", of_type(tarfile.DIRTYPE), b"")
    assert unpacked(tar(A, B))[0] == FILES
    assert unpacked(tar(A, folder))[0] == {"a.md": b"text"}
    for entries in ((A, B, folder), (folder, A, B)):
        assert reason(unpacked, tar(*entries)) == "the archive holds more than 2 files"
    assert (artifact.MAX_BYTES, artifact.MAX_PACKED) == (1 << 28, 1 << 27)


OUT = "which leads out of the folder"
NOT_EVERYWHERE = "which is not a file name on every system"
GIT = "which belongs to git"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/a", OUT),
        ("../a", OUT),
        ("a/..", OUT),
        ("a/../b", OUT),
        ("./a", OUT),
        ("a/./b", OUT),
        ("a//b", OUT),
        ("x" * 1001, OUT),
        ("a\\b", NOT_EVERYWHERE),
        ("a:b", NOT_EVERYWHERE),
        ("a\tb", NOT_EVERYWHERE),
        ("a\u200bb", NOT_EVERYWHERE),
        ("a./b", NOT_EVERYWHERE),
        ("a/b.", NOT_EVERYWHERE),
        ("a /b", NOT_EVERYWHERE),
        ("a/b ", NOT_EVERYWHERE),
        *(
            (name, NOT_EVERYWHERE)
            for name in ("con", "PRN", "a/aux.md", "Nul.tar.gz", "com1", "lpt²")
        ),
        (".git/a", GIT),
        ("a/.GIT", GIT),
        ("Git~1/a", GIT),
        (".hg/hgrc", "which belongs to a repository"),
        ("a/.SVN/b", "which belongs to a repository"),
    ],
)
def test_names_that_are_refused(name: str, said: str) -> None:
    found = reason(unpacked, tar((name, None, b"")))
    assert found == f"the archive holds {name[:200]!a}, {said}"


@pytest.mark.parametrize(
    "name",
    [
        "x" * 1000,
        "..a/b..c",
        ".a",
        ".gitignore",
        "git",
        "a b",
        "console",
        "com",
        "com10",
        "xnul",
        "é",
        "XX",
        "hg/a",
    ],
)
def test_names_that_are_let_through(name: str) -> None:
    assert unpacked(tar((name, None, b"1"))) == ({name: b"1"}, frozenset())


@pytest.mark.parametrize(
    "names",
    [
        ("HEAD", "objects/x", "config"),
        ("a/b/head", "a/b/refs/heads/x", "z"),
        ("z", "a/Commondir", "a/HEAD"),
        ("q/objects/x", "a/refs/y", "a/HEAD", "r/objects/z"),
    ],
)
def test_a_repository_without_a_work_tree_is_refused(names: tuple[str, ...]) -> None:
    head = next(name for name in names if name.casefold().endswith("head"))
    found = reason(unpacked, tar(*((name, None, b"") for name in names)))
    assert found == f"the archive holds {head!a}, which belongs to git"


@pytest.mark.parametrize(
    "names",
    [
        ("HEAD", "a/objects/x"),
        ("a/HEAD", "objects/x"),
        ("a/b/HEAD", "a/objects/x", "refs"),
        ("ahead", "objects/x", "heads/x"),
        ("objects/HEAD/x", "refs"),
        ("a/HEAD",),
    ],
)
def test_names_of_git_that_make_no_repository(names: tuple[str, ...]) -> None:
    assert unpacked(tar(*((name, None, b"") for name in names)))[0].keys() == set(names)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "neither a file nor a folder"),
        (tarfile.BLKTYPE, "neither a file nor a folder"),
        (tarfile.FIFOTYPE, "neither a file nor a folder"),
    ],
)
def test_only_files_and_folders_are_unpacked(kind: bytes, said: str) -> None:
    found = reason(unpacked, tar(("x", of_type(kind, "y"), b"")))
    assert found == f"the archive holds 'x', which is {said}"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "a"), "the archive holds a twice"),
        (("a", "A"), "A and a are one file on some systems"),
        (("é", "e\u0301"), "e\u0301 and é are one file on some systems"),
        (("ß", "SS"), "SS and ß are one file on some systems"),
        (("a", "a/b"), "a/b is below a name that is a file, too"),
        (("a/b/c/d", "A/B"), "a/b/c/d is below a name that is a file, too"),
    ],
)
def test_names_that_are_one_file(names: tuple[str, str], said: str) -> None:
    assert reason(unpacked, tar(*((name, None, b"") for name in names))) == said
    assert unpacked(tar(("a/b", None, b""), ("a/c", None, b""), ("ab", None, b"")))


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"x", b"x" * 512, tar(A)[:700], tar(A)[:515]),
        gzip.compress(tar(A), mtime=0),
        bz2.compress(tar(A)),
        *(pax(size=size) + header("a", 0, b"0") + bytes(1024) for size in ("-512", "x", "", " 0")),
        tar(A)[:1024] + pax(size="-512") + header("b", 0, b"0") + bytes(1024),
        *(tar(A) + b"X", tar(A) + tar(A), header("a", 0, b"0") + b"x" * 512 + bytes(1024)),
    ],
)
def test_archives_that_are_damaged(data: bytes) -> None:
    assert reason(unpacked, data) == "the archive is damaged"


def test_media_types_of_others_are_written_out() -> None:
    assert (EMPTY, artifact.INDEX) == (
        "application/vnd.oci.empty.v1+json",
        "application/vnd.oci.image.index.v1+json",
    )
