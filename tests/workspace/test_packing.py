"""What a check found, packed and unpacked: nothing is lost but texts, and what may not be written
down is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Edit, Fix, Label
from equipage.core.source import Source, Span
from equipage.files.tracing import digest
from equipage.loading.findings import Waiting
from equipage.loading.kind import Offer
from equipage.workspace.loads import Candidate, Checked
from equipage.workspace.packing import (
    Changed,
    Digests,
    Packed,
    PackedFiles,
    PackedSource,
    Packer,
    Unfit,
    Unpacker,
    Whole,
)
from equipage.workspace.report import FileReport, Report

TEXTS = {"/x/a": b"first\nsecond\n", "/x/b": b"other\n", "/x/latin": b"\xff"}
ASKED: list[Any] = [
    *((("content", path), digest(data)) for path, data in TEXTS.items()),
    (("exists", "/x/c"), digest(b"not what it holds")),
]


def source(path: str = "/x/a", **how: Any) -> Source:
    made = Source.of_bytes(path[3:], TEXTS[path], path)
    return msgspec.structs.replace(made, **how)


A, B = source(), source("/x/b", outside=True)


def found(span: Span | None, code: str = "odd", **more: Any) -> Diagnostic:
    return Diagnostic(code, "warning", f"{code} here", "p.q", "/p/q", span, **more)


FIX = Fix("write it", (Edit(Span(A, 1, 2), "new"), Edit(Span(B, 0, 1), "")), safe=False)
LABELS = (Label(Span(B, 2, 4), "first here", "r"), Label(None, "in no text"))
FULL = found(
    Span(A, 6, 8), help="do", fix=FIX, related=LABELS, count=3, file="f", url="https://codes/odd"
)
OTHER = found(Span(B, 0, 2), "other", fix=Fix("m", ()), related=(Label(Span(A, 0, 1), "l"),))
BARE = found(None, "bare", file="a")
FILE = Checked(
    "/x/a",
    "a",
    "skill",
    ok=True,
    diagnostics=(FULL, BARE),
    digest="d",
    reads=("b", "c"),
    real=("dev", (1, 2)),
    key=("k",),
    offer=Offer("skill", "/x/a", ("a",), (5, 7)),
    refers=True,
    guessed=False,
    unsure="why",
    layered=True,
    waiting=(Waiting("odd", OTHER),),
)


def packer(asked: Any = ASKED, digests: Digests | None = None) -> Packer:
    return Packer(asked, digests or Digests())


def unpacker(**how: Any) -> Unpacker:
    def text_of(path: str, known: str) -> bytes | None:
        data = how.get("texts", TEXTS)[path]
        return data if digest(data) == known else None

    return Unpacker(None if how.get("without") else text_of, how.get("digests") or Digests())


def written(packed: Any) -> Any:
    """As it comes from the disk."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(packed), type=type(packed))


def place(span: Span | None) -> Any:
    if span is None:
        return None
    where = span.source
    positions = where.position(span.start), where.position(span.end)
    return where.name, where.filename, where.outside, span.start, span.end, *positions


def told(each: Diagnostic) -> dict[str, Any]:
    """Everything that a finding says, with its places in numbers."""
    fields = msgspec.structs.asdict(each)
    fix = each.fix
    return {
        **fields,
        "span": place(each.span),
        "related": [(place(one.span), one.message, one.path) for one in each.related],
        "fix": fix and (fix.message, fix.safe, [(place(one.span), one.text) for one in fix.edits]),
    }


def told_of(each: Checked | None) -> Any:
    if each is None:
        return None
    return {
        **msgspec.structs.asdict(each),
        "diagnostics": [told(one) for one in each.diagnostics],
        "waiting": [(one.code, told(one.unused)) for one in each.waiting],
    }


@pytest.mark.parametrize("without", [False, True])
def test_files_come_back_as_they_were(without: bool) -> None:
    others = [
        msgspec.structs.replace(FILE, refers=False, guessed=True, layered=False, ok=False),
        None,
        Checked("/x/b", "b", None, ok=False, diagnostics=(OTHER,)),
    ]
    candidates = [Candidate(f"/x/{name}", named=name == "b") for name in "acdb"]
    packed = written(packer().files(candidates, [FILE, *others]))
    assert packed.candidates == tuple(candidates)
    unpacked = unpacker(without=without).files(packed)
    assert [told_of(each) for each in unpacked] == [told_of(each) for each in (FILE, *others)]
    assert unpacked[0] is not None
    hash((unpacked[0].real, unpacked[0].key))
    span = unpacked[0].diagnostics[0].span
    assert span is not None
    text = b"" if without else TEXTS["/x/a"]
    assert (span.source.data, span.source.text) == (text, text.decode())
    # Each file has the sources of its own findings alone.
    assert [each and [one.name for one in each.sources] for each in packed.found] == [
        ["a", "b"],
        ["a", "b"],
        None,
        ["b", "a"],
    ]


