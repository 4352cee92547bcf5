"""Templates in an execution: arguments, the address, header values and the cache key.

They are compiled when a pack is prepared and filled for each call. A filled text must stay what its
author meant: an argument does not become an option, an address keeps its host, a header its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from equipage_serve.outcome import Failure

#: The longest text that a template may come to, in characters.
MAX_LENGTH = 64 * 1024
_MARKS = ("{{", "{%", "{#")
#: Scheme and host of an address; they end before the first template.
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/?#{}@\\\s]+)(?=[/?#]|$)", re.IGNORECASE)
#: Headers that the connection sets by itself.
RESERVED_HEADERS = frozenset(
    [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)

#: What a template sees: `input`, `env`, `id`, `version` and `context`.
Names = Mapping[str, Any]
Template = Callable[[Names], str]


class TemplateProblem(ValueError):
    """A template that can never be filled; the text says why."""


def compile_template(text: str) -> Template:
    """Return a function that fills a text, which may be plain. Raises `TemplateProblem`."""
    if not any(mark in text for mark in _MARKS):
        return lambda _names: text
    from jinja2 import TemplateError

    try:
        template = _environment().from_string(text)
    except TemplateError as error:
        raise TemplateProblem(f"the template `{text}` is not valid: {error}") from None
    except RecursionError:
        raise TemplateProblem(f"the template `{text[:80]}` is nested too deep") from None

    def fill(names: Names) -> str:
        parts, length = [], 0
        try:
            for part in template.generate(names):
                length += len(part)
                _require_length(length)
                parts.append(part)
        except (TemplateError, ArithmeticError, TypeError, ValueError, MemoryError, RecursionError):
            # The message of the engine may quote the input.
            raise Failure("INVALID_INPUT", f"cannot fill the template `{text}`") from None
        filled = "".join(parts)
        if "\0" in filled:
            raise Failure("INVALID_INPUT", "a filled template contains a zero byte")
        return filled

    return fill


def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Environment(ImmutableSandboxedEnvironment):
        """Data only: `input.items` is the entry `items`, never a method; nothing can be called."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, Mapping):
                if attribute in obj:
                    return obj[attribute]
                return self.undefined(obj=obj, name=attribute)
            return super().getattr(obj, attribute)

        def call(self, *arguments: Any, **more: Any) -> Any:
            from jinja2.exceptions import SecurityError

            raise SecurityError("calls are not allowed")

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            # A product of text and a number, a power, and a text that is a format could take any
            # amount of memory or time, and the values come from clients.
            most = 100 if operator == "**" else 1_000_000
            if not (_is_small(left) and _is_small(right, most)):
                raise Failure("INVALID_INPUT", "a template multiplies more than small numbers")
            return super().call_binop(context, operator, left, right)

        intercepted_binops = frozenset({"*", "**", "%"})

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        finalize=_spell_as_json,
        keep_trailing_newline=True,
    )
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in _FILTERS}
    environment.filters["tojson"] = lambda value: json.dumps(value, sort_keys=True)
    environment.filters |= _bounded_filters()
    return environment


def _bounded_filters() -> dict[str, Callable[..., Any]]:
    """Filters whose output is one value times another, limited to the length of a template."""
    from jinja2 import pass_eval_context
    from jinja2.filters import do_join, do_replace

    @pass_eval_context
    def join(context: Any, value: Iterable[Any], d: str = "", attribute: Any = None) -> Any:
        parts = list(value)
        _require_length(len(str(d)) * len(parts))
        return do_join(context, parts, d, attribute)

    @pass_eval_context
    def replace(context: Any, s: str, old: str, new: str, count: int | None = None) -> Any:
        _require_length(len(str(new)) * str(s).count(str(old)))
        return do_replace(context, s, old, new, count)

    return {"join": join, "replace": replace}


def _require_length(length: int) -> None:
    if length > MAX_LENGTH:
        raise Failure("INVALID_INPUT", "a filled template is too long")


#: The filters that give about as much as they take, or are bounded above.
_FILTERS = [
    "abs",
    "capitalize",
    "default",
    "first",
    "float",
    "int",
    "join",
    "last",
    "length",
    "lower",
    "replace",
    "round",
    "sort",
    "string",
    "title",
    "trim",
    "truncate",
    "unique",
    "upper",
    "urlencode",
]


def _is_small(value: Any, most: int = 1_000_000) -> bool:
    return isinstance(value, int | float) and abs(value) < most


def _spell_as_json(value: Any) -> Any:
    """A value as JSON spells it: `true`, `null`, and lists with double quotes."""
    if isinstance(value, str) or type(value).__name__ == "StrictUndefined":
        return value
    return json.dumps(value, sort_keys=True)


def compile_argument(text: str) -> Template:
    """Return a function that fills one argument of a program. Raises `TemplateProblem`."""
    fill = compile_template(text)

    def fill_argument(names: Names) -> str:
        filled = fill(names)
        if not filled:
            raise Failure("INVALID_INPUT", f"the argument `{text}` is empty once it is filled")
        if filled.startswith("-") and not text.startswith("-"):
            raise Failure("INVALID_INPUT", f"the argument `{text}` must not become an option")
        return filled

    return fill_argument


def compile_header(name: str, text: str) -> Template:
    """Return a function that fills the value of a header. Raises `TemplateProblem`."""
    if name.lower() in RESERVED_HEADERS:
        raise TemplateProblem(f"the header `{name}` cannot be set by a pack")
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        raise TemplateProblem(f"`{name}` is not the name of a header")
    fill = compile_template(text.rstrip("\r\n"))

    def fill_header(names: Names) -> str:
        filled = fill(names)
        if not all(each == "\t" or " " <= each != "\x7f" for each in filled):
            raise Failure("INVALID_INPUT", f"the header `{name}` contains a control character")
        return filled

    return fill_header


def compile_address(text: str) -> tuple[str, str, Template]:
    """Return scheme, host and the function that fills an address. Raises `TemplateProblem`."""
    origin = _ORIGIN.match(text)
    if origin is None:
        raise TemplateProblem(
            f"the address `{text}` must start with http:// or https:// and a host without templates"
        )
    scheme, host = origin["scheme"].lower(), origin["host"]
    try:
        wanted = _origin_of(text[: origin.end()])
    except ValueError:
        raise TemplateProblem(f"`{text}` is not an address") from None
    fill = compile_template(text)

    def fill_address(names: Names) -> str:
        filled = fill(names)
        try:
            same = _origin_of(filled) == wanted
        except ValueError:
            same = False
        if not same or any(each <= " " or each == "\x7f" for each in filled):
            raise Failure("INVALID_INPUT", "the filled address does not keep its host")
        return filled

    return scheme, host, fill_address


def _origin_of(url: str) -> tuple[str, str | None, int | None, str | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port, parts.username
