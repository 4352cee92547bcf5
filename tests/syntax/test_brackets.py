"""How deep brackets nest."""

from __future__ import annotations

import pickle

import pytest

from equipage.core import codes
from equipage.syntax import Irregularity, SyntaxProblem, bracket_depth


@pytest.mark.parametrize(
    ("data", "depth"),
    [
        (b"", 0),
        (b"no brackets", 0),
        (b"[]", 1),
        (b"[1, {}]", 2),
        (b"[][][]", 1),
        (b"]][[", 0),
        (b"{[{", 3),
    ],
)
def test_the_most_that_are_open_at_once(data: bytes, depth: int) -> None:
    assert bracket_depth(data) == depth


def test_a_problem_of_a_text_goes_from_process_to_process() -> None:
    problem = SyntaxProblem([Irregularity(codes.ENV_NAMELESS, (1, 2))])
    again = pickle.loads(pickle.dumps(problem))
    assert [(str(each.code), each.range) for each in again.problems] == [("env-nameless", (1, 2))]
