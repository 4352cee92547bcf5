"""Loading with the parser: whatever is too much for reading line by line, and every error."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError
from yaml.reader import ReaderError

from equipage.syntax import Irregularity, Parsed, SyntaxProblem
from equipage.syntax.limits import lone_surrogates
from equipage.syntax.yaml.errors import syntax_errors
from equipage.syntax.yaml.nodes import survey
from equipage.syntax.yaml.values import construct

#: Nobody declares more short forms of tags than this, and the parser compares each with all before it.
MAX_TAG_DIRECTIVES = 100
_TAG_DIRECTIVE = re.compile(r"(?:^|(?<=[\r\n\x85\u2028\u2029]))%TAG\b")


def parse(text: str, *, merge: bool) -> Parsed:
    """The value of the first document of `text`, and what is odd about it. Raises `SyntaxProblem`."""
    if text.count("%TAG") > MAX_TAG_DIRECTIVES:
        _require_few_directives(text)
    try:
        value, odd, further = construct(text, merge=merge)
    except SyntaxProblem:
        raise
    except (MarkedYAMLError, ReaderError) as error:
        raise SyntaxProblem(syntax_errors(text, error)) from None
    except UnicodeEncodeError:  # libyaml reads UTF-8
        raise SyntaxProblem(lone_surrogates(text)) from None
    found = survey(text, merge=merge) if odd else []
    if further is not None:
        found.append(Irregularity("extra-document", (further, further + 3)))
    return Parsed(value, tuple(found))


def _require_few_directives(text: str) -> None:
    """Raises `SyntaxProblem` at the first directive that is too many."""
    for number, match in enumerate(_TAG_DIRECTIVE.finditer(text)):
        if number == MAX_TAG_DIRECTIVES:
            problem = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
            raise SyntaxProblem(
                [
                    Irregularity(
                        "yaml-syntax", match.span(), values={"problem": problem, "hint": None}
                    )
                ]
            )
