"""What the tests of the generators share: making one, and reading findings in words."""

from __future__ import annotations

import string
from collections.abc import Iterable

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import format_path
from equipage.formats.server.codes import GENERATE_CODES as CODES
from equipage.formats.server.payloads import build
from equipage.formats.server.payloads.base import Generator, GeneratorLimits

HERE = ("text", "$generate")
LIMITS = GeneratorLimits()
BY_NAME = {code.name: code for code in CODES}


def make(limits: GeneratorLimits = LIMITS, /, **params: object) -> Generator:
    """The generator these parameters describe; there must be no finding at all."""
    generator, facts = build(params, limits, HERE)
    assert (worded(facts), generator is not None) == ([], True)
    assert generator is not None
    return generator


def findings(params: object, limits: GeneratorLimits = LIMITS) -> list[str]:
    """What is found about `params`, as people would read it, without the part of the path that
    never changes."""
    return worded(build(params, limits, HERE)[1])


def worded(facts: Iterable[Fact]) -> list[str]:
    return [_worded(each) for each in facts]


def _worded(found: Fact) -> str:
    code = BY_NAME[found.code]
    values = {name: _shown(value) for name, value in found.values.items()}
    words = code.words.message.format_map(values)
    wanted = {name for _, name, _, _ in string.Formatter().parse(code.words.help or "") if name}
    if code.words.help and all(found.values.get(name) is not None for name in wanted):
        words += f" ({code.words.help.format_map(values)})"
    return f"{format_path(found.path[len(HERE) :])}: {code.severity}[{code.name}] {words}"


def _shown(value: object) -> object:
    if not isinstance(value, Shown):
        return value
    return f"{type(value.value).__name__} {value.value!r}" if value.as_found else value.value
