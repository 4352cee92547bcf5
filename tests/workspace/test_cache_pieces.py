"""The cache piece by piece, without a command: what is kept, when it holds, what is never kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from equipage.core.diagnostics import Diagnostic
from equipage.core.source import Span
from equipage.files import exists, keeping, vouching
from equipage.files.reading import Files, peek
from equipage.files.replaying import Replay
from equipage.files.tracing import Trace, digest, traced
from equipage.loading.kind import Limits, Offer
from equipage.loading.session import Request
from equipage.workspace import cache as module
from equipage.workspace.amending import Judged
from equipage.workspace.cache import Cache, Traced, TracedChecker, cache_of
from equipage.workspace.loads import Candidate, Checked, Walked
from equipage.workspace.packing import Unfit
from equipage.workspace.report import FileReport, Report
from lab import repository, write

FOLDER = keeping.NAME
TEXT = "---\nname: a\ndescription: d\nmodel: [5]\n---\nText.\n"


#: A test for which everything is old enough.
VOUCHED = pytest.mark.parametrize("way", ["vouched"], indirect=True)
#: What has to be closed after a test.
OPENED: list[Cache] = []


@pytest.fixture(autouse=True, params=["asked", "vouched"])
def way(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Whether everything counts as young, so that all is asked again, or as old enough."""
    monkeypatch.setattr(vouching, "MARGIN", 10**15 if request.param == "asked" else -(10**15))
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "installed", lambda: "this")
    yield request.param
    while OPENED:
        OPENED.pop()._kept.close()


def opened(
    env: dict[str, str] | None = None, about: str = "all", kind: str | None = None, **how: Any
) -> Cache:
    options: dict[str, Any] = {"began": time.monotonic_ns(), "digests": True, "texts": True}
    request = Request(env=env or {})
    found = cache_of(os.getcwd(), request, kind, about=about, make=True, **{**options, **how})
    assert found is not None
    OPENED.append(found)
    return found


def candidates(*names: str) -> list[Candidate]:
    return [Candidate(os.path.abspath(name)) for name in names]


