"""A load works from the bottom of a caller's deep stack and from a small thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from equipage.loading.pipeline import run_with_stack_headroom


def at_depth(depth: int, run: Callable[[], Any]) -> Any:
    return run() if depth == 0 else at_depth(depth - 1, run)


def needs(frames: int) -> int:
    return 0 if frames == 0 else 1 + needs(frames - 1)


@pytest.mark.parametrize("depth", [0, 400, 850])
def test_there_is_always_room(depth: int) -> None:
    assert at_depth(depth, lambda: run_with_stack_headroom(lambda: needs(700))) == 700


def test_errors_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        at_depth(800, lambda: run_with_stack_headroom(lambda: 1 // 0))


def test_an_ordinary_caller_stays_in_its_thread() -> None:
    assert sys.getrecursionlimit() >= 1000
    assert run_with_stack_headroom(threading.get_ident) == threading.get_ident()
