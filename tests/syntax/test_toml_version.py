"""What TOML 1.1 allows and 1.0 does not is noticed: before 3.15, Python itself reads TOML 1.0 only."""

from __future__ import annotations

import random
import tomllib

import pytest

from equipage.core import codes
from equipage.syntax import SyntaxProblem, toml

# fmt: off
PIECES = (
    "{", "}", "[", "]", ",", "\n", " ", "a = ", "b=", '"\\e"', '"\\x41"', "'\\e'", "1", '"}"', "# ,\n",
    '"""x\n, }"""', "{ a = 1 }", "{a=1,}", "[1,\n2,\n]", "\n[t]\n", "\n[[u]]\n", '"\\\\e"',
)
# fmt: on


def is_old(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@pytest.mark.skipif(is_old("a = {b = 1,}"), reason="this Python reads TOML 1.1, and cannot judge")
def test_what_is_too_new() -> None:
    chosen = random.Random(18)
    seen = {True: 0, False: 0}
    for _ in range(40_000):
        text = "a = " + "".join(chosen.choices(PIECES, k=chosen.randrange(1, 9)))
        try:
            found = toml.load(text).irregularities
        except SyntaxProblem:
            continue
        too_new = any(each.code == codes.TOML_TOO_NEW for each in found)
        assert too_new is not is_old(text), text
        seen[too_new] += 1
    assert min(seen.values()) > 50
