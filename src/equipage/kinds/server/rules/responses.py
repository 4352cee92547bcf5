"""Dynamic responses: branches, conditions, sequences and handlers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.server.composing import ServerOptions
from equipage.kinds.server.globs import glob_problem
from equipage.kinds.server.items import all_responses, branches, choosers, handlers, listing
from equipage.kinds.server.regexes import PREFIX, regex_problem
from equipage.kinds.server.responses import Condition
from equipage.path import Path
from equipage.session import Session
from equipage.tree import HOLE, mapping

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
        if isinstance(timeout, int) and not isinstance(timeout, bool) and timeout >= 0 and timeout not in TIMEOUTS:
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