def test_what_is_no_file_is_none() -> None:
    candidates = (Candidate("/x/a"), Candidate("/x/b"))
    assert unpacker().files(PackedFiles(candidates, (None, Packed(())))) == [None, None]


@pytest.mark.parametrize("ties", [None, frozenset({"a"})])
def test_a_report_comes_back_as_it_was(ties: Any) -> None:
    files = (FileReport("a", "skill", ok=False), FileReport("b", None, ok=True))
    report = Report(files, (FULL, OTHER, BARE), ("h",), left_out=("l",))
    packed = written(packer().report(report, ties))
    assert packed.whole is not None
    assert packed.whole.ties == ties
    again = unpacker().report(packed)
    assert [told(each) for each in again.diagnostics] == [
        told(each) for each in (FULL, OTHER, BARE)
    ]
    assert (again.files, again.hidden, again.left_out) == (files, ("h",), ("l",))
    assert packed.file is None


def test_findings_about_files_together_come_back() -> None:
    packed = written(packer().together([(2, FULL), (0, BARE)]))
    assert [(number, told(each)) for number, each in unpacker().together(packed)] == [
        (2, told(FULL)),
        (0, told(BARE)),
    ]


def test_a_source_is_packed_once_with_the_places_that_are_asked_for() -> None:
    packed = packer().together([(0, FULL), (1, OTHER)])
    assert packed.sources == (
        PackedSource(
            "a",
            "/x/a",
            False,
            digest(TEXTS["/x/a"]),
            {6: (2, 1), 8: (2, 3), 1: (1, 2), 2: (1, 3), 0: (1, 1)},
        ),
        PackedSource(
            "b", "/x/b", True, digest(TEXTS["/x/b"]), {0: (1, 1), 1: (1, 2), 2: (1, 3), 4: (1, 5)}
        ),
    )


# --- what is not written down ---------------------------------------------------------------------

