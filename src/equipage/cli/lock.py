"""`equipage lock` and `verify`: nothing about an agent changes unseen.

Signatures are those of `ssh-keygen -Y`: a team has the keys already, and any other program can
verify them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
)
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, paths_of, read_named, request_of
from equipage.core.diagnostics import UsageError
from equipage.core.text import visible
from equipage.files import System
from equipage.files.sandbox import FileProblem
from equipage.loading.project_root import project_of_folder
from equipage.record import lock as workspace_lock

if TYPE_CHECKING:  # these are imported where they are needed: to write a lock takes less
    import argparse
    import subprocess

    from equipage.record.verify import Changes
    from equipage.render.text import Style

#: What signatures are for, so that a signature of something else does not count.
_NAMESPACE = "equipage"
#: How long `ssh-keygen` may take; it may ask for a passphrase.
_TIMEOUT_SECONDS = 120


def declare(parser: Parser) -> None:
    parser.describe(
        "Write equipage.lock at the root of the project: for every agent, skill, tool, server and "
        "settings file its meaning, its sources, what it launches and what it may do.",
        ("equipage lock", "lock the project; commit the file"),
        ("equipage lock --sign ~/.ssh/id_ed25519", "sign the lock with an SSH key"),
        ("equipage lock --programs -o here.lock", "for `serve --lock` on this machine"),
    )
    add_paths(parser)
    add_flag(
        parser,
        "--programs",
        "also lock the programs of this machine that tools start, by their bytes",
    )
    parser.add_argument(
        "--sign", metavar="KEY", help="sign the lock with the SSH key KEY, by `ssh-keygen -Y sign`"
    )
    add_loading_options(parser, layers=False)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    """`equipage lock`: record what a workspace is made of."""
    paths = paths_of(options)
    request = request_of(options)
    root = _project_root(paths, request.system)
    made, problems = workspace_lock.lock_all(
        paths, root, request, kind=options.kind, programs=options.programs
    )
    if not made.items:
        output.note(NOTHING_FOUND)
        return USAGE
    path = options.output or os.path.join(root, workspace_lock.LOCK_NAME)
    # A name that the user did not write may be a link that came with the project.
    if options.output is None and not request.system.is_inside(path, root):
        raise UsageError(
            f"{_display_path(path)} is a link that leads out of the project; use -o LOCK"
        )
    output.path = None if path == "-" else path
    _write_lock(workspace_lock.write(made), options, output)
    for file, runs in sorted(_unpinned_launches(made)):
        output.note(f"equipage: {file}: `{runs}` is not pinned")
    items = _format_count(len(made.items), "configuration")
    files = _format_count(len(made.files), "file")
    output.note(f"equipage: locked {items}, {files}, in {_display_path(path)}")
    for problem in problems:
        output.note(f"equipage: {problem}")
    return OK


def _project_root(paths: list[str], system: System) -> str:
    """The root of the project that all paths are in. Raises `UsageError`."""
    folders = [each if os.path.isdir(each) else os.path.dirname(each) or "." for each in paths]
    roots = {project_of_folder(each, system) for each in folders}
    if len(roots) > 1:
        raise UsageError(f"the paths are in different projects: {', '.join(sorted(roots))}")
    return roots.pop()


def _unpinned_launches(made: workspace_lock.WorkspaceLock) -> Iterator[tuple[str, str]]:
    for file, item in made.items.items():
        yield from ((file, each.runs) for each in item.launches if each.pin is None)


def _write_lock(text: str, options: argparse.Namespace, output: Output) -> None:
    """Write a lock, and sign it if that is asked for."""
    if options.sign and output.path is None:
        raise UsageError("--sign needs a file to sign; add -o LOCK")
    path = output.path
    output.write_data(text)
    output.finish()  # the file must exist before it is signed or named in a note
    if options.sign and path is not None:
        _sign(path, options.sign)


def _display_path(path: str) -> str:
    shown = os.path.relpath(path)
    return path if shown.startswith("..") else shown


# Verifying.


def declare_verify(parser: Parser) -> None:
    parser.describe(
        "Say what changed since the lock was written: sources, meaning, and what agents may do. "
        "Exit codes: 0 the meaning is the same, 1 it changed, 2 the lock cannot be used.",
        ("equipage verify", "what changed since `equipage lock`"),
        ("equipage verify --frozen", "in CI: fail on any change, or without a lock"),
        ("equipage verify --allowed-signers .signers", "also require a signature"),
        ("equipage verify --lock here.lock", "another lock than equipage.lock"),
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="a path in the project (default: .)"
    )
    parser.add_argument(
        "--lock", metavar="LOCK", help="the lock to compare with (default: equipage.lock)"
    )
    add_flag(parser, "--frozen", "exit 1 on any change, also of sources alone, and without a lock")
    parser.add_argument(
        "--allowed-signers",
        metavar="FILE",
        help="require a signature by one of the signers in FILE, see `man ssh-keygen`",
    )
    add_loading_options(parser, layers=False)
    add_format_option(parser, FORMATS)
    add_output_option(parser)


def run_verify(options: argparse.Namespace, output: Output) -> int:
    """`equipage verify`: compare a workspace with its lock."""
    from equipage.record.verify import compare

    paths, request = paths_of(options), request_of(options)
    root = _project_root(paths, request.system)
    path = options.lock or os.path.join(root, workspace_lock.LOCK_NAME)
    if not os.path.exists(path):
        output.note(
            f"equipage: there is no {_display_path(path)}; run `equipage lock` and commit it"
        )
        output.write_data("")
        return FOUND if options.frozen else USAGE
    data = _read_bytes(path)
    old = _parse(path, data)
    signer = signer_of(path, data, options.allowed_signers) if options.allowed_signers else None
    folders = [os.path.join(root, each) for each in old.paths]
    gone = [each for each in folders if not os.path.exists(each)]
    here = [each for each in folders if each not in gone]
    new, problems = workspace_lock.lock_all(
        here, root, request, kind=options.kind, programs=workspace_lock.holds_programs(old)
    )
    found = compare(old, new)
    if "." not in old.paths:
        output.note(f"equipage: {_display_path(path)} covers {visible(', '.join(old.paths))} alone")
    failed = found.matters or (options.frozen and found.has_source_changes)
    output.code = FOUND if failed else OK
    if options.output_format == "json":
        output.write_json(_to_dict(found, signer))
    else:
        lines = list(_change_lines(found, output.style()))
        if signer is not None:
            lines.append(f"signed by {visible(signer)}")
        output.write_data("".join(f"{line}\n" for line in lines))
    for problem in problems:
        output.note(f"equipage: {problem}")
    return output.code


def read_lock(path: str) -> workspace_lock.WorkspaceLock:
    """The lock that the command line names. Raises `UsageError`."""
    return _parse(path, _read_bytes(path))


def _parse(path: str, data: bytes) -> workspace_lock.WorkspaceLock:
    try:
        return workspace_lock.read(data)
    except workspace_lock.LockError as error:
        raise UsageError(f"{_display_path(path)} is not a lock that can be used: {error}") from None


def _read_bytes(path: str) -> bytes:
    try:
        return read_named(path)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None


def _change_lines(found: Changes, style: Style) -> Iterator[str]:
    """What changed, the most important first."""
    from equipage.render.effect import lines_of_reach

    for each in found.reach:
        yield from lines_of_reach(each, style)
    for name, what in found.meaning:
        yield f"{style.paint('warning', 'meaning changed')}: {visible(name)}: {visible(what)}"
    for word in ("changed", "added", "removed"):
        yield from (f"source {word}: {visible(name)}" for name in getattr(found, word))
    if not found.has_source_changes and not found.matters:
        yield "nothing changed"
        return
    widened = sum(bool(each.widening_steps) for each in found.reach)
    parts = [
        _format_count(len(found.changed) + len(found.added) + len(found.removed), "source"),
        _format_count(len({name for name, _ in found.meaning}), "meaning"),
        f"{_format_count(len(found.reach), 'reach', 'reaches')} ({widened} widened)",
    ]
    yield f"changed: {', '.join(parts)}"


def _format_count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _to_dict(found: Changes, signer: str | None) -> dict[str, Any]:
    from equipage.render.effect import reach_to_dict

    return {
        "version": 1,
        "same": not found.has_source_changes and not found.matters,
        "sources": {word: list(getattr(found, word)) for word in ("changed", "added", "removed")},
        "meaning": [{"file": name, "change": what} for name, what in found.meaning],
        "reach": [reach_to_dict(each) for each in found.reach],
        "signer": signer,
    }


# Signatures.


def _sign(path: str, key: str) -> None:
    """Sign a file; the signature lies beside it. Raises `UsageError`."""
    if not os.path.exists(key):
        raise UsageError(f"--sign {key}: no such key")
    signature = f"{path}.sig"
    if os.path.lexists(signature):
        os.unlink(signature)  # ssh-keygen would ask whether to replace it, and follow a link
    done = _run_ssh_keygen(
        "sign", "-f", os.path.abspath(key), "-n", _NAMESPACE, os.path.abspath(path)
    )
    if done.returncode:
        raise UsageError(f"cannot sign with {key}: {_first_line(done.stderr)}")


def signer_of(path: str, data: bytes, allowed: str) -> str:
    """Who signed a lock, of those that are allowed to. Raises `UsageError`."""
    signature = f"{path}.sig"
    shown = _display_path(path)
    if not os.path.exists(allowed):
        raise UsageError(f"--allowed-signers {allowed}: no such file")
    if not os.path.exists(signature):
        raise UsageError(f"{shown} is not signed: there is no {_display_path(signature)}")
    files = ("-f", os.path.abspath(allowed), "-s", os.path.abspath(signature))
    found = _run_ssh_keygen("find-principals", *files)
    names = found.stdout.decode("utf-8", "replace").splitlines()
    if found.returncode or not names:
        raise UsageError(f"no key in {allowed} made the signature of {shown}")
    done = _run_ssh_keygen("verify", *files, "-I", names[0], "-n", _NAMESPACE, data=data)
    if done.returncode:
        reason = _first_line(done.stdout + done.stderr)
        raise UsageError(f"the signature of {shown} is not valid: {reason}")
    return names[0]


def _run_ssh_keygen(*words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    import tempfile

    from equipage.files.process import NotInstalled, TimeLimitReached, run_program

    # An empty folder: the program must not find settings of the project.
    with tempfile.TemporaryDirectory() as folder:
        limit = _TIMEOUT_SECONDS
        try:
            return run_program("ssh-keygen", "-Y", *words, folder=folder, data=data, seconds=limit)
        except NotInstalled:
            raise UsageError("signatures need the program `ssh-keygen`: install OpenSSH") from None
        except TimeLimitReached:
            raise UsageError(f"`ssh-keygen` did not answer within {limit} seconds") from None


def _first_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[0]) if lines else "it gave no reason"
