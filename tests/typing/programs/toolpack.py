"""Lists the tools of a folder, good ones beside the errors of the bad ones."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equipage
from equipage.toolpacks import Toolpack, ToolpackLoader, ToolpackValidationError


def program(pack: Toolpack) -> str:
    execution: Mapping[str, Any] = pack.execution
    return str(execution["kind"])


def describe(pack: Toolpack) -> list[str]:
    folder: Path = pack.folder
    lines = [f"{pack.id} {pack.version} in {folder.name}", pack.title or "no title"]
    if pack.description is not None:
        lines.append(pack.description)
    if pack.deterministic:
        lines.append("may be cached")
    lines.append(f"{program(pack)}, at most {pack.timeout_ms / 1000} s")
    size: int = pack.limits["maxInputBytes"]
    lines.append(f"takes {size} bytes")
    return lines


def load(folder: Path) -> ToolpackLoader:
    loader = ToolpackLoader(legacy_keys="warn", strict=False)
    try:
        loader.load_dir(folder)
    except ToolpackValidationError as error:
        for each in error.errors:
            print(each.message, file=sys.stderr)
    return loader


def main(path: str) -> list[str]:
    pack = equipage.load(path, kind="toolpack", legacy_keys="warn").config
    lines = describe(pack)
    loader = load(Path(path).parent)
    packs: list[Toolpack] = loader.list()
    assert len(loader) == len(packs)
    assert pack.id in loader
    for each in loader:
        lines.append(each.id)
    found = ToolpackLoader().find(Path(path).parent)
    lines += [good.id for good in found.packs]
    lines += [bad.code for bad in found.errors]
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
