"""The baseline: what is known is left out, whatever line it is on; what is stale is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.source import Source, Span
from equipage.record.baseline import apply, build_baseline, read, stale_findings, write


def found(text: str, about: str, *, path: str = "a", code: str = "x", nth: int = 0) -> Diagnostic:
    """A finding about the `nth` place where `about` is written in the text of one file."""
    source = Source("f.yaml", text.encode(), text, filename=str(Path.cwd() / "f.yaml"))
    start = -1
    for _ in range(nth + 1):
        start = text.index(about, start + 1)
    return Diagnostic(code, "warning", "m", path=path, span=Span(source, start, start + len(about)))


def everything(_file: str) -> bool:
    return True


def nothing(_file: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("before", "after", "new", "stale"),
    [
        pytest.param([found("a: b", "a")], [found("# up\n\na: b", "a")], 0, 0, id="lines may move"),
        pytest.param(
            [found("[b]", "b", path="a[0]")],
            [found("[c, b]", "b", path="a[1]")],
            0,
            0,
            id="an entry of a list is found again by its content",
        ),
        pytest.param(
            [found("a: b", "b")], [found("a: c", "c")], 1, 1, id="another value is another finding"
        ),
        pytest.param(
            [found("a: b", "b")],
            [found("a: b", "b", path="c")],
            1,
            1,
            id="a key is not an entry of a list: elsewhere it is new",
        ),
        pytest.param(
            [found("a: b", "b")], [found("a: b", "b", code="y")], 1, 1, id="so is another code"
        ),
        pytest.param(
            [found("b b", "b"), found("b b", "b", nth=1)],
            [found("b b b", "b", nth=n) for n in range(3)],
            1,
            0,
            id="equal findings are counted",
        ),
        pytest.param(
            [],
            [Diagnostic("internal-error", "error", "m", file="f")],
            1,
            0,
            id="a bug is never known",
        ),
        pytest.param(
            [Diagnostic("x", "error", "m", file="f")],
            [Diagnostic("x", "error", "m", file="f")],
            0,
            0,
            id="a finding without a place is known by its file",
        ),
    ],
)
def test_what_is_known(
    before: list[Diagnostic], after: list[Diagnostic], new: int, stale: int
) -> None:
    baseline = build_baseline(before, ".", everything)
    text = write(baseline)
    baseline = read(Source("b.json", text.encode(), text))
    applied = apply(baseline, after, ".", everything)
    assert len(applied.new) == new
    assert len(applied.stale) == stale
    assert applied.known == len(after) - new


def test_entries_of_files_that_were_not_checked_stay() -> None:
    """A check of one file neither calls the others stale nor forgets them."""
    baseline = build_baseline([found("a: b", "b")], ".", everything)
    assert apply(baseline, [], ".", nothing).stale == ()
    assert build_baseline([], ".", nothing, baseline) == baseline
    assert build_baseline([], ".", everything, baseline).findings == ()


def test_a_stale_entry_is_reported_at_its_line() -> None:
    text = write(
        build_baseline([found("a: b", "b"), found("a: b", "a", code="y")], ".", everything)
    )
    source = Source("b.json", text.encode(), text)
    (stale,) = stale_findings(source, read(source), [1])
    assert str(stale) == (
        "b.json:3:2: note[baseline-stale] the baseline records `y` in f.yaml, which is not found "
        "any more (at findings[1])"
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2}', '{"version": 1}', '{"version": 1, "findings": [5]}']
)
def test_what_is_not_a_baseline_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"b\.json is not a baseline"):
        read(Source("b.json", text.encode(), text))
