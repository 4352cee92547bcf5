"""A profile's source to a document: a whole TOML file, or the header of a Markdown file."""

from __future__ import annotations

import os

from equipage.diagnostics import Fact
from equipage.kinds.headers import HeaderStyle, body_of, read_header
from equipage.kinds.profile.model import AgentProfile, Variant
from equipage.session import Session
from equipage.source import Source
from equipage.syntax.document import Document

STYLE = HeaderStyle("single-file profile", known=AgentProfile.__struct_fields__)


def given_path(session: Session) -> str:
    """The path a profile was asked for by: it names the profile, even where it is a link to another file."""
    return session.path.replace(os.sep, "/")


def variant_of(source: Source) -> Variant:
    """Which of the two variants a source is."""
    return "folder" if (source.path or source.name).endswith(".toml") else "file"


def read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The document of a profile. Both variants have the same schema, so nothing later asks which it was."""
    if variant_of(source) == "folder":
        return session.parse(source, "toml")
    return read_header(source, session, STYLE)


__all__ = ["body_of", "given_path", "read", "variant_of"]