class Runs:
    """Checks what it is asked to, and remembers what that was."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, pieces: Sequence[Sequence[Candidate]], checker: Any) -> Iterator[Any]:
        self.asked += [[os.path.basename(each.path) for each in piece] for piece in pieces]
        return (each for piece in pieces for each in checker.check(piece))


def agents(*names: str, text: str = TEXT) -> list[Candidate]:
    paths = [f".claude/agents/{name}.md" for name in names]
    write(".", {path: text.replace("name: a", f"name: {path[-4]}") for path in paths})
    return candidates(*paths)


def checked(cache: Cache, files: Sequence[Candidate]) -> tuple[list[Any], list[str]]:
    runs = Runs()
    found = list(cache.checked(files, runs))
    return found, [name for piece in runs.asked for name in piece]


# --- files ----------------------------------------------------------------------------------------


def test_what_was_found_is_known_to_the_next_run() -> None:
    files = agents("a", "b")
    first = opened()
    fresh, asked = checked(first, files)
    assert asked == ["a.md", "b.md"]
    first.save()
    again = opened()
    found, asked = checked(again, files)
    assert asked == []
    for one, other in zip(fresh, found, strict=True):
        assert (one.path, one.kind, one.ok, one.digest) == (
            other.path,
            other.kind,
            other.ok,
            other.digest,
        )
        assert [str(each) for each in one.diagnostics] == [str(each) for each in other.diagnostics]
        assert one.digest is not None or one.diagnostics
    before = [each.name for each in Path(FOLDER).iterdir()]
    times = {each.name: each.stat().st_ino for each in Path(FOLDER).iterdir()}
    again.save()  # nothing is new
    assert [each.name for each in Path(FOLDER).iterdir()] == before
    assert {each.name: each.stat().st_ino for each in Path(FOLDER).iterdir()} == times


def test_without_saving_nothing_is_known() -> None:
    files = agents("a")
    checked(opened(), files)
    assert checked(opened(), files)[1] == ["a.md"]


def test_only_the_piece_that_changed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 1)  # each file is a piece
    files = agents(*"abcd")
    first = opened()
    checked(first, files)
    first.save()
    write(".", {".claude/agents/b.md": TEXT.replace("name: a", "name: bb")})
    second = opened()
    found, asked = checked(second, files)
    assert asked == ["b.md"]
    assert [Path(each.path).name for each in found] == ["a.md", "b.md", "c.md", "d.md"]
    second.save()
    assert checked(opened(), files)[1] == []


def test_a_file_that_is_not_used_any_more_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 1)
    files = agents("a", "b")
    first = opened()
    checked(first, files)
    first.save()
    second = opened()
    assert checked(second, files[:1])[1] == []
    second.save()
    assert checked(opened(), files[1:])[1] == ["b.md"]


@pytest.mark.parametrize("how", [{"named": True}, {"outside": True}])
def test_how_a_file_was_found_counts(how: dict[str, bool]) -> None:
    files = agents("a")
    first = opened()
    checked(first, files)
    first.save()
    assert checked(opened(), [msgspec.structs.replace(files[0], **how)])[1] == ["a.md"]


def test_time_that_is_up_ends_a_run_and_keeps_no_half_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_PIECE", 10**9)  # one piece of all
    files = agents("a", "b", "c")
    first = opened()

    def two(pieces: Sequence[Sequence[Candidate]], checker: Any) -> Iterator[Any]:
        return iter([each for piece in pieces for each in checker.check(piece)][:2])

    assert len(list(first.checked(files, two))) == 2
    first.save()
    assert checked(opened(), files)[1] == ["a.md", "b.md", "c.md"]


def test_a_result_without_a_trace_is_given_and_not_kept() -> None:
    files = agents("a", "b")
    plain = [Checked(each.path, "x", "claude-agent", ok=True) for each in files]

    def ended(pieces: Sequence[Sequence[Candidate]], checker: Any) -> Iterator[Any]:
        return iter(plain)

    first = opened()
    assert list(first.checked(files, ended)) == plain
    assert not first._is_whole
    first.save()
    assert checked(opened(), files)[1] == ["a.md", "b.md"]


@pytest.mark.parametrize("place", [0, 1])
def test_one_result_without_a_trace_leaves_the_piece_out(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PIECE", 10**9)
    files = agents("a", "b")

    def half(pieces: Sequence[Sequence[Candidate]], checker: Any) -> Iterator[Any]:
        found = [each for piece in pieces for each in checker.check(piece)]
        found[place] = found[place].checked
        return iter(found)

    first = opened()
    assert len(list(first.checked(files, half))) == 2
    first.save()
    assert checked(opened(), files)[1] == ["a.md", "b.md"]


def test_files_of_kinds_of_other_packages_are_always_checked() -> None:
    files = agents("a")

    def other(pieces: Sequence[Sequence[Candidate]], checker: Any) -> Iterator[Any]:
        (found,) = [each for piece in pieces for each in checker.check(piece)]
        return iter([Traced(msgspec.structs.replace(found.checked, kind="of-others"), found.trace)])

    first = opened()
    assert next(first.checked(files, other)).kind == "of-others"
    list(first.checked(files, other))
    first.save()
    assert checked(opened(), files)[1] == ["a.md"]


def test_a_checker_notes_what_it_asked_once_for_all() -> None:
    files = agents("a", "b")
    write(".", {"s.yaml": "server: {name: x, version: '${WANTED}'}\ntools: []\n"})
    checker = TracedChecker(Request(env={"WANTED": "1", "OTHER": "2"}), None, digests=False)
    found = checker.check([*files, *candidates("s.yaml")])
    assert [each.trace is None for each in found] == [False, True, True]
    assert found[0].trace.variables["WANTED"] == "1"
    assert "OTHER" not in found[0].trace.variables
    assert {each.checked.digest for each in found} == {None}
    assert found[0].trace.answers
    alone = TracedChecker(Request(env={}), "server", digests=True).check(candidates("s.yaml"))
    assert alone[0].checked.kind == "server"


def test_what_signatures_vouch_for_is_not_read_again(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = agents("a")
    first = opened()
    checked(first, files)
    first.save()
    read: list[str] = []
    real = Replay._content_now

    def counted(self: Replay, path: str, limit: int) -> Any:
        read.append(os.path.basename(path))
        return real(self, path, limit)

    monkeypatch.setattr(Replay, "_content_now", counted)
    assert checked(opened(), files)[1] == []
    assert ("a.md" in read) is (way == "asked")


def test_the_kind_that_was_asked_for_counts() -> None:
    write(".", {"odd.conf": "server: {name: x, version: '1'}\ntools: []\n"})
    files = [Candidate(os.path.abspath("odd.conf"), named=True)]
    first = opened(kind="server")
    assert checked(first, files)[0][0].kind == "server"
    first.save()
    assert checked(opened(kind="server"), files)[1] == []
    found, asked = checked(opened(kind="blueprint"), files)
    assert (found[0].kind, asked) == ("blueprint", ["odd.conf"])
    direct = TracedChecker(Request(env={}), "blueprint", digests=True).check(files)
    assert direct[0].checked.kind == "blueprint"


@pytest.mark.parametrize("digests", [True, False])
def test_digests_are_made_if_they_are_wanted(digests: bool) -> None:
    files = agents("a", text=TEXT.replace("[5]", "opus"))
    first = opened(digests=digests)
    assert (checked(first, files)[0][0].digest is not None) is digests
    first.save()
    found, asked = checked(opened(digests=digests), files)
    assert ((found[0].digest is not None), asked) == (digests, [])
    found, asked = checked(opened(digests=not digests), files)
    assert ((found[0].digest is None), asked) == (digests, ["a.md"])


@pytest.mark.parametrize("texts", [True, False])
def test_findings_have_the_texts_of_their_files_if_they_are_wanted(texts: bool) -> None:
    files = agents("a")
    first = opened(texts=texts)
    checked(first, files)
    first.save()
    span = checked(opened(texts=texts), files)[0][0].diagnostics[0].span
    assert span.source.position(span.start) == (4, 8)
    assert (span.source.text == TEXT) is texts


def test_a_file_that_changes_after_it_was_looked_at_has_no_old_findings(way: str) -> None:
    """Its text is read again for them, and is another one."""
    files = agents("a")
    first = opened()
    checked(first, files)
    first.save()
    second = opened()
    piece = second._holds(next(iter(second._book.pieces)))
    assert piece is not None
    write(".", {".claude/agents/a.md": "another"})
    assert checked(second, files)[1] == ["a.md"]


def test_programs_are_looked_for_where_the_variables_say(tmp_path: Path) -> None:
    (tmp_path / "run-me").write_text("")
    (tmp_path / "run-me").chmod(0o755)
    assert opened(env={"PATH": str(tmp_path)})._answer(("program", "run-me")) is True
    assert opened(env={"PATH": "/nowhere"})._answer(("program", "run-me")) is False


# --- what a piece rests on ------------------------------------------------------------------------


def servers(version: str = "${WANTED}") -> list[Candidate]:
    text = f"server: {{name: x, version: '{version}'}}\ntools: []\n"
    write(".", {"s.yaml": text})
    return candidates("s.yaml")


@pytest.mark.parametrize("later", [None, "", "y", "x\udcff"])
def test_the_value_of_a_variable_counts(later: str | None) -> None:
    files = servers()
    first = opened(env={"WANTED": "x", "OTHER": "1"})
    checked(first, files)
    first.save()
    assert checked(opened(env={"WANTED": "x", "OTHER": "2"}), files)[1] == []
    env = {} if later is None else {"WANTED": later}
    assert checked(opened(env=env), files)[1] == ["s.yaml"]


def test_a_variable_that_was_missing_counts_when_it_is_set() -> None:
    files = servers()
    first = opened(env={})
    checked(first, files)
    first.save()
    assert checked(opened(env={}), files)[1] == []
    assert checked(opened(env={"WANTED": ""}), files)[1] == ["s.yaml"]


@pytest.mark.parametrize(
    ("name", "value", "is_kept"),
    [("A", "ab", True), ("A", "abc", False), ("HOME", "abc", True), ("PATH", "abc", True)],
)
def test_a_value_that_became_a_part_of_what_was_found(name: str, value: str, is_kept: bool) -> None:
    """It is not written down, unless it is in any text, or a place."""
    first = opened()
    with traced(Trace()) as trace:
        assert trace.watched({name: value})[name] == value
    for found in (f"x{value}y", [{"k": value}]):
        assert (first._piece(trace, found) is not None) is is_kept
    assert first._piece(trace, "nothing of it") is not None


def test_a_value_that_became_a_part_of_a_question_is_not_written_down() -> None:
    first = opened()
    with traced(Trace()) as trace:
        trace.watched({"A": "swordfish"})["A"]
        trace.note(("exists", "/x/swordfish.yaml"), answer=False)
    assert first._piece(trace, "found") is None


def test_what_is_not_text_is_not_kept() -> None:
    first = opened()
    trace = Trace()
    assert first._piece(trace, "a\udcffb") is None
    assert first._piece(trace, object()) is None
    assert first._piece(trace, {"a": 1}) is not None


def test_questions_that_had_two_answers_are_not_kept() -> None:
    first = opened()
    trace = Trace()
    trace.note(("exists", "/x"), answer=True)
    trace.note(("exists", "/x"), answer=False)
    first._keep("k", trace, lambda _: "found")
    assert "k" not in first._new
    assert not first._is_whole


def test_what_cannot_be_written_down_is_not_kept() -> None:
    def unfit(_: object) -> None:
        raise Unfit

    first = opened()
    first._keep("k", Trace(), unfit)
    assert "k" not in first._new
    assert not first._is_whole


@VOUCHED
def test_what_is_too_much_to_be_written_is_not_even_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    piece = first._piece(Trace(), "found")
    assert piece is not None
    monkeypatch.setattr(keeping, "MOST_BYTES", len(piece.found) + len(piece.sure))
    for key in "abc":
        first._keep(key, Trace(), lambda _: "found")
    assert [*first._new] == ["a", "b"]  # as much as may be, and the piece that was too much
    assert not first._is_whole
    first.save()
    assert opened()._book.pieces == {}


def test_a_value_that_is_not_text_is_in_no_text() -> None:
    first, trace = opened(), Trace()
    trace.variables["A"] = "abc\udcff"
    assert first._piece(trace, "nothing of it") is not None


def test_digests_of_variables_need_the_key() -> None:
    first = opened()
    assert first._digest_of(None) is None
    assert first._digest_of("a") == first._kept.digest(b"a")
    assert first._digest_of("\udcff") is not None
    assert first._digest_of("a") != first._digest_of("b")


# --- files together -------------------------------------------------------------------------------


def a_file(name: str = "a", kind: str = "claude-agent") -> Checked:
    return Checked(f"/x/{name}", name, kind, ok=True)


def finding(text: str) -> Diagnostic:
    return Diagnostic("duplicate-name", "warning", text)


class Finds:
    def __init__(self, *found: tuple[int, Diagnostic], asks: Callable[[Request], Any] = id) -> None:
        self.found, self.asks, self.times = list(found), asks, 0

    def __call__(self, request: Request) -> list[tuple[int, Diagnostic]]:
        self.times += 1
        self.asks(request)
        return self.found


OFFERS = [Offer("claude-agent", "/x/a", ("a",))]


def test_what_was_found_about_files_together_is_known() -> None:
    find = Finds((0, finding("one")), (1, finding("two")))
    first = opened()
    files = [a_file("a"), a_file("b")]
    assert first.together(files, OFFERS, find) == find.found
    first.save()
    again = Finds()
    found = opened().together(files, OFFERS, again)
    assert [(number, each.message) for number, each in found] == [(0, "one"), (1, "two")]
    assert again.times == 0
    # Other files, others of the same names, or other offers are another question.
    for others, offers in (
        ([a_file("a")], OFFERS),
        ([a_file("b"), a_file("a")], OFFERS),
        ([a_file("a"), a_file("b", "skill")], OFFERS),
        (files, []),
        (files, [*OFFERS, Offer("skill", "/x/b", ("b",))]),
    ):
        again = Finds()
        assert opened().together(others, offers, again) == []
        assert again.times == 1


def test_what_depends_on_a_variable_is_asked_again_if_it_changes() -> None:
    find = Finds(asks=lambda request: request.env.get("A"))
    first = opened(env={"A": "1"})
    first.together([a_file()], OFFERS, find)
    first.save()
    for value, times in (("1", 0), ("2", 1)):
        again = Finds()
        opened(env={"A": value}).together([a_file()], OFFERS, again)
        assert again.times == times


def test_files_of_other_packages_together_are_always_looked_at() -> None:
    first = opened()
    find = Finds()
    first.together([a_file(), a_file("b", "of-others")], OFFERS, find)
    assert not first._is_whole
    first.save()
    again = Finds()
    opened().together([a_file(), a_file("b", "of-others")], OFFERS, again)
    assert again.times == 1


# --- the walk and the whole -----------------------------------------------------------------------


def a_walk(*names: str) -> Walked:
    return Walked(tuple(candidates(*names)), (), (), (), {})


REPORT = Report((), (), (), left_out=("x",))


def kept_whole(cache: Cache, **how: Any) -> None:
    given: dict[str, Any] = {
        "report": REPORT,
        "ties": frozenset({"t"}),
        "asked": Trace(),
        "walked": a_walk("a"),
        "walk": Trace(),
    }
    cache.keep_whole(**{**given, **how})
    cache.save()


def test_a_walk_is_known_by_what_it_was_about() -> None:
    kept_whole(opened(about="some"), report=None)
    assert opened(about="some").walk() == a_walk("a")
    assert opened(about="others").walk() is None
    assert opened(about="some").report() is None


def test_a_report_is_known_by_what_it_was_about() -> None:
    kept_whole(opened(about="some"))
    assert opened(about="some").report() == REPORT
    assert opened(about="others").report() is None
    assert opened(about="others").amended(lambda _: None, Trace()) is None


def test_a_report_does_not_hold_when_a_piece_does_not() -> None:
    files = agents("a")
    first = opened()
    checked(first, files)
    kept_whole(first)
    assert opened().report() == REPORT
    write(".", {".claude/agents/a.md": "changed"})
    assert opened().report() is None


def test_a_report_rests_on_variables_and_on_answers_outside_the_project() -> None:
    outside = f"{Path.cwd()}.txt"
    asked = asked_about(outside)
    asked.variables["A"] = "1"
    kept_whole(opened({"A": "1"}), asked=asked)
    for env, found in (({"A": "1"}, REPORT), ({"A": "2"}, None), ({}, None), ({"A": "1"}, REPORT)):
        assert opened(env).report() == found
    write(".", {outside: ""})
    assert opened({"A": "1"}).report() is None


def test_pieces_that_have_no_ground_in_common_are_looked_at_one_by_one() -> None:
    files = agents("a")
    first = opened()
    checked(first, files)
    kept_whole(first)
    rewritten(lambda fields: fields.__setitem__(2, None))
    again = opened()
    assert again._in_doubt() == again._book.pieces.keys()
    assert again.report() == REPORT
    write(".", {".claude/agents/a.md": "changed"})
    assert opened().report() is None


def test_a_report_that_nothing_may_be_said_about_is_not_kept() -> None:
    for change in (
        {"report": None},
        {"walked": None},  # a finding is part of the walk
    ):
        kept_whole(opened(), **change)
        assert opened().report() is None
    half = opened()
    half._is_whole = False
    kept_whole(half)
    assert opened().report() is None
    assert opened().walk() == a_walk("a")


def test_a_known_walk_need_not_be_kept_again() -> None:
    kept_whole(opened())
    second = opened()
    assert second.walk() == a_walk("a")
    kept_whole(second, walk=None, walked=None)
    third = opened()
    assert third.walk() == a_walk("a")
    assert third.report() == REPORT
    kept_whole(third, walk=None)
    assert opened().report() == REPORT


def test_a_finding_may_be_in_a_file_that_the_walk_read() -> None:
    """As settings are. In one that nothing has read, it cannot be kept."""
    write(".", {"settings": "wrong"})
    with traced(Trace()) as walk:
        source = Files().read("settings")
    found = Diagnostic("x", "error", "m", span=Span(source, 0, 5))
    report = Report((), (found,))
    kept_whole(opened(), report=report, walk=walk)
    assert shown(opened().report()) == shown(report)
    write(".", {"settings": "other"})
    assert opened().report() is None
    kept_whole(opened(about="other"), report=report)
    assert opened(about="other").report() is None


def test_a_run_uses_what_it_used_before() -> None:
    """A report that is given leaves all pieces as they are."""
    files = agents("a")
    first = opened()
    checked(first, files)
    kept_whole(first)
    second = opened()
    assert second.report() == REPORT
    second.save()
    assert checked(opened(), files)[1] == []
    assert opened().walk() == a_walk("a")


# --- a report that is amended ---------------------------------------------------------------------


@pytest.fixture
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is a piece."""
    monkeypatch.setattr(module, "_PIECE", 1)