NO_FILE = Source.of_text("text", "abc")
#: A file whose text is not what its bytes say, as where secrets were blanked out.
BLANKED = source(_text="*****\nsecond\n")
UNREAD = Source.of_bytes("c", b"c", "/x/c")
OLDER = Source.of_bytes("a", b"what it held", "/x/a")
TOKEN = "AKIA" + "Q7ZT2LMX9VBN4KDR"
SPAN = Span(A, 0, 1)
REFUSED = {
    "of a run": (found(SPAN, codes.INTERNAL_ERROR.name), codes.INTERNAL_ERROR.name),
    "a check that was ended": (found(None, codes.CHECK_ENDED.name), codes.CHECK_ENDED.name),
    "no file": (found(Span(NO_FILE, 0, 1)), "text"),
    "a text with blanks": (found(Span(BLANKED, 0, 1)), "a"),
    "not read": (found(Span(UNREAD, 0, 1)), "c"),
    "read before": (found(Span(OLDER, 0, 1)), "a"),
    "a secret": (found(None, fix=Fix("m", (Edit(SPAN, f"key: {TOKEN}"),))), "a"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unfit(name: str) -> None:
    finding, about = REFUSED[name]
    for pack in (
        lambda each: packer().together([(0, each)]),
        lambda each: packer().report(Report((), (each,)), None),
        lambda each: packer().files(
            [Candidate("/x/a")], [msgspec.structs.replace(FILE, waiting=(Waiting("x", each),))]
        ),
    ):
        with pytest.raises(Unfit) as refused:
            pack(finding)
        assert refused.value.args == (about,)


def test_a_source_that_is_known_need_not_have_been_read() -> None:
    """It was packed or unpacked before in this run."""
    digests = Digests()
    packed = packer(digests=digests).together([(0, FULL)])
    assert packer([], digests).together([(0, FULL)]) == packed
    unpacked = unpacker(digests=digests).together(written(packed))
    assert written(packer([], digests).together(unpacked)) == written(packed)
    other = source()
    with pytest.raises(Unfit):
        packer([], digests).together([(0, found(Span(other, 0, 1)))])
    digests.note(other, "=known")
    assert digests.get(other) == "=known"
    assert digests.get(source()) is None
    assert packer([], digests).together([(0, found(Span(other, 0, 1)))]).sources[0].digest == (
        "=known"
    )


def test_a_file_that_is_no_text_has_places_too() -> None:
    latin = Source("latin", TEXTS["/x/latin"], "", "/x/latin")
    packed = packer().together([(0, found(Span(latin, 0, 0)))])
    ((_, again),) = unpacker().together(written(packed))
    assert again.span is not None
    assert (again.span.source.data, again.span.source.text) == (b"\xff", "")


# --- what is unpacked again -----------------------------------------------------------------------


def test_one_file_is_one_source_for_all() -> None:
    packed = [written(packer().together([(0, each)])) for each in (FULL, OTHER)]
    for without in (False, True):
        known = unpacker(without=without)
        first, second = (known.together(each)[0][1] for each in packed)
        assert first.span is not None
        assert second.related[0].span is not None
        assert first.span.source is second.related[0].span.source
        # Without the text, the places of both are known.
        assert [told(first), told(second)] == [told(FULL), told(OTHER)]


def test_a_file_that_holds_something_else_now_is_another_source() -> None:
    now = {**TEXTS, "/x/a": b"\n\n\nchanged"}
    newer = Source.of_bytes("a", now["/x/a"], "/x/a")
    asked: list[Any] = [(("content", path), digest(data)) for path, data in now.items()]
    before = written(packer().together([(0, FULL)]))
    after = written(packer(asked).together([(0, found(Span(newer, 3, 4)))]))
    known = unpacker(without=True)
    (_, old), (_, new) = known.together(before)[0], known.together(after)[0]
    assert place(old.span) == place(FULL.span)
    assert place(new.span) == ("a", "/x/a", False, 3, 4, (4, 1), (4, 2))
    assert old.span is not None
    assert new.span is not None
    assert old.span.source is not new.span.source


def test_a_text_that_changed_meanwhile_is_said() -> None:
    packed = packer().together([(0, FULL)])
    with pytest.raises(Changed) as changed:
        unpacker(texts={**TEXTS, "/x/b": b"changed"}).together(packed)
    assert changed.value.args == ("/x/b",)


def test_sources_are_read_for_findings_that_are_there() -> None:
    packed = packer().together([(0, FULL)])
    left = msgspec.structs.replace(packed, together=packed.together[:0])
    assert unpacker(texts={}).together(left) == []


# --- reports that are amended ---------------------------------------------------------------------


def test_a_source_that_is_packed_again_takes_its_place() -> None:
    packed = packer().report(Report((), (FULL, OTHER)), None)
    now = {"/x/a": b"\nx\nfirst\n", "/x/b": TEXTS["/x/b"], "/x/c": b"c"}
    asked: list[Any] = [(("content", path), digest(data)) for path, data in now.items()]
    sources = [Source.of_bytes(path[3:], data, path) for path, data in now.items()]
    sources[1].outside = True
    new = [found(Span(each, 0, 1), each.name) for each in sources]

    def amend(whole: Whole, findings: Any) -> Whole:
        assert whole is packed.whole
        return msgspec.structs.replace(whole, findings=findings(new))

    amended = packer(asked).amended(packed, amend)
    assert amended is not None
    assert [each.name for each in amended.sources] == ["a", "b", "c"]
    assert [each.digest for each in amended.sources] == [digest(data) for data in now.values()]
    # What is the same keeps the places that others may refer to.
    assert amended.sources[0].places == {0: (1, 1), 1: (2, 1)}
    assert amended.sources[1].places == packed.sources[1].places
    assert [told(each) for each in unpacker(texts=now).report(amended).diagnostics] == [
        told(each) for each in new
    ]


def test_a_report_that_cannot_be_amended() -> None:
    packed = packer().report(Report((), (FULL,)), None)
    assert packer().amended(packed, lambda *_: None) is None


def test_a_source_with_another_name_or_place_is_another() -> None:
    packed = packer().report(Report((), (found(SPAN),)), None)
    others = [source(name="other"), source(outside=True)]

    def amend(whole: Whole, findings: Any) -> Whole:
        new = findings(found(Span(each, 0, 1)) for each in others)
        return msgspec.structs.replace(whole, findings=(*whole.findings, *new))

    amended = packer().amended(packed, amend)
    assert amended is not None
    assert [(each.name, each.outside) for each in amended.sources] == [
        ("a", False),
        ("other", False),
        ("a", True),
    ]
