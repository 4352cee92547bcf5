"""A toolpack as programs see it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec

from equipage.freeze import FrozenDict, frozen, thawed
from equipage.kinds.toolpack.model import BLOCKS, EXECUTIONS, Filesystem
from equipage.loaded import canonical
from equipage.session import Session

_EMPTY = FrozenDict()


class _LazyPath:
    """A field that is given as text and becomes a `Path` when it is first asked for, which few programs do."""

    def __get__(self, pack: Any, owner: type | None = None) -> Path:
        if pack is None:
            raise AttributeError("source_path")  # tells dataclasses that there is no default
        path = pack.__dict__["source_path"]
        if not isinstance(path, Path):
            path = pack.__dict__["source_path"] = Path(path)
        return path

    def __set__(self, pack: Any, path: str | Path) -> None:
        pack.__dict__["source_path"] = path


@dataclass(frozen=True, eq=False)
class Toolpack:
    """One tool, checked and immutable: equal to another if its content is, whatever file it came from.

    Blocks are mappings with the names of the file, as in `limits["maxInputBytes"]`. Schemas have their references
    resolved. Two packs that refer to the same schema share it.
    """

    id: str
    version: str
    deterministic: bool
    timeout_ms: int
    limits: Mapping[str, Any]
    input_schema: Any
    output_schema: Any
    execution: Mapping[str, Any]
    caps: Mapping[str, Any]
    env: Mapping[str, Any]
    templating: Mapping[str, Any]
    source_path: Path = _LazyPath()  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """The pack as plain data with the names of the file, without its path and without empty blocks."""
        return {
            name: thawed(value)
            for name, value in ((written, getattr(self, field)) for field, written in _WRITTEN)
            if value or name not in _OPTIONAL
        }

    def without_defaults(self) -> dict[str, Any]:
        """The same without what would hold anyway: a default that is written out changes nothing."""
        plain = self.to_dict()
        if "filesystem" in plain.get("caps", ()):
            plain["caps"]["filesystem"] = _stated(plain["caps"]["filesystem"], Filesystem)
        plain["execution"] = _stated(plain["execution"], EXECUTIONS[plain["execution"]["kind"]])
        for (name, *_), cls in BLOCKS[1:]:
            if name in plain:
                plain[name] = _stated(plain[name], cls)
        return {name: value for name, value in plain.items() if value != {} or name not in _OPTIONAL}

    @cached_property
    def digest(self) -> str:
        """sha256 of the content in canonical form, without defaults; the path is no part of it."""
        return hashlib.sha256(canonical(self.without_defaults())).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Toolpack) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Toolpack({self.id!r}, version={self.version!r}, kind={self.execution['kind']!r})"


_OPTIONAL = frozenset({"caps", "env", "templating"})
_CAMEL = {"timeout_ms": "timeoutMs", "input_schema": "inputSchema", "output_schema": "outputSchema"}
#: Attribute and name in the file, without the path.
_WRITTEN = tuple((each.name, _CAMEL.get(each.name, each.name)) for each in fields(Toolpack))[:-1]


def _stated(block: dict[str, Any], cls: type) -> dict[str, Any]:
    """The entries of a block that are not as they would be without them."""
    defaults = _defaults(cls)
    return {name: value for name, value in block.items() if name not in defaults or not _is(value, defaults[name])}


def _is(value: Any, default: Any) -> bool:
    return value == default or (default in (None, ()) and value in (None, [], {}))


@cache
def _defaults(cls: type) -> dict[str, Any]:
    return {field.encode_name: field.default for field in msgspec.structs.fields(cls) if not field.required}


def make(value: dict[str, Any], session: Session) -> Toolpack:
    """The pack of a resolved value that fits the model."""
    memo: dict[int, Any] = {}
    return Toolpack(
        value["id"],
        value["version"],
        value["deterministic"],
        value["timeoutMs"],
        frozen(value["limits"], memo),
        frozen(value["inputSchema"], memo),
        frozen(value["outputSchema"], memo),
        frozen(value["execution"], memo),
        _block(value.get("caps"), "filesystem"),
        _block(value.get("env"), fill="set"),
        _block(value.get("templating"), fill="context"),
        session.path,  # type: ignore[arg-type]  # becomes a path when it is asked for
    )


def _block(value: dict[str, Any] | None, leave_out: str | None = None, *, fill: str | None = None) -> Any:
    """An optional block: absent is empty; of a part that may be null, nothing or an empty mapping remains."""
    if not value:
        return _EMPTY
    if leave_out is not None and leave_out in value and not value[leave_out]:
        value = {name: each for name, each in value.items() if name != leave_out}
    if fill is not None and fill in value and value[fill] is None:
        value = {**value, fill: {}}
    return frozen(value)