def report_of(found: Sequence[Checked]) -> Report:
    rows = tuple(FileReport(each.name, each.kind, each.ok, each.digest) for each in found)
    return Report(rows, tuple(one for each in found for one in each.diagnostics))


def first_run(names: str = "abc", cache: Cache | None = None, **how: Any) -> list[Candidate]:
    """Files that were checked, with a report about them."""
    files, first = agents(*names), cache or opened()
    found, _ = checked(first, files)
    kept_whole(first, **{"report": report_of(found), "ties": frozenset({"another"}), **how})
    return files


class Judge:
    """What the project of the files makes of them: they are as they are."""

    def __init__(self, then: Callable[[], object] = list) -> None:
        self.then = then
        self.changed: list[str] = []

    def __call__(self, changed: Any) -> Judged:
        found = {each.name: each for each in changed}
        self.changed += sorted(found)
        self.then()
        findings = [one for each in found.values() for one in each.diagnostics]
        bad = frozenset(name for name, each in found.items() if not each.ok)
        return Judged(found, findings, bad, bad)


def shown(report: Report | None) -> Any:
    if report is None:
        return None
    return report.files, report.rows(), report.hidden, report.left_out


def edited(name: str, text: str) -> None:
    write(".", {f".claude/agents/{name}.md": text.replace("name: a", f"name: {name}")})


