"""A workspace as a plain OCI artifact: a manifest, the lock, and an archive of the files it locks.

There is no format of our own: the archive is a gzipped tar, the lock is the file as it lies in the
project, and the manifest is that of the OCI image specification. What is unpacked is checked
against the lock, file by file, before anything else is done with it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import normalize

import msgspec

from equipage.ship import ShipError
from equipage.views.lock import LockError
from equipage.views.workspace_lock import NAME, UNREAD, WorkspaceLock, read

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
SIGNATURE = f"{NAME}.sig"
#: What an archive may hold at most: a workspace is text.
MAX_FILES, MAX_BYTES, MAX_PACKED = 20_000, 256 * 1024 * 1024, 128 * 1024 * 1024
MAX_MANIFEST = 4 * 1024 * 1024
_LONGEST_NAME = 1000
#: Beside a file `HEAD`, these make a repository of a folder.
_OF_GIT = frozenset({"objects", "refs", "commondir"})
_REPOSITORIES = frozenset({".hg", "hg~1", ".svn", "svn~1", ".bzr", "bzr~1", ".jj", "_darcs"})
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
#: The annotation by which tools such as ORAS name the file of a part.
_TITLE = "org.opencontainers.image.title"
_EMPTY = b"{}"


class MediaTypes(msgspec.Struct, frozen=True):
    """What the parts of an artifact are called."""

    artifact: str = "application/vnd.equipage.workspace.v1"
    files: str = "application/vnd.oci.image.layer.v1.tar+gzip"
    lock: str = "application/vnd.equipage.lock.v3+json"


class Artifact(msgspec.Struct, frozen=True):
    """A manifest and what it refers to, by digest."""

    manifest: bytes
    blobs: dict[str, bytes]

    @property
    def digest(self) -> str:
        return digest_of(self.manifest)


class Descriptor(msgspec.Struct, frozen=True):
    """A part of an artifact: what it is, its digest, its size."""

    media_type: str
    digest: str
    size: int
    title: str = ""


class Shipped(msgspec.Struct, frozen=True):
    """What was unpacked: files that are what the lock says."""

    lock: WorkspaceLock
    text: bytes  #: of the lock
    files: dict[str, bytes]
    signature: bytes | None = None
    executable: frozenset[str] = frozenset()


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# Packing.


def packed(
    lock: bytes,
    files: Mapping[str, bytes],
    executable: frozenset[str] = frozenset(),
    signature: bytes | None = None,
    types: MediaTypes | None = None,
) -> Artifact:
    """The artifact of files and their lock. Equal files make an equal artifact."""
    types = types or MediaTypes()
    # The lock is in the archive as well, so that unpacking it with `tar` gives a whole workspace.
    extra = {NAME: lock} | ({} if signature is None else {SIGNATURE: signature})
    archive = _archive({**files, **extra}, executable)
    parts = [(types.files, "workspace.tar.gz", archive), (types.lock, NAME, lock)]
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": types.artifact,
        "config": _described(EMPTY, _EMPTY),
        "layers": [
            {**_described(kind, data), "annotations": {_TITLE: title}}
            for kind, title, data in parts
        ],
    }
    blobs = {digest_of(data): data for data in (_EMPTY, *(data for _, _, data in parts))}
    return Artifact(json.dumps(manifest, separators=(",", ":")).encode(), blobs)


def _described(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}


def _archive(files: Mapping[str, bytes], executable: frozenset[str]) -> bytes:
    """Files as a tar without times, owners or anything else of this machine."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            entry.mode = 0o755 if name in executable else 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    # The level and the time are fixed: equal files must give equal bytes.
    return gzip.compress(plain.getvalue(), 6, mtime=0)


def layout(artifact: Artifact, name: str) -> bytes:
    """The artifact as an archive of the OCI image layout, for `skopeo` and others."""
    index = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [
            {
                **_described(MANIFEST, artifact.manifest),
                "annotations": {"org.opencontainers.image.ref.name": name},
            }
        ],
    }
    blobs = {**artifact.blobs, artifact.digest: artifact.manifest}
    files = {f"blobs/sha256/{key.partition(':')[2]}": data for key, data in blobs.items()}
    files["oci-layout"] = b'{"imageLayoutVersion":"1.0.0"}'
    files["index.json"] = json.dumps(index, separators=(",", ":")).encode()
    return gzip.decompress(_archive(files, frozenset()))


# Unpacking. Everything here may come from a stranger.


