"""The examples: each with what a well-behaved client sends, and the trace that comes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import equipage
from equipage_faults.run import Settings, literal_texts, serve
from lab import EXAMPLES, UPDATE, matching

FAULTS = EXAMPLES / "faults"
#: One for each family of faults, and the one that behaves well.
NAMES = sorted(
    each.name.removesuffix(".client.jsonl") for each in matching(FAULTS, "*.client.jsonl")
)


def served(name: str, folder: Path) -> tuple[int, bytes, bytes]:
    """The exit code, the transcript and the trace of one run on a virtual clock."""
    loaded = equipage.load(FAULTS / f"{name}.yaml", kind="server", env={})
    reads = os.open(FAULTS / f"{name}.client.jsonl", os.O_RDONLY)
    writes = os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        settings = Settings(
            seed=1,
            virtual=True,
            trace=str(folder / "trace.jsonl"),
            bodies="none",
            descriptors=(reads, writes),
        )
        code = serve(
            loaded.config,
            loaded.digest,
            settings,
            lambda _: None,
            literal=literal_texts(loaded),
            environment={},
        )
    finally:
        os.close(reads)
        os.close(writes)
    return code, (folder / "out").read_bytes(), (folder / "trace.jsonl").read_bytes()


def test_there_is_a_dozen() -> None:
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_a_well_behaved_client_leaves_this_trace(name: str, tmp_path: Path) -> None:
    code, out, trace = served(name, tmp_path)
    expected = FAULTS / f"{name}.trace.jsonl"
    if UPDATE:
        expected.write_bytes(trace)
    assert (code, trace.decode()) == (0, expected.read_text())
    assert served(name, tmp_path) == (code, out, trace), "the same bytes give the same transcript"