@pytest.mark.usefixtures("single")
@pytest.mark.parametrize(
    "texts",
    [
        {"b": TEXT.replace("[5]", "opus")},
        {"b": TEXT.replace("[5]", "[6]")},
        {"b": TEXT.replace("[5]", "[5]\ncolour: [7]")},
        {"c": TEXT.replace("[5]", "opus"), "a": TEXT.replace("[5]", "[5]\ntools: {}")},
    ],
)
def test_changes_in_single_files_amend_the_report(texts: dict[str, str]) -> None:
    files = first_run()
    for name, text in texts.items():
        edited(name, text)
    second, judge = opened(), Judge()
    assert second.report() is None
    found = second.amended(judge, Trace())
    assert judge.changed == [f".claude/agents/{name}.md" for name in sorted(texts)]
    fresh = TracedChecker(Request(env={}), None, digests=True).check(files)
    expected = shown(report_of([each.checked for each in fresh]))
    assert shown(found) == expected
    second.save()
    # The next run knows all of it, and what it rests on.
    third = opened()
    assert shown(third.report()) == expected
    assert third.walk() == a_walk("a")
    assert checked(third, files)[1] == []
    for name in "abc":
        before = Path(f".claude/agents/{name}.md").read_text()
        edited(name, "changed")
        again = opened()
        assert again.report() is None
        assert checked(again, files)[1] == [f"{name}.md"]
        edited(name, before)


