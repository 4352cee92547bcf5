"""The one module that starts programs: git and ssh-keygen, and nothing that a project names."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from typing import Literal

Program = Literal["git", "ssh-keygen"]


class NotInstalled(Exception):
    """The program is not on the path of this machine."""


class TimeLimitReached(Exception):
    """The program did not end in time, and was ended."""


def run_program(
    program: Program,
    *arguments: str,
    folder: str | None = None,
    variables: Mapping[str, str] | None = None,
    data: bytes = b"",
    seconds: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What a program answers to `data`. Raises `NotInstalled`, `TimeLimitReached`."""
    try:
        return subprocess.run(
            [_find(program), *arguments],
            input=data,
            capture_output=True,
            check=False,
            cwd=folder,
            env={**os.environ, **(variables or {})},
            timeout=seconds,
        )
    except FileNotFoundError:
        raise NotInstalled(program) from None
    except subprocess.TimeoutExpired:
        raise TimeLimitReached(program) from None


def start_program(
    program: Program, *arguments: str, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """A program that is asked through its input as often as needed. Raises `NotInstalled`."""
    try:
        return subprocess.Popen(
            [_find(program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **variables},
        )
    except FileNotFoundError:
        raise NotInstalled(program) from None


def _find(program: Program) -> str:
    """Where the program is. Without this, Windows would look in the working directory first."""
    found = shutil.which(program)
    if found is None or not os.path.isabs(found):
        raise NotInstalled(program)
    return found
