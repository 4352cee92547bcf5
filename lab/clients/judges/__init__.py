"""One module for each client: which files of a tree it can judge, how it is asked, how to read its
answer. Reading an answer is a function of its text alone, so that the tests need no client."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: Folders with the files of other people.
LEFT_OUT = {".git", "node_modules", ".venv"}


def files(tree: Path) -> Iterator[Path]:
    """The files of a tree in the order of their paths; links to folders are not followed."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(each for each in folders if each not in LEFT_OUT)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file():
                yield path


def project(folder: Path) -> Path:
    """`folder` as an empty project; most clients look for one by its `.git`."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