@pytest.mark.usefixtures("single")
def test_a_change_that_says_nothing_new_leaves_the_report_as_it_is() -> None:
    files = first_run("ab")
    edited("b", TEXT.replace("Text.", "Other."))
    second, judge = opened(digests=True), Judge()
    known = shown(opened().amended(Judge(), Trace()))
    assert known is not None
    os.utime(files[0].path, (1, 1))
    assert shown(second.amended(judge, Trace())) == known


@VOUCHED
@pytest.mark.usefixtures("single")
@pytest.mark.parametrize(("count", "is_amended"), [(8, True), (9, False)])
def test_more_changes_than_a_few_are_checked_by_several_processes(
    count: int, is_amended: bool
) -> None:
    names = "abcdefghi"
    first_run(names)
    for name in names[:count]:
        edited(name, TEXT.replace("[5]", "opus"))
    judge = Judge()
    found = opened().amended(judge, Trace())
    assert (found is not None, len(judge.changed)) == (is_amended, count if is_amended else 0)


def asked_about(*paths: str) -> Trace:
    with traced(Trace()) as trace:
        for path in paths:
            exists(os.path.abspath(path))
    return trace


@pytest.mark.usefixtures("single")
@pytest.mark.parametrize("piece", ["walk", "asked"])
def test_only_single_files_are_amended(piece: str) -> None:
    first_run("ab", **{piece: asked_about("x")})
    edited("a", TEXT.replace("[5]", "opus"))
    assert opened().amended(Judge(), Trace()) is not None
    write(".", {"x": ""})
    assert opened().amended(Judge(), Trace()) is None
    assert opened().report() is None


@pytest.mark.usefixtures("single")
def test_a_report_that_holds_is_not_amended() -> None:
    first_run("a")
    judge = Judge()
    assert opened().amended(judge, Trace()) is None
    assert judge.changed == []


@VOUCHED
@pytest.mark.usefixtures("single")
@pytest.mark.parametrize("ties", [None, frozenset({".claude/agents/a.md"})])
def test_what_concerns_other_files_is_not_amended(ties: frozenset[str] | None) -> None:
    first_run("ab", ties=ties)
    edited("a", TEXT.replace("[5]", "opus"))
    assert opened().amended(Judge(), Trace()) is None


@VOUCHED
@pytest.mark.usefixtures("single")
def test_what_a_project_cannot_judge_is_not_amended() -> None:
    files = first_run("ab")
    path = ".claude/agents/a.md"
    edited("a", TEXT.replace("[5]", "opus"))
    unsure = Trace()
    unsure.complete = False
    odd = Judged({"odd": a_file()}, (), frozenset(), frozenset())
    of_a_run = Diagnostic("internal-error", "error", "x", file=path)
    unfit = Judged({path: a_file()}, (of_a_run,), frozenset(), frozenset())
    assert opened().amended(lambda _: None, Trace()) is None
    assert opened().amended(Judge(), unsure) is None
    assert opened().amended(lambda _: odd, Trace()) is None
    assert opened().amended(lambda _: unfit, Trace()) is None
    # Another file is read again for the texts of its findings, and changes at that moment.
    assert opened().amended(Judge(lambda: edited("b", "other")), Trace()) is None
    write(".", {path: "no agent"})
    assert opened().amended(Judge(), Trace()) is None
    os.unlink(files[0].path)
    assert opened().amended(Judge(), Trace()) is None


