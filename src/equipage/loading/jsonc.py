"""JSON with comments, and with commas before closing brackets where the tool allows them."""

from __future__ import annotations

import re

from equipage.core.diagnostics import Fact
from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.loading.session import Parsed, Session
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Document, load_value
from equipage.syntax.variables import Substituted

#: What matters outside strings. A string or comment that is never closed takes the rest of the
#: line or text, so that no character is looked at twice.
_TOKEN = lazy_regex(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<comma> , )
    | (?P<end> [\]}] )
    | "(?: [^"\\\n]++ | \\. )*+ "?      # a string
    | /\*.* | /                         # a comment that is never closed, a lone slash
    | [^\s",/\]}]+                      # anything else
    """,
    re.DOTALL | re.VERBOSE,
)


def blank_comments(text: str, *, trailing_commas: bool = True) -> str:
    """Replace comments and trailing commas by blanks; everything else keeps its place."""
    blanks: list[tuple[int, int]] = []
    comma: tuple[int, int] | None = None  # the last token, if it was a comma
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "comment":
            blanks.append(match.span())
            continue
        if match.lastgroup == "end" and comma is not None and trailing_commas:
            blanks.append(comma)
        comma = match.span() if match.lastgroup == "comma" else None
    position = 0
    parts: list[str] = []
    for start, end in sorted(blanks):
        parts += (text[position:start], re.sub(r"[^\r\n]", " ", text[start:end]))
        position = end
    return "".join(parts) + text[position:]


def read_jsonc(source: Source, session: Session, *, trailing_commas: bool) -> Parsed:
    """The document of a JSON file with comments; errors are placed in the file as it is written."""
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    start = 1 if source.text.startswith("\ufeff") else 0
    text = blank_comments(source.text[start:], trailing_commas=trailing_commas)
    if text == source.text[start:]:
        return session.parse(source, "json")
    try:
        value = load_value("json", text)
    except SyntaxProblem:
        bare = Source(source.name, source.data, source.text[:start] + text, source.filename)
        return session.parse(bare, "json")
    return session.adopt(Document(source, "json", value, substituted_text=Substituted(text))), []
