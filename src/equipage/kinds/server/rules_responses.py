"""Dynamic responses: branches, conditions, sequences and handlers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

import msgspec

from equipage.core.diagnostics import Fact, Shown, fact
from equipage.core.path import Path
from equipage.core.text import expression, nearest
from equipage.kinds.server.compose import ServerOptions
from equipage.kinds.server.items import (
    Place,
    all_responses,
    answers,
    branches,
    choosers,
    content_items,
    entries,
    handlers,
    listing,
)
from equipage.kinds.server.model import Condition
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, mapping

# --- globs -------------------------------------------------------------------------------------
# Globs of `when` conditions.
#
# `*` matches any text, `/` included, `?` one character, `[abc]`, `[a-z]` and `[!a]` one of a set. `**` stands only as
# a whole component between slashes. A glob matches the whole text, and case counts.

_STARS = expression(r"\*{2,}")


def glob_problem(pattern: str) -> str | None:
    """What is wrong with a glob, None if it is one."""
    return _stars_problem(pattern) or _sets_problem(pattern)


def _stars_problem(pattern: str) -> str | None:
    for match in _STARS.finditer(_without_sets(pattern)):
        if len(match.group()) > 2:
            return "more than two `*` in a row"
        text = match.string
        before, after = text[: match.start()], text[match.end() :]
        if (before and not before.endswith("/")) or (after and not after.startswith("/")):
            return "`**` must stand alone between slashes"
    return None


def _sets_problem(pattern: str) -> str | None:
    position = 0
    while (position := pattern.find("[", position)) >= 0:
        close = _closing(pattern, position)
        if close is None:
            return "`[` is never closed"
        position = close + 1
    return None


def _closing(pattern: str, start: int) -> int | None:
    """Where the set that opens at `start` closes. It has at least one member, so `[]]` holds a bracket."""
    first = start + 2 if pattern[start + 1 : start + 2] == "!" else start + 1
    close = pattern.find("]", first + 1)
    return None if close < 0 else close


def _without_sets(pattern: str) -> str:
    """The glob with each set replaced by one ordinary character, so that `[*]` is no star."""
    out: list[str] = []
    position = 0
    while (start := pattern.find("[", position)) >= 0:
        close = _closing(pattern, start)
        if close is None:
            break
        out += (pattern[position:start], "x")
        position = close + 1
    return "".join([*out, pattern[position:]])


# --- regexes -----------------------------------------------------------------------------------
# Regular expressions of matchers and conditions.
#
# The dialect is that of Rust's `regex` crate: linear time, so no look-around and no back-references. jsonschema-rs
# carries that very engine, and is asked whether it takes a pattern. It reads a pattern the way JavaScript does before
# it hands it over, which differs in two escapes.

#: A condition that starts so is a regular expression, not a glob.
PREFIX = "regex:"
_ESCAPE = expression(r"\\(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def regex_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, None if it can be used."""
    import jsonschema_rs  # only configurations with patterns pay for it

    if any(escape[1] == "c" for escape in _ESCAPE.finditer(pattern)):
        return "`\\c` is not an escape"
    plain = _ESCAPE.sub(_without_bell, pattern)
    try:
        jsonschema_rs.validator_for(
            {"pattern": plain}, pattern_options=jsonschema_rs.RegexOptions(), offline=True
        )
    except (jsonschema_rs.ValidationError, ValueError):
        return _reason(pattern)
    return None


def _without_bell(escape: re.Match[str]) -> str:
    return r"\x07" if escape[1] == "a" else escape[0]


def _reason(pattern: str) -> str:
    if any(group in pattern for group in ("(?=", "(?!", "(?<=", "(?<!")):
        return "look-around is not supported"
    if (
        any(f"\\{digit}" in pattern for digit in range(1, 10))
        or "(?P=" in pattern
        or "\\k<" in pattern
    ):
        return "back-references are not supported"
    return "it does not compile"


#: How long a handler may take, in milliseconds.
TIMEOUTS = range(100, 300_001)
OPERATORS = tuple(field.encode_name for field in msgspec.structs.fields(Condition))


def branches_can_be_taken(config: Any, _session: Session) -> Iterator[Fact]:
    for response in all_responses(config):
        fallback = False
        for path, branch in branches(response):
            if not isinstance(branch, dict):
                continue
            yield from _branch_problems(path, branch, after_fallback=fallback)
            fallback = fallback or ("default" in branch and branch.get("when") is None)


def _branch_problems(path: Path, branch: dict[str, Any], *, after_fallback: bool) -> Iterator[Fact]:
    conditional = branch.get("when") is not None
    if not conditional and "default" not in branch:
        yield fact("branch-incomplete", path)
    elif conditional and "default" in branch:
        yield fact("branch-both", (*path, "default"), part="key")
    if after_fallback and conditional:
        yield fact("unreachable-branch", (*path, "when"), part="key")
    elif after_fallback and "default" in branch:
        yield fact("second-default", (*path, "default"), part="key")


def conditions_are_readable(config: Any, _session: Session) -> Iterator[Fact]:
    for response in all_responses(config):
        for path, branch in branches(response):
            for field, condition in mapping(mapping(branch).get("when")).items():
                yield from _condition_problems((*path, "when", field), condition)


