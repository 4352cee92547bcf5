"""Rules of a format of one's own: plain functions of the configuration, which may be wrong.

A rule says what is wrong; it must neither break the load nor hold it up. One that raises, finds too
much or takes too long becomes a finding itself.
"""

from __future__ import annotations

import ctypes
import os
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from equipage.core import codes
from equipage.core.diagnostics import Change, Code, Fact, Remedy, Severity, UsageError, Words
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.loading.format import Problem, Rule

#: How long one rule may take, in seconds, and the most problems that it may find.
MAX_SECONDS, MAX_PROBLEMS = 30.0, 1_000


class _OwnWords:
    """The words of problems, which bring their own."""

    def words(self, _code: Code) -> Words:
        return Words("{problem}", "A rule of the format says so.", "{advice}")


_WORDS: Any = _OwnWords()


class _NotAProblem(UsageError):
    """A rule gives something else than problems."""

    def __init__(self, given: object) -> None:
        super().__init__(f"expected a `Problem` or a sentence, found {type(given).__name__}")


class _TooLong(BaseException):
    """Raised in a rule that takes too long. No rule catches it by catching `Exception`."""


def facts_of_rules(config: Any, rules: Iterable[Rule[Any]]) -> Iterator[Fact]:
    """What the rules say about a configuration, and what is wrong with the rules."""
    for rule in rules:
        name = getattr(rule, "__name__", type(rule).__name__)
        try:
            problems = _run(rule, config)
            yield from map(_fact, problems[:MAX_PROBLEMS])
        except _TooLong:
            yield _failure(name, f"took more than {MAX_SECONDS:g} seconds")
        except MemoryError:
            raise
        except UsageError as error:  # about its problems, and so in words of ours
            yield _failure(name, f"gives no proper problem: {error}")
        except Exception as error:
            yield _failure(name, f"raised {type(error).__name__}{_place(error, rule)}")
        else:
            if len(problems) > MAX_PROBLEMS:
                yield _failure(name, f"found more than {MAX_PROBLEMS:,} problems")


def _run(rule: Rule[Any], config: Any) -> list[Problem | str]:
    """All that a rule yields, up to one more than it may."""
    thread = threading.get_ident()
    watch = threading.Timer(MAX_SECONDS, _raise_in, (thread,))
    watch.daemon = True
    watch.start()
    try:
        found = rule(config)
        return [] if found is None else list(islice(_one_or_more(found), MAX_PROBLEMS + 1))
    finally:
        watch.cancel()


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_TooLong))


def _one_or_more(found: Any) -> Iterator[Problem | str]:
    """What a rule gave: a text alone is one problem, and not many letters."""
    if not isinstance(found, Iterable) or isinstance(found, Mapping):
        raise _NotAProblem(found)
    yield from ((found,) if isinstance(found, str | Problem) else found)


def _fact(given: Problem | str) -> Fact:
    problem = Problem("", given) if isinstance(given, str) else given
    if not isinstance(problem, Problem):
        raise _NotAProblem(problem)
    path = _path_of(problem.path)
    remedy = None
    if problem.fix is not None:
        change = Change(path, problem.fix)
        remedy = Remedy(f"change to `{problem.fix}`", (change,), safe=False)
    code = code_of_rule(problem.code, problem.severity)
    return code.at(path, remedy=remedy, problem=problem.message, advice=problem.help)


def code_of_rule(name: str, severity: Severity = "error") -> Code:
    """The code of a problem, whose words the problem brings."""
    return Code(name, severity, _WORDS)


def _path_of(given: str | Path) -> Path:
    try:
        return parse_path(given) if isinstance(given, str) else tuple(given)
    except PathSyntaxError as error:
        raise UsageError(f"`path`: {error}") from None


def _place(error: Exception, rule: Rule[Any]) -> str:
    """Where in its own module a rule raised, for those who wrote it."""
    file = getattr(getattr(rule, "__code__", None), "co_filename", None)
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == file]
    return (
        f" in {os.path.basename(frames[-1].filename)}, line {frames[-1].lineno}" if frames else ""
    )


def _failure(rule: str, problem: str) -> Fact:
    return codes.RULE_FAILED.at(rule=rule, problem=problem)