@VOUCHED
@pytest.mark.usefixtures("single")
@pytest.mark.parametrize("sort", ["files", "whole"])
@pytest.mark.parametrize("found", [None, b"\xc1", msgspec.msgpack.encode([[]])])
def test_pieces_that_cannot_be_read_are_not_amended(sort: str, found: bytes | None) -> None:
    def damaged(fields: list[Any]) -> None:
        for key, piece in fields[3].items():
            if key.startswith(sort):
                parts = msgspec.msgpack.decode(piece)
                parts[4] = found
                fields[3][key] = b"\xc1" if found is None else msgspec.msgpack.encode(parts)

    first_run("a")
    rewritten(damaged)
    edited("a", TEXT.replace("[5]", "opus"))
    judge = Judge()
    assert opened().amended(judge, Trace()) is None
    assert judge.changed == []


@pytest.mark.usefixtures("single")
def test_what_was_checked_again_in_vain_is_not_checked_twice() -> None:
    files = first_run("ab")
    edited("a", TEXT.replace("[5]", "opus"))
    second = opened()
    assert second.amended(lambda _: None, Trace()) is None
    found, asked = checked(second, files)
    assert asked == []
    assert [len(each.diagnostics) for each in found] == [0, 1]


@VOUCHED
def test_the_kind_that_was_asked_for_counts_again() -> None:
    write(".", {"odd.conf": "server: {name: x}\n"})
    files = [Candidate(os.path.abspath("odd.conf"), named=True)]
    first = opened(kind="blueprint")
    kept_whole(first, report=report_of(checked(first, files)[0]), ties=frozenset())
    write(".", {"odd.conf": "server: {name: x}\nmore: 5\n"})
    found = opened(kind="blueprint").amended(Judge(), Trace())
    assert found is not None
    assert [each.kind for each in found.files] == ["blueprint"]


@VOUCHED
@pytest.mark.parametrize("digests", [True, False])
def test_files_are_checked_again_as_they_were_checked_before(digests: bool) -> None:
    text = "server: {name: x, version: '1'}\ntools: []\n"
    write(".", {"odd.conf": text})
    files = [Candidate(os.path.abspath("odd.conf"), named=True)]
    first = opened(kind="server", digests=digests)
    kept_whole(first, report=report_of(checked(first, files)[0]), ties=frozenset())
    write(".", {"odd.conf": text.replace("1", "2") + "x: 5\n"})
    found = opened(kind="server", digests=digests).amended(Judge(), Trace())
    assert found is not None
    assert [each.code for each in found.diagnostics] == ["unknown-field"]
    write(".", {"odd.conf": text.replace("1", "2")})
    found = opened(kind="server", digests=digests).amended(Judge(), Trace())
    assert found is not None
    assert [(each.kind, each.digest is not None) for each in found.files] == [("server", digests)]


@VOUCHED
@pytest.mark.usefixtures("single")
def test_a_file_that_may_not_be_kept_is_not_amended() -> None:
    """Its questions now hold the value of a variable."""
    env = {"SECRET": "swordfish"}
    files = servers("1")
    first = opened(env=env)
    found, _ = checked(first, files)
    kept_whole(first, report=report_of(found), ties=frozenset())
    servers("1${SECRET}")
    assert opened(env=env).amended(Judge(), Trace()) is not None
    write(".", {"s.yaml": "server: {name: x}\ntools: [{$include: '${SECRET}.yaml'}]\n"})
    judge = Judge()
    assert opened(env=env).amended(judge, Trace()) is None
    assert judge.changed == []


@pytest.mark.usefixtures("single")
def test_an_amended_report_rests_on_what_was_asked_before_and_now() -> None:
    here = str(Path.cwd())
    names = ("deep/before", "other/now", "before", "now", f"{here}.before", f"{here}.now")
    write(".", {"deep/x": "", "other/x": ""})
    before, now = asked_about(*names[::2]), asked_about(*names[1::2])
    before.variables["A"] = "1"
    first_run("ab", opened({"A": "1", "B": "2"}), asked=before)
    edited("a", TEXT.replace("[5]", "opus"))
    now.variables["B"] = "2"
    second = opened({"A": "1", "B": "2"})
    assert second.amended(Judge(), now) is not None
    second.save()
    assert opened({"A": "1", "B": "2"}).report() is not None
    assert opened({"A": "2", "B": "2"}).report() is None
    assert opened({"A": "1", "B": "3"}).report() is None
    for name in names:
        write(".", {name: ""})
        assert opened({"A": "1", "B": "2"}).report() is None
        os.unlink(name)
    assert opened({"A": "1", "B": "2"}).report() is not None


@VOUCHED
@pytest.mark.usefixtures("single")
@pytest.mark.parametrize("who", ["before", "now"])
def test_an_amended_report_has_no_value_of_a_variable(who: str) -> None:
    """Neither of one that it asked for before, nor of one that it asks for now."""
    traces, env = {"before": Trace(), "now": Trace()}, {"A": "colour"}
    traces[who].variables |= env
    first_run("ab", opened(env), asked=traces["before"])
    edited("a", TEXT.replace("[5]", "opus"))
    assert opened(env).amended(Judge(), traces["now"]) is not None
    edited("a", TEXT.replace("[5]", "[5]\ncolour: [7]"))
    assert opened(env).amended(Judge(), traces["now"]) is None


