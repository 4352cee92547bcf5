"""A page per kind: how its files are known, a first file, every field, its options, its codes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import inspect as types

from equipage.cli.rule import group_by_severity, severities_in
from equipage.core.diagnostics import Code
from equipage.loading.editor_schema import meaning_of
from equipage.loading.format import Format
from equipage.loading.type_words import describe, type_info
from equipage.project.registry import all_codes, built_in_kinds, format_named
from generate.wording import summary, table

_ABOUT = tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))
_LANGUAGES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".mdc": "markdown",
    ".toml": "toml",
    ".json": "json",
}


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of each page."""
    for name in built_in_kinds():
        yield f"{name}.md", _page(format_named(name))
    yield "index.md", _index()


def _about(kind: Format) -> dict[str, str]:
    known: dict[str, str] = _ABOUT.get(kind.name, {})
    place = kind.presentation.example_path.replace("NAME", "*")
    return {"about": f"A {kind.title}.", "known": f"by its place: `{place}`", **known}


def _index() -> str:
    rows = [
        f"| [`{name}`]({name}.md) | {format_named(name).title} "
        f"| {_about(format_named(name))['known']} |"
        for name in built_in_kinds()
    ]
    return "\n".join(
        [
            "# Kinds",
            "",
            "A kind is one sort of configuration. The first match decides: what the settings of",
            "the project say, the name of the file, its place, its content. `--kind` names it",
            "outright.",
            "",
            "| kind | what it is | how a file is known |",
            "|---|---|---|",
            *rows,
            "",
            "Others can be [written](../../how-to/write-a-kind.md) and installed.",
            "",
        ]
    )


def _page(kind: Format) -> str:
    about = _about(kind)
    lines = [f"# {kind.title[0].upper() + kind.title[1:]}", "", about["about"], ""]
    lines += [f"**Known** {about['known']}.", ""]
    lines += [f"**Schema for editors:** `equipage schema {kind.name}`", ""]
    if "more" in about:
        lines += [about["more"], ""]
    lines += _first_file(kind)
    lines += _fields(kind)
    lines += _options(kind)
    lines += _strictness(kind)
    lines += _codes(kind)
    return "\n".join(lines).rstrip("\n") + "\n"


def _first_file(kind: Format) -> list[str]:
    if kind.presentation.example is None:
        return []
    path = kind.presentation.example_path.replace("NAME", "demo")
    language = _LANGUAGES.get(Path(path).suffix, "text")
    text = re.sub(r"\b(?:NAME|WORD)\b", "demo", kind.presentation.example).rstrip("\n")
    return [
        "## A first file",
        "",
        f"`equipage new {kind.name} demo` writes it:",
        "",
        f'````{language} title="{path}"',
        text,
        "````",
        "",
    ]


# --- fields


def structs_of(kind: Format) -> list[types.StructType]:
    """Every Struct of a model, the root first, each after one that leads to it."""
    found: dict[type, types.StructType] = {}
    waiting = [type_info(kind.model)]
    while waiting:
        info = waiting.pop(0)
        if isinstance(info, types.StructType):
            if info.cls not in found:
                found[info.cls] = info
                waiting += [field.type for field in info.fields]
        else:
            waiting += _inner(info)
    return list(found.values())


def _inner(info: types.Type) -> list[types.Type]:
    if isinstance(info, types.Metadata):
        return [info.type]
    if isinstance(info, types.UnionType):
        return list(info.types)
    if isinstance(info, types.VarTupleType | types.ListType):
        return [info.item_type]
    return [info.value_type] if isinstance(info, types.DictType) else []


def _fields(kind: Format) -> list[str]:
    lines = ["## Fields", ""]
    for number, struct in enumerate(structs_of(kind)):
        if not struct.fields and struct.tag is None:
            continue
        lines += [f"### {_title(struct)} {{ #{_anchor(struct)} }}", ""] if number else []
        description = _first_paragraph(struct.cls)
        lines += [description, ""] if description else []
        tag = [(f"`{struct.tag_field}`", f"`{struct.tag}`", "**required**", "says which it is")]
        rows = [
            *(tag if struct.tag_field is not None else ()),
            *(_row(kind, struct, field) for field in struct.fields),
        ]
        lines += [*table(("field", "type", "default", "meaning"), rows), ""]
    return lines


