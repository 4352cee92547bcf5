"""Toolpacks for tests, written in one line each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from equipage.formats.toolpack.loader import ToolpackLoader
from equipage.formats.toolpack.model import Toolpack
from lab import write

KINDS = ("python", "node", "php", "cli", "http")
WORDS = {"text": "a b c"}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
COUNT = {"type": "object", "required": ["words"], "properties": {"words": {"type": "integer"}}}
ANYTHING: dict[str, Any] = {"type": "object"}
#: Set by `make test-serve`: what is missing is then a failure, not a reason to skip.
EVERYTHING = bool(os.environ.get("EQUIPAGE_TEST_SERVE"))


def missing(what: str) -> NoReturn:
    """Skip a test, or fail it where everything must be there."""
    if EVERYTHING:
        pytest.fail(f"{what} is missing")
    pytest.skip(f"{what} is missing; `make test-serve` installs it")


def need(*programs: str) -> None:
    for each in programs:
        if shutil.which(each) is None:
            missing(each)


def pack(tool_id: str, execution: Mapping[str, Any] | str, **fields: Any) -> dict[str, Any]:
    """The content of a pack. An execution that is a text is a Python script or callable."""
    if isinstance(execution, str):
        field = "module" if ":" in execution else "script"
        execution = {"kind": "python", field: execution}
    return {
        "id": tool_id,
        "version": "1.0.0",
        "description": f"The tool {tool_id}.",
        "deterministic": False,
        "timeoutMs": 15_000,
        "limits": {"maxInputBytes": 65536, "maxOutputBytes": 65536},
        "inputSchema": ANYTHING,
        "outputSchema": ANYTHING,
        "execution": dict(execution),
        **fields,
    }


def write_packs(folder: Path, packs: list[dict[str, Any]], files: Mapping[str, Any]) -> Path:
    """Write packs and the files that they run."""
    named = {f"{each['id'].replace(':', '-')}.tool.yaml": yaml.safe_dump(each) for each in packs}
    return write(folder, {**named, **files})


def load_packs(folder: Path) -> list[Toolpack]:
    loader = ToolpackLoader()
    loader.load_dir(folder)
    return loader.list()
