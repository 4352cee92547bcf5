"""`equipage pack`, `push` and `pull`: a workspace and its lock, to a registry and back."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

from equipage.cli import OK
from equipage.cli.locking import signer_of
from equipage.cli.output import Output
from equipage.core.diagnostics import UsageError
from equipage.core.text import visible
from equipage.files import process_variables
from equipage.files.reading import Files, peek
from equipage.files.sandbox import FileProblem
from equipage.files.writing import NotWritten, write_private, write_tree, write_whole
from equipage.loading.projects import project_of_folder
from equipage.ship import ShipError
from equipage.ship.artifact import (
    MAX_BYTES,
    SIGNATURE,
    Artifact,
    MediaTypes,
    Shipped,
    from_layout,
    layout,
    packed,
    parts_of,
    require,
    shipped,
)
from equipage.ship.credentials import credentials_of
from equipage.ship.registry import Registry, is_reference, reference_of
from equipage.views.lock import LockError
from equipage.views.named_files import is_private
from equipage.views.workspace_lock import NAME, read
from equipage.workspace.project import SHARED_FILE

if TYPE_CHECKING:
    import argparse

#: How long a helper of Docker may take; it may ask for a key.
_HELPER_SECONDS = 60


def pack(options: argparse.Namespace, output: Output) -> int:
    """`equipage pack`: an archive of the OCI image layout."""
    artifact = _artifact(options)
    output.path = None  # the archive is not text
    name = os.path.basename(project_of_folder(options.path)) or "workspace"
    try:
        write_whole(options.output, layout(artifact, name))
    except NotWritten as error:
        raise UsageError(f"cannot write {options.output}: {error}") from None
    output.data(f"{artifact.digest}\n")
    return OK


def push(options: argparse.Namespace, output: Output) -> int:
    """`equipage push`: a plain artifact in a registry."""
    reference = reference_of(options.reference)
    if reference.digest is not None:
        raise ShipError("name a tag to push to; the digest follows from the files")
    artifact = _artifact(options)
    _registry(options, reference.host).push(reference, artifact)
    output.data(f"{reference.host}/{reference.name}@{artifact.digest}\n")
    return OK


def pull(options: argparse.Namespace, output: Output) -> int:
    """`equipage pull`: verified before a byte is written."""
    found, digest = _pulled(options)
    _require_signature(found, options)
    _write(found, options.path)
    count = len(found.files)
    output.note(
        f"equipage: {count:,} file{'s' if count != 1 else ''} and the lock, in {options.path}"
    )
    output.data(f"{digest}\n")
    return OK


def _registry(options: argparse.Namespace, host: str) -> Registry:
    return Registry(
        host,
        seconds=options.timeout,
        plain_http=options.plain_http,
        credentials=credentials_of(options.auth, host, process_variables(), _ask_helper),
    )


def _ask_helper(program: str, host: str) -> bytes:
    """What a helper of Docker says about a host. Raises `ShipError`."""
    path = shutil.which(program)
    if path is None or not os.path.isabs(path):
        raise ShipError(f"--auth docker: there is no program `{program}` on the PATH")
    # An empty folder: the program must not find files of the project.
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [path, "get"],
                input=host.encode(),
                capture_output=True,
                check=False,
                cwd=folder,
                timeout=_HELPER_SECONDS,
            )
        except subprocess.TimeoutExpired:
            reason = f"did not answer within {_HELPER_SECONDS} seconds"
            raise ShipError(f"--auth docker: `{program}` {reason}") from None
        except OSError as error:
            raise ShipError(f"--auth docker: cannot run `{program}`: {error.strerror}") from None
    if done.returncode:
        # Its words may hold the secret; its code does not.
        raise ShipError(f"--auth docker: `{program}` has no password for {host}")
    return done.stdout


# Packing.


def _artifact(options: argparse.Namespace) -> Artifact:
    """The artifact of a project, if its files are what was locked. Raises `ShipError`."""
    if not os.path.isdir(options.path):
        raise ShipError(f"{options.path} is not a folder")
    root = os.path.realpath(project_of_folder(options.path))
    text = peek(os.path.join(root, NAME))
    if text is None:
        raise ShipError(f"there is no {NAME} in {root}; run `equipage lock`")
    try:
        lock = read(text)
    except LockError as error:
        raise ShipError(f"{NAME} cannot be used: {error}") from None
    shared = next((name for name in lock.items if name.endswith(SHARED_FILE)), None)
    if shared is not None:
        # A copy of the workspace without its settings would not be what was locked.
        raise ShipError(f"{shared} holds more than settings; move them to equipage.toml, then lock")
    files: dict[str, bytes] = {}
    executable = set()
    for name, expected in lock.files.items():
        path = os.path.join(root, *name.split("/"))
        if is_private(name):
            raise ShipError(f"{name} may hold secrets, and cannot be packed; remove it, then lock")
        if name.startswith("..") or os.path.islink(path):
            raise ShipError(f"{name} is a link or lies outside the project, and cannot be packed")
        data = peek(path, max_bytes=MAX_BYTES)
        if data is None or hashlib.sha256(data).hexdigest() != expected:
            raise ShipError(f"{name} is not what was locked; run `equipage verify`")
        files[name] = data
        if os.access(path, os.X_OK):
            executable.add(name)
    given = {
        name: value
        for name in ("artifact", "files", "lock")
        if (value := getattr(options, f"{name}_type")) is not None
    }
    signature = peek(os.path.join(root, SIGNATURE))
    return packed(text, files, frozenset(executable), signature, MediaTypes(**given))


# Pulling.


def _pulled(options: argparse.Namespace) -> tuple[Shipped, str]:
    """What was asked for, verified. Raises `ShipError`."""
    if os.path.isfile(options.reference):
        # A folder of a stranger may hold a file whose path is the name of a registry.
        if is_reference(options.reference):
            raise ShipError(
                f"{options.reference} is a file and a reference: write ./{options.reference} for "
                f"the file, oci://{options.reference} for the registry"
            )
        try:
            # Twice the limit of what is inside: there are the blobs, and nothing else.
            data = Files().read(options.reference, max_bytes=2 * MAX_BYTES).data
        except FileProblem as problem:
            raise ShipError(
                f"cannot read {options.reference}: {problem.code.replace('-', ' ')}"
            ) from None
        artifact = from_layout(data)
        wanted = parts_of(artifact.manifest)
        parts = [artifact.blobs.get(each.digest, b"") for each in wanted]
        for each, blob in zip(wanted, parts, strict=True):
            require(each, blob)
        return shipped(*parts), artifact.digest
    reference = reference_of(options.reference)
    registry = _registry(options, reference.host)
    manifest = registry.manifest(reference)
    archive, lock = (registry.blob(reference, each) for each in parts_of(manifest))
    return shipped(archive, lock), Artifact(manifest, {}).digest


def _require_signature(found: Shipped, options: argparse.Namespace) -> None:
    """Raises `UsageError` unless the lock is signed by one of those who may."""
    if options.allowed_signers is None:
        return
    if found.signature is None:
        raise ShipError("the lock is not signed")
    # `ssh-keygen` reads the signature from a file.
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, NAME)
        write_private(f"{path}.sig", found.signature)
        signer_of(path, found.text, options.allowed_signers)


def _write(found: Shipped, folder: str) -> None:
    """Write everything, or nothing. Raises `ShipError`."""
    files = {**found.files, NAME: found.text}
    if found.signature is not None:
        files[SIGNATURE] = found.signature
    try:
        write_tree(folder, files, found.executable)
    except NotWritten as error:
        raise ShipError(f"nothing was written to {visible(folder)}: {error}") from None