def from_layout(data: bytes) -> Artifact:
    """The artifact in an archive of the OCI image layout. Raises `ShipError`."""
    files, _ = unpacked(data)
    index = _json(files.get("index.json", b""), "the index")
    manifests = index.get("manifests")
    if not isinstance(manifests, list) or len(manifests) != 1:
        raise ShipError("the archive does not hold exactly one artifact")
    wanted = _descriptor(manifests[0])
    # By their names, which say the digest; `require` proves each one that is used.
    blobs = {f"sha256:{name.rpartition('/')[2]}": each for name, each in files.items()}
    manifest = blobs.get(wanted.digest)
    if manifest is None:
        raise ShipError(f"the archive lacks its manifest {wanted.digest}")
    require(wanted, manifest)
    return Artifact(manifest, blobs)


def parts_of(manifest: bytes) -> tuple[Descriptor, Descriptor]:
    """The archive and the lock that a manifest refers to. Raises `ShipError`."""
    value = _json(manifest, "the manifest")
    layers = value.get("layers")
    found = [_descriptor(each) for each in layers] if isinstance(layers, list) else []
    locks = [each for each in found if each.title == NAME]
    archives = [each for each in found if each.title != NAME]
    if len(locks) != 1 or len(archives) != 1:
        raise ShipError("it is not a workspace: it needs an archive of files and one equipage.lock")
    for each in (*locks, *archives):
        if each.size > MAX_PACKED:
            raise ShipError(f"{each.digest} has {each.size:,} bytes; the limit is {MAX_PACKED:,}")
    return archives[0], locks[0]


def _descriptor(value: Any) -> Descriptor:
    fields = value if isinstance(value, dict) else {}
    digest, size, kind = fields.get("digest"), fields.get("size"), fields.get("mediaType")
    named = fields.get("annotations")
    title = named.get(_TITLE) if isinstance(named, dict) else ""
    # 71 characters: the word, a colon, and 64 hexadecimal digits.
    is_digest = isinstance(digest, str) and digest.startswith("sha256:") and len(digest) == 71
    if not is_digest or type(size) is not int or size < 0 or not isinstance(kind, str):
        raise ShipError("the manifest describes a part without a type, a sha256 and a size")
    return Descriptor(kind, str(digest), size, title if isinstance(title, str) else "")


def require(wanted: Descriptor, data: bytes) -> None:
    """Raises `ShipError` if bytes are not what a descriptor says."""
    if len(data) != wanted.size:
        raise ShipError(f"{wanted.digest} has {len(data):,} bytes, expected {wanted.size:,}")
    found = digest_of(data)
    if found != wanted.digest:
        raise ShipError(f"the bytes that were sent for {wanted.digest} are {found}")


def _json(data: bytes, what: str) -> dict[str, Any]:
    if len(data) > MAX_MANIFEST:
        raise ShipError(f"{what} has more than {MAX_MANIFEST:,} bytes")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise ShipError(f"{what} is not JSON") from None
    if not isinstance(value, dict):
        raise ShipError(f"{what} is not a JSON object")
    return value


def shipped(archive: bytes, lock: bytes) -> Shipped:
    """The files of an archive, if each is what the lock says. Raises `ShipError`."""
    files, executable = unpacked(_decompressed(archive))
    try:
        known = read(lock)
    except LockError as error:
        raise ShipError(f"its lock cannot be used: {error}") from None
    # Two locks that differ would let a reader trust the one and use the other.
    if files.pop(NAME, lock) != lock:
        raise ShipError("the lock inside the archive differs from the one beside it")
    signature = files.pop(SIGNATURE, None)
    # Both ways: what is missing and what is too much are equally not what was locked.
    for name in sorted({*files, *known.files}):
        if name not in files:
            raise ShipError(f"{name} is locked, but not in the archive")
        if name not in known.files:
            raise ShipError(f"{name} is in the archive, but not locked")
        if hashlib.sha256(files[name]).hexdigest() != known.files[name]:
            raise ShipError(f"{name} is not what was locked")
    # A lock may be signed, an archive is not: without its mark, a program that guards never runs.
    for name in sorted({name for item in known.items.values() for name in item.executable}):
        if name in files and name not in executable:
            raise ShipError(f"{name} may be run where it was locked, but not in the archive")
    for name, item in known.items.items():
        if item.kind == UNREAD and name in executable and name not in item.executable:
            raise ShipError(f"{name} may be run in the archive, but not where it was locked")
    return Shipped(known, lock, files, signature, executable)


def _decompressed(data: bytes) -> bytes:
    """Bounded while it is read: a few bytes can become terabytes."""
    reader = zlib.decompressobj(wbits=31)
    try:
        # A little more than the files may have, for the headers of the archive.
        plain = reader.decompress(data, MAX_BYTES + MAX_FILES * 2048)
    except zlib.error:
        raise ShipError("the archive is damaged") from None
    if reader.unconsumed_tail:
        raise ShipError(f"the archive holds more than {MAX_BYTES:,} bytes")
    # A second member of the stream would be read by some tools and not by others.
    if not reader.eof or reader.unused_data:
        raise ShipError("the archive is cut off, or has more bytes after its end")
    return plain


