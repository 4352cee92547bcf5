"""Which files a check looks at: paths, globs, lists of paths, and a text on standard input."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import msgspec

from equipage.core.diagnostics import UsageError
from equipage.core.text import nearest
from equipage.files import real_path
from equipage.files.overlay import Overlay, overlaid
from equipage.files.reading import Files
from equipage.files.sandbox import MAX_BYTES, FileProblem


class Chosen(msgspec.Struct, frozen=True):
    """The paths to check, and the text that takes the place of the only one, if there is one."""

    paths: tuple[str, ...]
    text: bytes | None = None

    def over_disk(self, text: bytes | None = None) -> AbstractContextManager[None]:
        """Where files are read: the text, or a newer one, takes the place of the file."""
        if self.text is None:
            return nullcontext()
        path = real_path(self.paths[0]).replace(os.sep, "/")
        newest = self.text if text is None else text
        return overlaid(Overlay({path: newest}, over_disk=True))


def chosen(options: argparse.Namespace) -> Chosen:
    """What the command line names. Raises `UsageError` for a path or a glob without a file."""
    stdin = options.stdin_filename
    # The default path counts only if nothing else was named.
    named = [] if options.paths == ["."] and (stdin or options.files_from) else options.paths
    if stdin is None and "-" in named:
        raise UsageError("to check standard input, name its file: --stdin-filename NAME -")
    if stdin is not None:
        if [each for each in named if each != "-"] or options.files_from:
            raise UsageError("--stdin-filename checks one text; name no other files")
        return Chosen((stdin,), _standard_input())
    paths = [*named, *(_listed(options.files_from) if options.files_from else ())]
    return Chosen(tuple(each for path in paths for each in _existing(path)))


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"standard input is larger than {MAX_BYTES:,} bytes")
    return data


def _listed(file: str) -> Iterator[str]:
    """The paths in a file, one on each line, or divided by NUL as `git diff -z` writes them."""
    try:
        data = _standard_input() if file == "-" else Files().read(file).data
    except FileProblem as problem:
        reason = problem.code.replace("-", " ")
        raise UsageError(f"--files-from {file}: {reason}") from None
    lines = data.split(b"\0") if b"\0" in data else data.splitlines()
    yield from (os.fsdecode(line) for line in lines if line.strip())


def _existing(path: str) -> Iterator[str]:
    """The path, or what it matches as a glob. Raises `UsageError` with the nearest path."""
    if os.path.lexists(path):
        yield path
        return
    found = sorted(glob.glob(path, recursive=True, include_hidden=True))
    if not found:
        word = "matches no file" if glob.has_magic(path) else "no such file or folder"
        raise UsageError(f"`{path}`: {word}{_suggestion(path)}")
    yield from found


def _suggestion(path: str) -> str:
    """The nearest name in the folder of a path, or in the nearest folder above that exists."""
    folder, name = os.path.split(path.rstrip("/"))
    while folder and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        guess = nearest(name, os.listdir(folder or "."))
    except OSError:
        guess = None
    return f"; did you mean `{os.path.join(folder, guess)}`?" if guess else ""
