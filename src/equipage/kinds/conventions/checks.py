"""What must hold in one file of a convention, beyond its shape."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from equipage.core.diagnostics import Change, Fact, Remedy, Shown, fact
from equipage.core.source import Span
from equipage.kinds.conventions.stages import BODY
from equipage.kinds.conventions.table import Convention
from equipage.kinds.headers import has_header
from equipage.loading.model import describe, type_info
from equipage.loading.session import Session
from equipage.loading.tree import get


def has_what_is_needed(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Fields that the tool cannot do without, and those that it should not have to."""
    if not isinstance(config, dict) or (
        convention.passes_over and not has_header(session.documents[0])
    ):
        return
    for field in convention.fields:
        if field.required is None:
            continue
        # What was written and does not fit was told when it was left out.
        value = config.get(field.name, _written(session, field.name))
        if value is None or (isinstance(value, str) and not value.strip()):
            yield fact(
                "missing-field",
                part="key",
                severity=field.required,
                field=field.name,
                owner=convention.one,
                expected=describe(type_info(field.type)),
            )


def _written(session: Session, name: str) -> Any:
    """What the file itself says of a field."""
    return get(session.documents[0].value, (name,)) if session.documents else None


def name_has_its_form(convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A name looks as the tool wants it, and says the same as the file or folder it stands for."""
    rule = convention.name
    name = config.get("name") if isinstance(config, dict) else None
    if rule is None or not isinstance(name, str) or not name.strip():
        return
    plain = unicodedata.normalize("NFKC", name)
    too_long = rule.longest is not None and len(plain) > rule.longest
    if re.fullmatch(rule.pattern, plain) is None or too_long:
        better = re.sub(r"[\W_]+", "-", plain.casefold()).strip("-")
        fits = re.fullmatch(rule.pattern, better) is not None and (
            rule.longest is None or len(better) <= rule.longest
        )
        words = f"{rule.words}, at most {rule.longest} of them" if rule.longest else rule.words
        yield fact(
            "name-form",
            ("name",),
            severity=rule.severity,
            name=Shown(name),
            tool=convention.tool,
            rule=words,
            better=better if fits and better != name else None,
        )
    other = _place(rule.equals, session)
    if other and unicodedata.normalize("NFKC", other) != plain:
        remedy = Remedy(f"rename to `{other}`", (Change(("name",), other),), safe=False)
        yield fact(
            "name-differs",
            ("name",),
            severity=rule.severity,
            remedy=remedy,
            name=Shown(name),
            place=rule.equals,
            other=other,
        )


def _place(what: str | None, session: Session) -> str | None:
    """The name of the file, or of its folder; None for texts that are no files."""
    source = session.documents[0].source if session.documents else None
    if what is None or source is None or source.path is None:
        return None
    folder, file = os.path.split(session.path)  # as it was found, whatever a link leads to
    return os.path.basename(folder) if what == "folder" else file.partition(".")[0]


def texts_have_their_length(
    convention: Convention, config: Any, session: Session
) -> Iterator[Fact]:
    """Texts that the tool cuts off or refuses, and a prompt that is not there."""
    if not isinstance(config, dict):
        return
    for name, limit in convention.longest.items():
        value = config.get(name)
        if isinstance(value, str) and len(value) > limit:
            yield _too_long(convention, name, len(value), limit, (name,))
    if convention.syntax != "header" or not isinstance(config.get(BODY), str):
        return
    body = config[BODY]
    if convention.longest_body is not None and len(body) > convention.longest_body:
        yield _too_long(convention, "the prompt", len(body), convention.longest_body, (BODY,))
    if convention.needs_body and not body.strip() and session.documents:
        document = session.documents[0]
        yield Fact(
            "text-missing",
            span=Span(document.source, len(document.source.text), len(document.source.text)),
        )


def _too_long(
    convention: Convention, field: str, length: int, limit: int, path: tuple[str, ...]
) -> Fact:
    return fact(
        "text-too-long", path, field=field, length=length, limit=limit, tool=convention.tool
    )


def file_is_read(convention: Convention, _config: Any, session: Session) -> Iterator[Fact]:
    """A file with an ending that the tool passes over in that folder."""
    source = session.documents[0].source if session.documents else None
    if convention.suffixes[0] == ".mdc" and source is not None and source.name.endswith(".md"):
        values: dict[str, object] = {"tool": convention.tool, "extension": convention.suffixes[0]}
        yield Fact("extension-not-read", values=values, span=Span(source, 0, 0))


RULES = (has_what_is_needed, name_has_its_form, texts_have_their_length, file_is_read)
