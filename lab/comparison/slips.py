"""The projects of `slips.toml`: each with one slip, and put right."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

FILE = Path(__file__).resolve().parent / "slips.toml"


class Slip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    happens: str
    path: str
    wrong: str
    right: str
    files: dict[str, str] = {}

    def write(self, folder: Path, *, right: bool) -> None:
        """Make the project in `folder`, which every tool then takes for a repository."""
        (folder / ".git").mkdir(parents=True)
        for name, text in {**self.files, self.path: self.right if right else self.wrong}.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.removeprefix("\n"), encoding="utf-8")

    @property
    def lines(self) -> set[int]:
        """The lines of the wrong text that differ from the right one, or those around the gap."""
        wrong, right = (text.removeprefix("\n").splitlines() for text in (self.wrong, self.right))
        pairs = list(zip(wrong, right, strict=False))
        same = next((n for n, (one, other) in enumerate(pairs) if one != other), len(pairs))
        behind = 0
        while behind < len(pairs) - same and wrong[-1 - behind] == right[-1 - behind]:
            behind += 1
        differing = set(range(same + 1, len(wrong) - behind + 1))
        return differing or {same, same + 1}


def slips() -> list[Slip]:
    found: list[Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))["slip"]
    return msgspec.convert(found, list[Slip])
