"""Rules of a format of one's own: plain functions of the configuration, which may be wrong.

A rule says what is wrong; it must neither break the load nor hold it up. One that raises, finds too
much or takes too long becomes a finding itself.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
import traceback
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Change, Code, Fact, LoadError, Remedy, UsageError, Words
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.loading.format import Problem, Rule

_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: How long one rule may take, in seconds, and the most problems that it may find.
MAX_SECONDS, MAX_PROBLEMS = 30.0, 1_000


class _OwnWords:
    """The words of problems, which bring their own."""

    def words(self, _code: Code) -> Words:
        return Words("{problem}", "A rule of the format says so.", "{advice}")


_WORDS: Any = _OwnWords()


class _TooLong(BaseException):
    """Raised in a rule that takes too long. No rule catches it by catching `Exception`."""


def facts_of_rules(config: Any, rules: Iterable[Rule[Any]]) -> Iterator[Fact]:
    """What the rules say about a configuration, and what is wrong with the rules."""
    for rule in rules:
        problems: list[Problem | str] = []
        failure = None
        try:
            _run(rule, config, problems)
        except _TooLong:
            failure = f"took more than {MAX_SECONDS:g} seconds"
        except MemoryError:
            raise
        except (Exception, SystemExit) as error:
            failure = _what_was_raised(rule, error)
        if len(problems) > MAX_PROBLEMS:
            failure = f"found more than {MAX_PROBLEMS:,} problems"
        for each in problems[:MAX_PROBLEMS]:
            odd = _oddity(each)
            failure = failure or odd
            if odd is None:
                yield _fact(each)
        if failure is not None:
            yield _failure("rule", rule, failure)


def failure_of(sort: str, function: Any, error: BaseException) -> Fact:
    """The finding that a stage or a check of a caller raised. Raises what ours raised: a bug."""
    frame, _ = [*traceback.walk_tb(error.__traceback__)][-1]
    modules = (frame.f_globals.get("__name__", ""), getattr(function, "__module__", ""))
    is_ours = all(each.partition(".")[0] == "equipage" for each in modules)
    if is_ours or isinstance(error, MemoryError | UsageError | LoadError):
        raise error
    return _failure(sort, function, _what_was_raised(function, error))


def _failure(sort: str, function: Any, problem: str) -> Fact:
    name = getattr(function, "__name__", type(function).__name__)
    return codes.RULE_FAILED.at(function=f"{sort} `{name}`", problem=problem)


def _what_was_raised(function: Any, error: BaseException) -> str:
    """What a function raised, and where in its own file; what has none, where it was raised."""
    frames = [
        (each.f_code.co_filename, line) for each, line in traceback.walk_tb(error.__traceback__)
    ]
    file = getattr(getattr(function, "__code__", None), "co_filename", frames[-1][0])
    lines = [line for each, line in frames if each == file]
    place = f" in line {lines[-1]} of {os.path.basename(file)}" if lines else ""
    return f"raised {type(error).__name__}{place}"


def _run(rule: Rule[Any], config: Any, problems: list[Problem | str]) -> None:
    """Add all that a rule yields, up to one more than it may."""
    thread = threading.get_ident()
    watch = threading.Timer(MAX_SECONDS, _raise_in, (thread,))
    watch.daemon = True
    watch.start()
    try:
        found = rule(config)
        # What came before the rule raised is kept.
        problems.extend(() if found is None else islice(_one_or_more(found), MAX_PROBLEMS + 1))
    finally:
        watch.cancel()


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_TooLong))


def _one_or_more(found: Any) -> Iterator[Problem | str]:
    """What a rule gave: a text alone is one problem, and not many letters."""
    yield from ((found,) if isinstance(found, str | Problem) else found)


def _oddity(given: Any) -> str | None:
    """What keeps something that a rule gave from being a problem."""
    if isinstance(given, str):
        return None
    if not isinstance(given, Problem):
        return f"gave {type(given).__name__} in place of a problem or a sentence"
    # A Struct that is made in Python may hold anything.
    parts: dict[str, Any] = msgspec.structs.asdict(given)
    if not isinstance(parts["message"], str) or not isinstance(parts["help"], str | None):
        return "gave a problem without words"
    if not isinstance(parts["code"], str) or not _CODE.fullmatch(parts["code"]):
        return "gave a problem whose code is not a name in kebab case"
    if parts["severity"] not in ("error", "warning", "note"):
        return "gave a problem whose severity is not `error`, `warning` or `note`"
    if not isinstance(parts["fix"], str | int | float | bool | None):
        return "gave a problem whose fix is not a scalar"
    try:
        _path_of(given.path)
    except (PathSyntaxError, TypeError):
        return f"gave a problem at `{given.path}`, which cannot be read as a path"
    return None


def _fact(given: Problem | str) -> Fact:
    problem = Problem("", given) if isinstance(given, str) else given
    path = _path_of(problem.path)
    remedy = None
    if problem.fix is not None:
        change = Change(path, problem.fix)
        remedy = Remedy(f"change to `{problem.fix}`", (change,), safe=False)
    code = Code(problem.code, problem.severity, _WORDS)
    return code.at(path, remedy=remedy, problem=problem.message, advice=problem.help)


def _path_of(given: str | Path) -> Path:
    return parse_path(given) if isinstance(given, str) else tuple(given)
