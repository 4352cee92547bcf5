"""Rules about dynamic responses: branches, conditions, sequences, handlers and templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path
from equipage.core.text import expression, nearest
from equipage.kinds.server import codes, grammar, items
from equipage.kinds.server.compose import ServerOptions
from equipage.kinds.server.items import Place, below, for_each, mappings
from equipage.kinds.server.model_responses import Condition
from equipage.loading.kind import Rule
from equipage.loading.session import Session
from equipage.loading.tree import HOLE

#: How long a handler may take, in milliseconds.
TIMEOUTS = range(100, 300_001)
# With a template anywhere in it, only a running server knows the address.
_WEB_ADDRESS = expression(r"https?://|.*\$\{", re.DOTALL)

# Branches.


def branches_can_be_taken(path: Path, response: dict[str, Any]) -> Iterator[Fact]:
    """Each branch has conditions or is the fallback, and none comes after the fallback."""
    fallback = False
    for place, branch in mappings(below([(path, response)], "match[]")):
        conditional, default = branch.get("when") is not None, "default" in branch
        if not conditional and not default:
            yield codes.BRANCH_INCOMPLETE.at(place)
        elif conditional and default:
            yield codes.BRANCH_BOTH.at((*place, "default"), part="key")
        if fallback and conditional:
            yield codes.UNREACHABLE_BRANCH.at((*place, "when"), part="key")
        elif fallback and default:
            yield codes.SECOND_DEFAULT.at((*place, "default"), part="key")
        fallback = fallback or (default and not conditional)


def condition_is_readable(path: Path, condition: Any) -> Iterator[Fact]:
    """The patterns of a condition can be used, and a mapping holds some operator."""
    if isinstance(condition, dict):
        operators = Condition.__struct_fields__
        if all(condition.get(operator) is None for operator in operators):
            yield codes.CONDITION_EMPTY.at(path, part="key", operators=operators)
        yield from _pattern_problems(below([(path, condition)], "any_of[]"))
        if isinstance(condition.get("regex"), str):
            pattern = grammar.REGEX_PREFIX + condition["regex"]
            yield from _pattern_problems([((*path, "regex"), pattern)])
    else:
        yield from _pattern_problems([(path, condition), *below([(path, condition)], "[]")])


def _pattern_problems(places: list[Place]) -> Iterator[Fact]:
    """Texts among `places` are globs, or regular expressions after `regex:`."""
    for path, written in places:
        if not isinstance(written, str):
            continue
        if written.startswith(grammar.REGEX_PREFIX):
            pattern, code = written.removeprefix(grammar.REGEX_PREFIX), codes.REGEX_INVALID
            problem = grammar.regex_problem(pattern)
        else:
            pattern, code, problem = written, codes.GLOB_INVALID, grammar.glob_problem(written)
        if problem is not None:
            yield code.at(path, pattern=Shown(pattern), problem=problem)


def sequence_has_answers(path: Path, sequence: Any) -> Iterator[Fact]:
    if sequence == []:
        yield codes.EMPTY_SEQUENCE.at(path, part="key")


# Handlers.


def handlers_are_allowed(config: Any, session: Session) -> Iterator[Fact]:
    if not cast(ServerOptions, session.options).allow_handlers:
        for path, _ in items.handlers(config):
            yield codes.HANDLER_NOT_ALLOWED.at(path, part="key")


def handler_can_be_asked(path: Path, handler: dict[str, Any]) -> Iterator[Fact]:
    """A handler has a sensible time limit, and a web address or a command."""
    sort, timeout, url = handler.get("type"), handler.get("timeout_ms"), handler.get("url")
    # The model reports what is not a number, or negative.
    if type(timeout) is int and timeout >= 0 and timeout not in TIMEOUTS:
        yield codes.HANDLER_TIMEOUT.at((*path, "timeout_ms"), found=Shown(timeout))
    if sort == "http" and isinstance(url, str) and not _WEB_ADDRESS.match(url):
        yield codes.HANDLER_URL.at((*path, "url"), url=Shown(url))
    if sort == "command" and handler.get("cmd", HOLE) in (None, []):
        yield codes.EMPTY_FIELD.at((*path, "cmd"), field="cmd")


def commands_can_be_found(config: Any, session: Session) -> Iterator[Fact]:
    """The program of a handler is on the PATH, unless it has a path or holds a template."""
    search = session.env.get("PATH")
    if session.embedded or not search:
        return
    commands = (place for place in items.handlers(config) if place[1].get("type") == "command")
    for path, name in below(commands, "cmd[]"):
        if path[-1] != 0 or not isinstance(name, str) or "/" in name or "${" in name:
            continue
        if not session.files.finds_program(name, search):
            yield codes.COMMAND_NOT_FOUND.at(path, command=Shown(name))


# Templates.


#: Where an answer has static text.
_TEXTS = (
    "content",
    "content[].text",
    "messages[].content.text",
    "contents[].uri",
    "contents[].text",
)


def _texts(config: Any) -> list[Place]:
    """The static texts that are filled when a request comes."""
    settings = below(items.choosers(config), "handler.headers{}", "handler.env{}")
    return [*below(items.answers(config), *_TEXTS), *settings]


def templates_are_closed(path: Path, text: Any) -> Iterator[Fact]:
    """Templates end, and call functions that exist."""
    for code, about in grammar.template_problems(text) if isinstance(text, str) else ():
        if code == codes.TEMPLATE_UNCLOSED:
            yield code.at(path, text=Shown(about))
        else:
            guess = nearest(about, grammar.FUNCTIONS)
            yield code.at(path, name=Shown(about), nearest=guess, known=grammar.FUNCTIONS)


RULES: tuple[Rule, ...] = (
    for_each(items.responses, branches_can_be_taken),
    for_each(lambda config: below(items.branches(config), "when{}"), condition_is_readable),
    for_each(lambda config: below(items.choosers(config), "sequence"), sequence_has_answers),
    handlers_are_allowed,
    for_each(items.handlers, handler_can_be_asked),
    commands_can_be_found,
    for_each(_texts, templates_are_closed),
)
