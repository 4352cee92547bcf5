"""What a reader and a cold start pay for is measured by `tools/measure.py`, and bounded here."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

import equipage
from lab import REPOSITORY, module_at

#: The figures that bind always, whatever is added: each with how it compares to its bound.
BOUNDS: dict[str, tuple[Callable[[float, float], bool], float]] = {
    "top_files": (operator.le, 12),
    "layers": (operator.eq, 12),
    "reading_lines": (operator.le, 1_500),
    "kind_fields": (operator.le, 14),
    "comment_lines_per_100": (operator.ge, 4),
    "wide_lines": (operator.eq, 0),
    "load_modules_run": (operator.le, 40),
    "check_modules_imported": (operator.le, 70),
    "root_opens": (operator.eq, 1),
}


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    """The figures of this tree, by name."""
    measure = module_at(REPOSITORY / "tools" / "measure.py")
    package = measure.package_in(REPOSITORY / "src")
    assert package.name == equipage.__name__
    found = (*measure.static_figures(package), *measure.cold_figures(package.name))
    return {each.name: each.value for each in found}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_figure_is_within_its_bound(name: str, figures: dict[str, float]) -> None:
    holds, bound = BOUNDS[name]
    # One decimal is what the goals are given in.
    assert holds(round(figures[name], 1), bound), f"{name} is {figures[name]}"
