"""What is known of each kind without a file of it: `equipage kinds` and the pages show it."""

from __future__ import annotations

import msgspec
from msgspec import inspect as types

from equipage.clients.file_grants import program_of
from equipage.clients.tables.conventions import CONVENTIONS
from equipage.loading.format import Format
from equipage.loading.type_words import describe, type_info
from equipage.project.registry import BUILT_IN, conventions, format_named, known_kinds

_BY_CONTENT = "any file, by its content"
_BY_NAME = "only as part of others, or with --kind"


class KnownField(msgspec.Struct, frozen=True):
    """One field at the top of a file of some kind."""

    name: str
    type: str
    meaning: str = ""
    required: bool = False
    restricts: bool = False  #: whether it limits what an agent may do


class KnownKind(msgspec.Struct, frozen=True):
    """What is known of a kind without a file of it."""

    kind: str
    title: str
    program: str
    files: tuple[str, ...]
    restricts: tuple[str, ...]  #: the paths of values that limit what an agent may do
    fields: tuple[KnownField, ...]


def all_known_kinds() -> list[KnownKind]:
    """Every kind, by the program that reads it."""
    return sorted(map(known_kind, known_kinds()), key=lambda each: (each.program, each.kind))


def known_kind(name: str) -> KnownKind:
    """What is known of one kind. Raises `UsageError`."""
    kind = format_named(name)
    row = next((each for each in (*BUILT_IN, *conventions()) if each.kind == kind.name), None)
    files = row.paths if row is not None else ()
    if not files:
        files = (_BY_CONTENT if row is not None and row.by_content is not None else _BY_NAME,)
    restricts = tuple(
        dict.fromkeys(
            each.pattern for each in kind.presentation.sensitive if each.what == "permission"
        )
    )
    program = program_of(kind.name)
    return KnownKind(kind.name, kind.title, program, files, restricts, _fields(kind))


def _fields(kind: Format) -> tuple[KnownField, ...]:
    info = type_info(kind.model)
    if not isinstance(info, types.StructType):
        return ()
    table = next((each for each in CONVENTIONS if each.kind == kind.name), None)
    made = []
    for field in info.fields:
        known = table.field(field.encode_name) if table is not None else None
        # A permission may be the field itself or something below it.
        restricts = any(
            each.what == "permission" and each.pattern.split(".")[0] == field.encode_name
            for each in kind.presentation.sensitive
        )
        made.append(
            KnownField(
                field.encode_name,
                describe(field.type),
                "" if known is None else known.meaning,
                field.required or (known is not None and known.required == "error"),
                restricts,
            )
        )
    return tuple(made)
