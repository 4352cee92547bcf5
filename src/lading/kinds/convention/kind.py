"""A convention as a kind: model, stages and rules all follow from its table."""

from __future__ import annotations

import keyword
import re
from functools import partial
from typing import Any

import msgspec

from lading.diagnostics import Fact
from lading.kinds.convention import checks, stages
from lading.kinds.convention.codes import CODES
from lading.kinds.convention.references import references_exist
from lading.kinds.convention.table import Convention
from lading.kinds.headers import HeaderStyle, read_header
from lading.kinds.kind import Kind
from lading.model import Shape
from lading.session import Session
from lading.source import Source
from lading.syntax.document import Document, Format
from lading.syntax.frontmatter import CONVENTION

#: The key of the text below the header in the loaded configuration.
BODY = stages.BODY
_FORMATS: dict[str, dict[str, Format]] = {
    "header": {".md": "yaml", ".mdc": "yaml"},
    "json": {".json": "json"},
    "toml": {".toml": "toml"},
}


def model_of(convention: Convention) -> type[Any]:
    """The Struct of a convention. Every field may be missing: the table says which are needed, and how badly."""
    fields: list[tuple[str, Any, Any]] = [
        (_attribute(field.name), field.type | None, msgspec.field(default=None, name=field.name))
        for field in convention.fields
    ]
    if convention.syntax == "header":
        fields.append((BODY, str, msgspec.field(default="")))
    name = "".join(part.capitalize() for part in re.split(r"[\W_]+", convention.title))
    return msgspec.defstruct(
        name, fields, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True, module=__name__
    )


def _attribute(name: str) -> str:
    """The name of a field as Python can say it."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) or plain == BODY else plain


def read(convention: Convention, source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The header, or the whole file where the convention has no prompt below it."""
    if convention.syntax != "header":
        return session.parse(source, convention.syntax)
    style = HeaderStyle(
        convention.title,
        grammar=CONVENTION,
        known=convention.names,
        forgiving=convention.forgiving,
        optional=convention.header_optional,
        passes_over=convention.passes_over,
    )
    document, facts = read_header(source, session, style)
    return document, facts + stages.before_header(source)


def hide_body(schema: dict[str, Any]) -> dict[str, Any]:
    """The text below the header is loaded, never written as a field: editors must not offer it."""
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop(BODY, None)
    return schema


def kind_of(convention: Convention) -> Kind:
    """The kind of a convention."""
    return Kind(
        name=convention.kind,
        title=convention.title,
        model=model_of(convention),
        formats=_FORMATS[convention.syntax],
        read=partial(read, convention),
        strictness={"unknown-tag": "error", "merge-key": "error", "non-string-key": "warning"},
        shape=Shape(
            unknown=convention.unknown,
            null_is_absent=True,
            mismatch="warning",
            guarded=convention.restricting,
            synonyms=convention.synonyms,
        ),
        stages=(
            partial(stages.keep_text, convention),
            partial(stages.divide_names, convention),
            partial(stages.bring_body, convention),
            partial(stages.look_for_suspicious, convention),
        ),
        rules=tuple(partial(rule, convention) for rule in checks.RULES),
        cross_rules=(partial(references_exist, convention),),
        codes=CODES,
        schema=hide_body,
        example=convention.example,
    )