@pytest.mark.usefixtures("single")
def test_only_what_rests_on_a_change_is_in_doubt(way: str) -> None:
    write(".", {"deep/x": ""})
    files = first_run("ab")
    keys = {name: key for key in opened()._book.pieces for name in "ab" if _is_about(key, name)}
    doubts = opened()._in_doubt()
    assert doubts == (frozenset() if way == "vouched" else frozenset(keys.values()))
    for round_ in range(2):
        edited("b", TEXT.replace("[5]", f"[{round_}]"))
        if way == "vouched":
            assert opened()._in_doubt() == {keys["b"]}
        second = opened()
        assert second.amended(Judge(), Trace()) is not None
        second.save()
        assert (opened()._in_doubt() == frozenset()) is (way == "vouched")
    # Also with a file more: some pieces are new, and the others are those of before.
    third = opened()
    write(".", {"deep/s.yaml": "server: {name: x}\ntools: []\n"})
    found, asked = checked(third, [*files, *candidates("deep/s.yaml")])
    assert asked == ["s.yaml"]
    kept_whole(third, report=report_of(found))
    assert (opened()._in_doubt() == frozenset()) is (way == "vouched")


def _is_about(key: str, name: str) -> bool:
    (file,) = candidates(f".claude/agents/{name}.md")
    return key == module._key("files", module._written(file))


# --- the book -------------------------------------------------------------------------------------


def book() -> Path:
    (found,) = [each for each in Path(FOLDER).iterdir() if len(each.name) == 32]
    return found


def rewritten(change: Callable[[list[Any]], object]) -> None:
    """The book with a change, signed as if it were ours."""
    with_key = opened()
    name = book().name
    data = with_key._kept.read(name)
    assert data is not None
    fields = msgspec.msgpack.decode(bytes(data))
    change(fields)
    assert with_key._kept.write(name, msgspec.msgpack.encode(fields))


def test_a_book_of_another_form_is_empty() -> None:
    files = agents("a")
    first = opened()
    checked(first, files)
    first.save()
    cache = opened()
    for data in (b"", b"\xc1", b"\x93", b"\x90" * 5, msgspec.msgpack.encode({"a": 1}), b"\xa1\xff"):
        cache._kept.write(cache._name, data)
        assert checked(opened(), files)[1] == ["a.md"]
    assert module._decoded(None).pieces == {}
    assert module._decoded(b"\x91" * 100_000).pieces == {}


def test_pieces_of_another_form_do_not_hold() -> None:
    files = agents("a")

    def damaged(fields: list[Any]) -> None:
        fields[3] = dict.fromkeys(fields[3], b"\xc1")

    first = opened()
    checked(first, files)
    kept_whole(first)
    rewritten(damaged)
    assert opened().report() is None
    assert checked(opened(), files)[1] == ["a.md"]


def test_without_its_era_every_question_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a start of the machine, signatures say nothing; contents do."""
    files = agents("a")
    first = opened()
    checked(first, files)
    kept_whole(first)
    other = vouching.Era("another", 0)
    monkeypatch.setattr(module, "this_era", lambda: other)
    second = opened()
    assert second._is_era is False
    assert second._in_doubt() == second._book.pieces.keys()
    assert second.report() == REPORT
    second.save()
    write(".", {".claude/agents/a.md": "changed"})
    assert opened().report() is None


# --- signatures that are renewed ------------------------------------------------------------------


def read_again(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that a run reads to know that the report holds, which it does."""
    read: list[str] = []
    real = Replay._content_now

    def counted(self: Replay, path: str, limit: int) -> Any:
        if os.path.exists(path):
            read.append(os.path.basename(path))
        return real(self, path, limit)

    with monkeypatch.context() as during:
        during.setattr(Replay, "_content_now", counted)
        assert cache.report() == REPORT
    cache.save()
    return read


def known_report() -> None:
    """A report that rests on files, two of which were only looked at."""
    write(".", {"settings/x": "x", "settings/y": "y"})
    with traced(Trace()) as asked:
        for name in ("x", "y"):
            peek(os.path.abspath(f"settings/{name}"))
    first = opened()
    checked(first, agents("a", "b"))
    kept_whole(first, asked=asked)