def _condition_problems(path: Path, condition: Any) -> Iterator[Fact]:
    if isinstance(condition, str):
        yield from _pattern_problems(path, condition)
    elif isinstance(condition, list):
        yield from _all_pattern_problems(path, condition)
    elif isinstance(condition, dict):
        if not any(condition.get(operator) is not None for operator in OPERATORS):
            yield fact("condition-empty", path, part="key", operators=OPERATORS)
        yield from _all_pattern_problems((*path, "any_of"), listing(condition.get("any_of")))
        if isinstance(condition.get("regex"), str):
            yield from _pattern_problems((*path, "regex"), PREFIX + condition["regex"])


def _all_pattern_problems(path: Path, patterns: list[Any]) -> Iterator[Fact]:
    for number, each in enumerate(patterns):
        if isinstance(each, str):
            yield from _pattern_problems((*path, number), each)


def _pattern_problems(path: Path, written: str) -> Iterator[Fact]:
    """A glob, or a regular expression behind `regex:`."""
    pattern = written.removeprefix(PREFIX)
    is_regex = pattern is not written and written.startswith(PREFIX)
    problem = regex_problem(pattern) if is_regex else glob_problem(written)
    if problem is not None:
        code = "regex-invalid" if is_regex else "glob-invalid"
        yield fact(code, path, pattern=Shown(pattern), problem=problem)


def sequences_have_answers(config: Any, _session: Session) -> Iterator[Fact]:
    for response in all_responses(config):
        for path, chooser in choosers(response):
            if mapping(chooser).get("sequence") == []:
                yield fact("empty-sequence", (*path, "sequence"), part="key")


# --------------------------------------------------------------------------------------------------- handlers


def handlers_are_allowed(config: Any, session: Session) -> Iterator[Fact]:
    if not cast(ServerOptions, session.options).allow_handlers:
        for path, _ in handlers(config):
            yield fact("handler-not-allowed", path, part="key")


def handlers_can_run(config: Any, session: Session) -> Iterator[Fact]:
    for path, handler in handlers(config):
        timeout = handler.get("timeout_ms")
        if (
            isinstance(timeout, int)
            and not isinstance(timeout, bool)
            and timeout >= 0
            and timeout not in TIMEOUTS
        ):
            yield fact("handler-timeout", (*path, "timeout_ms"), found=Shown(timeout))
        if handler.get("type") == "http":
            yield from _url_problems(path, handler.get("url"))
        elif handler.get("type") == "command":
            yield from _command_problems(path, handler.get("cmd", HOLE), session)


def _url_problems(path: Path, url: Any) -> Iterator[Fact]:
    if isinstance(url, str) and not url.startswith(("http://", "https://")) and "${" not in url:
        yield fact("handler-url", (*path, "url"), url=Shown(url))


def _command_problems(path: Path, command: Any, session: Session) -> Iterator[Fact]:
    if command is None or command == []:
        yield fact("empty-field", (*path, "cmd"), field="cmd")
        return
    name = listing(command)[0] if listing(command) else None
    search = session.env.get("PATH")
    if not isinstance(name, str) or "/" in name or "${" in name or session.embedded or not search:
        return
    if not session.files.finds_program(name, search):
        yield fact("command-not-found", (*path, "cmd", 0), command=Shown(name))


RULES = (
    branches_can_be_taken,
    conditions_are_readable,
    sequences_have_answers,
    handlers_are_allowed,
    handlers_can_run,
)


# --- templates ---------------------------------------------------------------------------------
# Templates in static text: `${args.city}`, `${fn.upper(args.city)}`. They are filled when a request comes.
#
# `$$` stands for one `$`, so `$${` opens nothing. Names and arguments are not checked further: what nobody knows at
# run time is empty text there.

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


# --- templates ---------------------------------------------------------------------------------
# Templates in static text.


def templates_are_closed(config: Any, _session: Session) -> Iterator[Fact]:
    """Templates end, and call functions that exist."""
    for path, text in _texts(config):
        if isinstance(text, str) and "${" in text:
            for code, about in template_problems(text):
                yield _problem(code, path, about)


def _problem(code: str, path: Any, about: str) -> Fact:
    if code == "template-unclosed":
        return fact(code, path, text=Shown(about))
    return fact(code, path, name=Shown(about), nearest=nearest(about, FUNCTIONS), known=FUNCTIONS)


def _texts(config: Any) -> Iterator[Place]:
    """Every static text that is filled when a request comes."""
    for response in all_responses(config):
        for answer in answers(response):
            yield from _answer_texts(answer)
        for path, chooser in choosers(response):
            yield from _handler_texts(path, mapping(mapping(chooser).get("handler")))


def _answer_texts(answer: Place) -> Iterator[Place]:
    path, value = answer
    value = mapping(value)
    yield (*path, "content"), value.get("content")
    for place, item in content_items(answer):
        yield (*place, "text"), mapping(item).get("text")
    for place, content in entries(value, path, "contents"):
        for key in ("uri", "text"):
            yield (*place, key), mapping(content).get(key)


def _handler_texts(path: Any, handler: dict[str, Any]) -> Iterator[Place]:
    for key in ("headers", "env"):
        for name, text in mapping(handler.get(key)).items():
            yield (*path, "handler", key, name), text


TEMPLATES_RULES = (templates_are_closed,)