def _row(kind: Format, struct: types.StructType, field: types.Field) -> tuple[str, str, str, str]:
    default = "**required**" if field.required else _default(field)
    meaning = meaning_of(struct.cls, field.name) or _meaning_by_type(field.type)
    return f"`{field.encode_name}`", _cell(_type(field.type)), default, _cell(meaning)


def _meaning_by_type(info: types.Type) -> str:
    structs = list(_structs_in(info))
    return _first_paragraph(structs[0].cls).rstrip(".") if len(structs) == 1 else ""


def _structs_in(info: types.Type) -> Iterator[types.StructType]:
    if isinstance(info, types.StructType):
        yield info
    for each in _inner(info):
        yield from _structs_in(each)


def _type(info: types.Type) -> str:
    if isinstance(info, types.Metadata):
        return _type(info.type)
    if isinstance(info, types.UnionType):
        parts = [_type(each) for each in info.types if not isinstance(each, types.NoneType)]
        return " or ".join(dict.fromkeys(parts))
    if isinstance(info, types.StructType):
        return f"[{_title(info)}](#{_anchor(info)})"
    if isinstance(info, types.VarTupleType | types.ListType):
        return f"list of {_plain(info.item_type)}"
    if isinstance(info, types.DictType):
        return f"mapping to {_plain(info.value_type)}"
    if isinstance(info, types.LiteralType):
        return ", ".join(f"`{value}`" for value in info.values)
    return describe(info).removeprefix("one of ").removeprefix("a ")


def _plain(info: types.Type) -> str:
    return "anything" if isinstance(info, types.AnyType) else _type(info)


def _default(field: types.Field) -> str:
    value = field.default
    if value is msgspec.NODEFAULT and field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    if value is None or value is msgspec.NODEFAULT or value is msgspec.UNSET:
        return ""
    if isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, tuple | dict) and not value:
        return "empty"
    return f"`{json.dumps(msgspec.to_builtins(value), ensure_ascii=False)}`"


def _title(struct: types.StructType) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", struct.cls.__name__).lower()
    return words[0].upper() + words[1:]


def _anchor(struct: types.StructType) -> str:
    return struct.cls.__name__.lower()


def _first_paragraph(cls: type) -> str:
    written = cls.__dict__.get("__doc__") or ""
    return " ".join(re.split(r"\n[ \t]*\n", written.strip())[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# --- rest


def _options(kind: Format) -> list[str]:
    info = type_info(kind.reading.options)
    assert isinstance(info, types.StructType)
    if not info.fields:
        return []
    rows = [
        f"| `{field.encode_name}` | {_cell(_type(field.type))} | {_default(field)} |"
        f" {_cell(meaning_of(info.cls, field.name))} |"
        for field in info.fields
    ]
    head = ["## Options", "", "Arguments of `equipage.load`; some have a flag of the command.", ""]
    return [*head, "| option | type | default | meaning |", "|---|---|---|---|", *rows, ""]


def _strictness(kind: Format) -> list[str]:
    unknown = {"error": "an error", "warning": "a warning", "note": "a note"}.get(
        str(kind.shape.unknown), "let through"
    )
    facts = [f"An unknown key is {unknown}."]
    if kind.reading.variables:
        facts.append("`${NAME}` is replaced by environment variables before the file is parsed.")
    if kind.reading.merge_keys:
        facts.append("`<<` merge keys are applied, within bounds.")
    found = (
        (each.name, words) for each in all_codes().values() for words in _severities(kind, each)
    )
    lines = [
        f"- {severity}: {', '.join(f'[`{name}`](../codes/{name}.md)' for name in names)}"
        for severity, names in group_by_severity(dict(found)).items()
    ]
    differing = ["More or less severe here than elsewhere:", "", *lines, ""] if lines else []
    return ["## How strict it is", "", *facts, "", *differing]


def _severities(kind: Format, code: Code) -> Iterator[str]:
    """How severe a code is in files of a kind, where that differs from the code itself."""
    for syntax, words in severities_in(kind, code):
        yield f"{words} ({syntax})" if syntax else words


def _codes(kind: Format) -> list[str]:
    if not kind.every_code():
        return []
    links = [
        f"- [`{code.name}`](../codes/{code.name}.md): {summary(code.words.message)}"
        for code in kind.every_code()
    ]
    return ["## Its own findings", "", *sorted(set(links)), ""]
