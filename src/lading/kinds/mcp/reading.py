"""JSON as tools write it: some allow comments and trailing commas."""

from __future__ import annotations

import re

from lading.diagnostics import Fact
from lading.environment import Substituted
from lading.files import require_text
from lading.sandbox import FileProblem
from lading.session import Session
from lading.source import Source, Span
from lading.syntax.document import Document, load_value
from lading.syntax.engine import SyntaxProblem

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[\]}])', re.DOTALL)


def without_comments(text: str) -> str:
    """The text with blanks for comments and trailing commas: every other character keeps its place."""
    return _TOKEN.sub(lambda match: match.group() if match.group()[0] == '"' else _blank(match.group()), text)


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
