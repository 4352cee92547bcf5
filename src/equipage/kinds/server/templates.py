"""Templates in static text: `${args.city}`, `${fn.upper(args.city)}`. They are filled when a request comes.

`$$` stands for one `$`, so `$${` opens nothing. Names and arguments are not checked further: what nobody knows at
run time is empty text there.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipage.expressions import expression

FUNCTIONS = ("upper", "lower", "base64", "json", "len", "default", "truncate", "timestamp", "uuid")

_START = expression(r"\$[${]")
_CALL = expression(r"fn\.(?P<name>[^(}\s]*)")


def template_problems(text: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the templates of a text: a code, and the function or the text it is about."""
    if "${" not in text:
        return
    position = 0
    while (match := _START.search(text, position)) is not None:
        position = match.end()
        if match.group() == "$$":
            continue
        close = text.find("}", position)
        if close < 0:
            yield "template-unclosed", text[match.start() :]
            return
        call = _CALL.match(text[position:close].strip())
        if call is not None and call["name"] not in FUNCTIONS:
            yield "template-function", call["name"]
        position = close + 1