@VOUCHED
@pytest.mark.parametrize("name", [".claude/agents/a.md", "settings/x"])
def test_a_file_that_was_touched_is_read_once_more(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_report()
    assert read_again(opened(), monkeypatch) == []
    os.utime(name, (1, 1))
    assert read_again(opened(), monkeypatch) == [os.path.basename(name)]
    assert read_again(opened(), monkeypatch) == []
    write(".", {name: "changed"})
    assert opened().report() is None


@VOUCHED
def test_files_that_were_young_are_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as during:
        during.setattr(vouching, "MARGIN", 10**15)
        known_report()
    assert sorted(read_again(opened(), monkeypatch)) == ["a.md", "b.md", "x", "y"]
    assert read_again(opened(), monkeypatch) == []


@VOUCHED
def test_all_is_asked_again_where_signatures_stop_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    known_report()
    os.utime("settings/x", (1, 1))
    monkeypatch.setattr(vouching, "_EXACT", frozenset())
    for _ in range(2):
        assert read_again(opened(), monkeypatch)
    write(".", {"settings/y": "z"})
    assert opened().report() is None


@VOUCHED
def test_rows_of_another_form_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(fields: list[Any]) -> None:
        for key, piece in fields[3].items():
            parts = msgspec.msgpack.decode(piece)
            fields[3][key] = msgspec.msgpack.encode([*parts[:1], b"x", *parts[2:]])

    known_report()
    read_again(opened(), monkeypatch)
    rewritten(damaged)
    assert opened().report() == REPORT  # nothing has to be asked
    os.utime("settings/x", (1, 1))
    assert opened().report() is None


@VOUCHED
def test_an_era_is_that_of_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a clock could wander for ever, a little from run to run."""
    files = agents("a")
    for moment, is_same in ((0, False), (900, True), (1800, False)):
        now = vouching.Era("boot", moment)
        monkeypatch.setattr(module, "this_era", lambda now=now: now)
        cache = opened(digests=False)
        assert cache._is_era is is_same
        write(".", {files[0].path: TEXT.replace("[5]", f"[{moment}]")})
        checked(cache, files)
        cache.save()


@VOUCHED
@pytest.mark.parametrize("later", [vouching.Era("boot", 9000), None])
def test_signatures_do_not_count_if_the_clock_was_set_meanwhile(
    later: vouching.Era | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    eras = [vouching.Era("boot", 0)] if later else [None]
    monkeypatch.setattr(module, "this_era", lambda: eras[-1])
    first = opened()
    eras.append(later)
    kept_whole(first)
    again = opened()
    assert again._is_era is False
    assert again._book.era is None
    assert again.report() == REPORT


# --- who may use it -------------------------------------------------------------------------------


def test_a_kind_of_another_package_has_none() -> None:
    how: dict[str, Any] = {"about": "", "began": 0, "digests": False, "texts": False, "make": True}
    assert cache_of(os.getcwd(), Request(env={}), "of-others", **how) is None
    assert not Path(FOLDER).exists()
    assert cache_of(os.getcwd(), Request(env={}), None, **{**how, "make": False}) is None
    found = cache_of(os.getcwd(), Request(env={}), "server", **how)
    assert found is not None
    found.close()


def test_a_folder_whose_name_is_not_text_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(odd)
    monkeypatch.chdir(os.fsdecode(odd))
    how: dict[str, Any] = {"about": "", "began": 0, "digests": False, "texts": False, "make": True}
    before = len(os.listdir("/proc/self/fd"))
    assert cache_of(os.getcwd(), Request(env={}), None, **how) is None
    assert len(os.listdir("/proc/self/fd")) == before


def test_everything_that_a_report_depends_on_names_the_book(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = Request(env={"A": "1"})
    described = {module._described(plain, None, digests=False)}
    assert module._described(Request(env={"A": "2"}), None, digests=False) in described
    for request in (
        Request(env={}, roots=("/x",)),
        Request(env={}, isolated=True),
        Request(env={}, errors_only=True),
        Request(env={}, options={"library": "x"}),
        Request(env={}, unasked=frozenset({"x"})),
        Request(env={}, limits=Limits(max_file_bytes=5)),
        Request(env={}, limits=Limits(max_file_bytes=6)),
    ):
        described.add(module._described(request, None, digests=False))
    described.add(module._described(plain, "server", digests=False))
    described.add(module._described(plain, None, digests=True))
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir("sub")
    described.add(module._described(plain, None, digests=False))
    monkeypatch.setattr(module, "installed", lambda: "something else")
    described.add(module._described(plain, None, digests=False))
    monkeypatch.setattr(module, "process_identity", lambda: ("another",))
    described.add(module._described(plain, None, digests=False))
    monkeypatch.setattr(module, "_FORMAT", -1)
    described.add(module._described(plain, None, digests=False))
    assert len(described) == 14
    # But not the order in which it is given.
    ways = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert len({module._described(Request({}, each), None, digests=True) for each in ways}) == 1


def test_when_a_run_began_by_the_clock_that_stamps_files(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = opened()._kept
    monkeypatch.setattr(type(kept), "now", lambda _: 1000)
    monkeypatch.setattr(time, "monotonic_ns", lambda: 70)
    assert module._since(kept, 50) == 980
    monkeypatch.setattr(type(kept), "now", lambda _: None)
    assert module._since(kept, 50) is None


# --- pieces and keys ------------------------------------------------------------------------------


def test_files_are_divided_so_that_a_new_one_changes_few_pieces() -> None:
    files = [Candidate(f"/x/f{number:03}.md") for number in range(300)]
    pieces = [tuple(piece) for piece in module._divided(files)]
    assert [each for piece in pieces for each in piece] == files
    assert 2 < len(files) / len(pieces) < 4
    assert max(map(len, pieces)) <= 9
    assert all(pieces)
    for place in range(0, 300, 7):
        more = [*files[:place], Candidate(f"/x/f{place:03}-new.md"), *files[place:]]
        others = [tuple(piece) for piece in module._divided(more)]
        assert len({*pieces} ^ {*others}) <= 5
    assert list(module._divided([])) == []
    alike = [Candidate("/x/same.md")] * 30
    assert {len(piece) for piece in module._divided(alike)} in ({1}, {9, 3})


def test_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE", 10**9)
    files = [Candidate(f"/x/{number}") for number in range(20)]
    assert [len(piece) for piece in module._divided(files)] == [9, 9, 2]


def test_keys_tell_sorts_and_parts_apart() -> None:
    keys = {
        module._key("files", "a", "b"),
        module._key("files", "b", "a"),
        module._key("files", "ab"),
        module._key("walk", "a", "b"),
        module._key("files", "a\udcff"),
    }
    assert len(keys) == 5
    assert module._key("files", "a") == "files" + digest(b"a")
    assert [module._is_of_files(each) for each in ("files=1", "files", "walk=1", "whole")] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("kind", "ours"), [(None, True), ("server", True), ("of-others", False), ("skill", True)]
)
def test_what_is_ours(kind: str | None, ours: bool) -> None:
    assert module._is_ours(None)
    assert module._is_ours(Checked("a", "a", kind, ok=True)) is ours
