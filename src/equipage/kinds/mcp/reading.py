"""JSON as tools write it: some allow comments and trailing commas."""

from __future__ import annotations

import re

from equipage.diagnostics import Fact
from equipage.environment import Substituted
from equipage.files import require_text
from equipage.sandbox import FileProblem
from equipage.session import Session
from equipage.source import Source, Span
from equipage.syntax.document import Document, load_value
from equipage.syntax.engine import SyntaxProblem

#: What is never closed takes the rest, so that nothing is looked at twice.
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<comma>,)|(?P<end>[\]}])|"(?:[^"\\\n]++|\\.)*+"?|/\*.*|/|[^\s",/\]}]+""",
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """The text with blanks for comments and trailing commas: every other character keeps its place."""
    blanks: list[tuple[int, int]] = []
    comma: tuple[int, int] | None = None  #: the last token, if it was one
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "comment":
            blanks.append(match.span())
            continue
        if match.lastgroup == "end" and comma is not None:
            blanks.append(comma)
        comma = match.span() if match.lastgroup == "comma" else None
    position = 0
    parts: list[str] = []
    for start, end in sorted(blanks):
        parts += (text[position:start], _blank(text[start:end]))
        position = end
    return "".join(parts) + text[position:]


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def read_with_comments(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The document of a JSON file with comments; one that is wrong beyond them is told as it stands."""
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    start = 1 if source.text.startswith("\ufeff") else 0
    text = without_comments(source.text[start:])
    if text == source.text[start:]:
        return session.parse(source, "json")
    try:
        value = load_value("json", text)
    except SyntaxProblem:
        return session.parse(Source(source.name, source.data, source.text[:start] + text, source.path), "json")
    return session.adopt(Document(source, "json", value, substituted_text=Substituted(text))), []
