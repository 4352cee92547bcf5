"""A profile's source to a document: a whole TOML file, or the header of a Markdown file."""

from __future__ import annotations

import os

from lading.diagnostics import Fact
from lading.files import FileProblem, require_text
from lading.kinds.profile.model import Variant
from lading.session import Session
from lading.source import Source, Span
from lading.syntax.document import Document, parse
from lading.syntax.frontmatter import PROFILE, Header, NoHeader, body_after, split

_NO_HEADER = {
    "no-opening-fence": "header-missing",
    "fence-not-first": "header-not-first",
    "text-after-fence": "header-fence-not-alone",
    "never-closed": "header-never-closed",
}


def given_path(source: Source, session: Session) -> str:
    """The path a source was asked for by: it names the profile, even where it is a link to another file."""
    return os.path.join(session.files.cwd, source.name).replace(os.sep, "/")


def variant_of(source: Source) -> Variant:
    """Which of the two variants a source is."""
    return "folder" if (source.path or source.name).endswith(".toml") else "file"


def read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The document of a profile. Both variants have the same schema, so nothing later asks which it was."""
    if variant_of(source) == "folder":
        return session.parse(source, "toml")
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    header = split(source.text, PROFILE)
    if isinstance(header, NoHeader):
        return None, [Fact(_NO_HEADER[header.reason], span=Span(source, *header.range))]
    document, facts = parse(source, header.format, window=(header.start, header.end))
    facts = session.strict(facts, header.format)
    if document is None:
        return None, facts
    if document.value is None:
        document.value = {}  # an empty header lacks fields; it is not an empty file
    facts += _indented_fence(source, header)
    return session.adopt(document), facts


def _indented_fence(source: Source, header: Header) -> list[Fact]:
    """A closing fence that is indented may have been meant as text of the header."""
    line = source.text[header.end :].split("\n", 1)[0]
    indent = len(line) - len(line.lstrip())
    if not indent:
        return []
    start = header.end + indent
    return [Fact("header-closed-by-indented-fence", span=Span(source, start, start + 3))]


def body_of(header: Document) -> Document:
    """The text below a header, as a document of its own."""
    text = header.source.text
    window = body_after(text, header.window[1], PROFILE)
    return Document(header.source, "text", text[slice(*window)], window=window)