def unpacked(data: bytes) -> tuple[dict[str, bytes], frozenset[str]]:
    """The files of a tar by name, and those that can be run. Raises `ShipError`."""
    files: dict[str, bytes] = {}
    executable = set()
    folded: dict[str, str] = {}
    total = end = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in _entries(archive):
                end = archive.offset
                if entry.isdir():
                    continue
                name = _harmless(entry)
                # If it is negative, the next entry would be this one again. What is not a number is
                # zero for the standard library, and perhaps something else for other tools.
                written = entry.pax_headers.get("size", str(entry.size))
                if entry.size < 0 or written != str(entry.size):
                    raise ShipError("the archive is damaged")
                total += entry.size
                if total > MAX_BYTES:
                    raise ShipError(f"the archive holds more than {MAX_BYTES:,} bytes")
                if name in files:
                    raise ShipError(f"the archive holds {name} twice")
                other = folded.setdefault(_folded(name), name)
                if other != name:
                    raise ShipError(f"{name} and {other} are one file on some systems")
                content = archive.extractfile(entry)
                assert content is not None  # it is a regular file
                files[name] = content.read()
                if entry.mode & 0o100:
                    executable.add(name)
        # At a header that it cannot read, the standard library ends as if nothing followed.
        if data[end:].strip(b"\0"):
            raise ShipError("the archive is damaged")
    # A header may say that another one follows, which the standard library reads by recursion.
    except (tarfile.TarError, EOFError, OverflowError, ValueError, OSError, RecursionError):
        raise ShipError("the archive is damaged") from None
    _require_no_repository(folded)
    for key, name in folded.items():
        steps = key.split("/")
        # A file cannot be a folder, too; writing would fail halfway.
        if any("/".join(steps[:depth]) in folded for depth in range(1, len(steps))):
            raise ShipError(f"{name} is below a name that is a file, too")
    return files, frozenset(executable)


def _require_no_repository(folded: Mapping[str, str]) -> None:
    """Raises `ShipError` for a folder that git would take for a repository without a work tree.

    Its settings name programs, which run as soon as anybody asks git for its state there.
    """
    inside = set()
    for steps in (key.split("/") for key in folded):
        inside |= {"/".join(steps[:at]) for at, step in enumerate(steps) if step in _OF_GIT}
    for key, name in folded.items():
        folder, _, last = key.rpartition("/")
        if last == "head" and folder in inside:
            raise ShipError(f"the archive holds {name!a}, which belongs to git")


def _folded(name: str) -> str:
    """What a name becomes where case, and how a letter with an accent is written, do not count."""
    return normalize("NFC", normalize("NFD", name).casefold())


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for number, entry in enumerate(archive):
        if number >= MAX_FILES:
            raise ShipError(f"the archive holds more than {MAX_FILES:,} files")
        yield entry


def _harmless(entry: tarfile.TarInfo) -> str:
    """The name of a regular file that stays where it is put. Raises `ShipError`."""
    name = entry.name
    shown = ascii(name[:200])
    if not entry.isreg() or entry.issparse():
        what = "a link" if entry.issym() or entry.islnk() else "neither a file nor a folder"
        raise ShipError(f"the archive holds {shown}, which is {what}")
    steps = name.split("/")
    # A slash at the beginning or the end is an empty step, too.
    if {"", ".", ".."}.intersection(steps) or len(name) > _LONGEST_NAME:
        raise ShipError(f"the archive holds {shown}, which leads out of the folder")
    # Backslashes and colons are separators and drives elsewhere; git must not be fooled either.
    if any(letter in name for letter in "\\:\0") or not name.isprintable():
        raise ShipError(f"the archive holds {shown}, which is not a file name on every system")
    # Windows drops dots and blanks at the end of a name, and has devices in every folder.
    if any(step.endswith((".", " ")) or _DEVICE.fullmatch(step) for step in steps):
        raise ShipError(f"the archive holds {shown}, which is not a file name on every system")
    # The second is the short name of the first on Windows.
    if any(step.casefold() in (".git", "git~1") for step in steps):
        raise ShipError(f"the archive holds {shown}, which belongs to git")
    # Their settings name programs that run, as git's do.
    if any(step.casefold() in _REPOSITORIES for step in steps):
        raise ShipError(f"the archive holds {shown}, which belongs to a repository")
    return name
