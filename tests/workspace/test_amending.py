"""What of a report may be amended, what it becomes, and what many pieces of work rest on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from equipage.core.diagnostics import Diagnostic
from equipage.loading.kind import Offer
from equipage.workspace.amending import Judged, amended, is_apart
from equipage.workspace.loads import Checked
from equipage.workspace.packing import Finding, Packed, PackedFile, PackedSource, Whole
from equipage.workspace.pieces import Ground, Piece, grounded, grounded_again, packed, unpacked
from equipage.workspace.report import FileReport

# --- which changes concern no other file ----------------------------------------------------------

OFFER = Offer("skill", "/x/a", ("a",), (5, 7))
FILE = PackedFile(
    "/x/a", "a", "skill", True, (), "1", (), None, None, OFFER, False, False, None, False, ()
)


def finding(
    name: str | None, code: str = "x", place: tuple[int, int, int] | None = None
) -> Finding:
    return Finding(code, "error", "m", "", "", place, None, None, (), 1, name, None)


def apart(old: PackedFile | None, new: PackedFile | None, ties: Any = frozenset({"z"})) -> bool:
    before, after = (None if each is None else Packed((), each) for each in (old, new))
    return is_apart(before, after, Whole((), (), (), (), ties))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"ok": False}, True),
        ({"findings": (finding("a"),)}, True),
        ({"digest": "2"}, True),
        ({"offer": msgspec.structs.replace(OFFER, weight=(5, 8))}, True),
        # Others may depend on these.
        ({"offer": msgspec.structs.replace(OFFER, weight=(6, 7))}, False),
        ({"offer": msgspec.structs.replace(OFFER, weight=(5, 0))}, False),
        ({"offer": msgspec.structs.replace(OFFER, names=("b",))}, False),
        ({"offer": None}, False),
        ({"kind": "claude-agent"}, False),
        ({"reads": ("b",)}, False),
        ({"key": "k"}, False),
        ({"refers": True}, False),
        ({"waiting": (("x", finding("a")),)}, False),
    ],
)
def test_a_change_in_what_is_the_files_own(change: dict[str, Any], expected: bool) -> None:
    new = msgspec.structs.replace(FILE, **change)
    assert apart(FILE, new) is expected
    assert apart(new, FILE) is expected


def test_files_without_an_offer() -> None:
    bare = msgspec.structs.replace(FILE, offer=None)
    assert apart(bare, bare)
    silent = msgspec.structs.replace(FILE, offer=Offer("skill", "/x/a", ("a",)))
    assert apart(silent, silent)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": None},
        {"guessed": True},
        {"layered": True},
        {"waiting": (("x", finding("a")),)},
        {"name": "z"},
    ],
)
def test_files_that_have_a_part_in_others(change: dict[str, Any]) -> None:
    both = msgspec.structs.replace(FILE, **change)
    assert not apart(both, both)


def test_what_is_not_known_is_not_apart() -> None:
    assert not apart(None, FILE)
    assert not apart(FILE, None)
    assert not apart(FILE, FILE, ties=None)
    whole = Whole((), (), (), (), frozenset())
    assert is_apart(Packed((), FILE), Packed((), FILE), whole)
    assert not is_apart(Packed(()), Packed((), FILE), whole)
    assert not is_apart(Packed((), FILE), Packed(()), whole)


# --- the report afterwards ------------------------------------------------------------------------

SOURCES = (PackedSource("b", "/x/b", False, "=1"), PackedSource("c", "/x/c", False, "=1"))
WHOLE = Whole(
    (
        FileReport("a", "skill", True, "1", ("z",)),
        FileReport("b", "skill", False, "2"),
        FileReport("c", "skill", True, "3"),
    ),
    (
        finding(None, "first"),
        finding("a", "old"),
        finding(None, "b1", (0, 1, 2)),
        finding(None, "b2", (0, 3, 4)),
        finding(None, "c1", (1, 1, 2)),
    ),
    ("b", "hidden"),
    ("left out",),
    frozenset({"t"}),
)


def after(
    found: dict[str, list[str]],
    *,
    ok: bool = True,
    failed: tuple[str, ...] = (),
    reported: tuple[str, ...] = (),
    whole: Whole = WHOLE,
) -> Whole | None:
    """The report after some files were checked again, with these codes found in them."""
    files = {each: Checked(f"/x/{each}", each, "skill", ok=ok, digest="new") for each in found}
    findings = [
        Diagnostic(code, "error", "m", file=name) for name, codes in found.items() for code in codes
    ]
    judged = Judged(files, findings, frozenset(failed), frozenset(reported))
    return amended(
        whole, SOURCES, judged, lambda new: tuple(finding(each.file, each.code) for each in new)
    )


def codes_of(whole: Whole | None) -> list[str]:
    assert whole is not None
    return [each.code for each in whole.findings]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": []}, ["first", "b1", "b2", "c1"]),
        ({"a": ["n1", "n2"]}, ["first", "n1", "n2", "b1", "b2", "c1"]),
        ({"b": ["n"]}, ["first", "old", "n", "c1"]),
        ({"c": []}, ["first", "old", "b1", "b2"]),
        ({"a": ["n1", "n2"], "b": [], "c": ["n3"]}, ["first", "n1", "n2", "n3"]),
        ({"a": [], "c": ["n1", "n2"]}, ["first", "b1", "b2", "n1", "n2"]),
    ],
)
def test_findings_are_replaced_where_they_were(
    found: dict[str, list[str]], expected: list[str]
) -> None:
    assert codes_of(after(found)) == expected


@pytest.mark.parametrize(("name", "place"), [("A", 1), ("aa", 2), ("z", 5)])
def test_findings_of_a_file_that_had_none_go_between_those_of_others(name: str, place: int) -> None:
    """Those that are about no file come first."""
    whole = msgspec.structs.replace(WHOLE, files=(*WHOLE.files, FileReport(name, "skill", ok=True)))
    codes = codes_of(WHOLE)
    assert codes_of(after({name: ["n"]}, whole=whole)) == [*codes[:place], "n", *codes[place:]]


def test_rows_of_files_say_what_is_so_now() -> None:
    new = after({"a": [], "b": []})
    assert new is not None
    assert new.files == (
        FileReport("a", "skill", True, "new", ("z",)),
        FileReport("b", "skill", True, "new"),
        WHOLE.files[2],
    )
    assert (new.left_out, new.ties) == (WHOLE.left_out, WHOLE.ties)
    for how in ({"ok": False}, {"failed": ("a",)}, {"reported": ("a",)}):
        bad = after({"a": []}, **how)  # type: ignore[arg-type]
        assert bad is not None
        assert [each.ok for each in bad.files] == [False, False, True]


def test_files_with_errors_that_are_not_reported_are_hidden() -> None:
    def hidden(**how: Any) -> tuple[str, ...]:
        new = after(**how)
        assert new is not None
        return new.hidden

    assert hidden(found={"a": []}) == ("b", "hidden")
    assert hidden(found={"b": []}) == ("hidden",)
    assert hidden(found={"a": []}, failed=("a",)) == ("a", "b", "hidden")
    assert hidden(found={"a": []}, failed=("a",), reported=("a",)) == ("b", "hidden")


def test_a_file_that_is_not_in_the_report_once() -> None:
    assert after({"no": []}) is None
    assert after({"a": [], "no": []}) is None
    twice = msgspec.structs.replace(WHOLE, files=(*WHOLE.files, WHOLE.files[0]))
    assert after({"a": []}, whole=twice) is None
    assert after({"b": []}, whole=twice) is not None


# --- the ground -----------------------------------------------------------------------------------

ONE, TWO = (1,) * 6, (2,) * 6


def piece(vouched: Any, rest: Any = (), variables: Any = ()) -> Piece:
    return Piece(dict(vouched), packed(()), tuple(rest), tuple(variables), b"")


ROW = (("exists", "/x"), True)
PIECES = [
    piece({"/a": ONE, "/b": ONE}, [ROW], [("A", b"1")]),
    piece({"/a": ONE, "/c": None}, [(("exists", "/y"), False)], [("B", None)]),
    piece({"/b": TWO}, [ROW], [("A", b"1")]),
]


def told(ground: Ground | None) -> Any:
    if ground is None:
        return None
    return ground.vouched, ground.by_path(), {*ground.rest}, {*ground.variables}


def test_a_ground_says_once_what_pieces_rest_on() -> None:
    ground = grounded(PIECES)
    assert told(ground) == (
        {"/a": ONE, "/b": None, "/c": None},
        {"/a": [0, 1], "/b": [0, 2], "/c": [1]},
        {ROW, (("exists", "/y"), False)},
        {("A", b"1"), ("B", None)},
    )
    assert ground is not None
    assert ground.owning(["/a", "/c"]) == {0, 1}
    assert ground.owning(["/b"]) == {0, 2}
    assert ground.owning([]) == set()


@pytest.mark.parametrize(
    "other",
    [
        None,
        piece({}, [(("exists", "/x"), False)]),
        piece({}, [], [("A", b"2")]),
        piece({}, [], [("A", None)]),
    ],
)
def test_pieces_that_cannot_all_hold_have_no_ground(other: Piece | None) -> None:
    assert grounded([*PIECES, other]) is None
    assert grounded([other, *PIECES]) is None


@pytest.mark.parametrize(
    ("number", "new"),
    [
        (0, piece({"/a": TWO, "/b": TWO}, [ROW], [("A", b"1")])),
        (0, piece({"/d": ONE}, [ROW, (("exists", "/z"), True)], [("A", b"1"), ("C", b"3")])),
        (1, piece({"/a": ONE}, [(("exists", "/y"), False)], [("B", None)])),
        (1, piece({}, [(("exists", "/y"), False)], [("B", None)])),
        (2, piece({"/b": ONE}, [ROW], [("A", b"1")])),
    ],
)
def test_a_ground_after_a_piece_was_replaced(number: int, new: Piece) -> None:
    before = grounded(PIECES)
    assert before is not None
    now = grounded_again(before, {number: PIECES[number]}, {number: new})
    expected = [new if each == number else piece for each, piece in enumerate(PIECES)]
    vouched, owners, rest, variables = told(grounded(expected))
    assert now is not None
    # Where pieces once differed, no signature counts until the ground is made anew.
    assert {path: each and vouched[path] for path, each in now.vouched.items()} == now.vouched
    assert {path: {*each} for path, each in now.by_path().items()} == {
        path: {*each} for path, each in owners.items()
    }
    assert ({*now.rest}, {*now.variables}) == (rest, variables)


def test_a_ground_that_would_lose_a_row_is_made_anew() -> None:
    def again(old: Piece | None, new: Piece) -> Ground | None:
        ground = grounded(PIECES)
        assert ground is not None
        return grounded_again(ground, {0: old}, {0: new})

    assert again(None, PIECES[0]) is None
    assert again(PIECES[0], piece({}, [], [("A", b"1")])) is None
    assert again(PIECES[0], piece({}, [ROW], [])) is None
    assert again(PIECES[0], piece({}, [(ROW[0], False)], [("A", b"1")])) is None
    assert again(PIECES[0], PIECES[0]) is not None


def test_rows_are_packed_and_may_be_anything_else() -> None:
    rows = [ROW, (("real path", "/a"), "/b"), (("peek", "/a", "1"), None)]
    assert unpacked(packed(rows)) == tuple(rows)
    assert len(packed(rows * 100)) < 500
    for written in (b"", b"x", packed(rows)[:-3], packed([5])):  # type: ignore[list-item]
        assert unpacked(written) is None
