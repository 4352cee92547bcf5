"""Convert and collector say the same (design D4)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipage.core.diagnostics import Fact
from equipage.core.path import HOLE, format_path
from equipage.loading.model import build
from equipage.loading.shape import Shape
from lab import tries


class Circle(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="circle", tag_field="type"
):
    radius: Annotated[int, msgspec.Meta(ge=0, le=10)]


class Square(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="square", tag_field="type"
):
    side: float = 1.0


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1)]
    role: Literal["user", "admin"] = "user"


class Drawing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    author: Person
    shapes: tuple[Circle | Square, ...] = ()
    title: str | None = None
    visible: bool = True
    sizes: dict[str, int] = {}
    note: str | tuple[str, ...] = ""
    code: Annotated[str, msgspec.Meta(pattern="^[A-Z]+$")] | None = None
    free: Any = None


STRICT = Shape()


def said(facts: list[Fact]) -> list[tuple[str, str]]:
    return [(each.code, format_path(each.path)) for each in facts]


@pytest.mark.parametrize(
    ("value", "findings"),
    [
        pytest.param({}, [("missing-field", "")], id="a required field"),
        pytest.param({"author": {}}, [("missing-field", "author")], id="a required field below"),
        pytest.param({"author": 5}, [("wrong-type", "author")], id="no mapping"),
        pytest.param([], [("wrong-type", "")], id="the root is no mapping"),
        pytest.param({"author": {"name": ""}}, [("wrong-length", "author.name")], id="too short"),
        pytest.param(
            {"author": {"name": "x", "role": "amdin"}},
            [("invalid-value", "author.role")],
            id="not allowed",
        ),
        pytest.param(
            {"author": {"name": "x", "role": 5}},
            [("wrong-type", "author.role")],
            id="no word at all",
        ),
        pytest.param(
            {"author": {"name": "x"}, "titel": "y"},
            [("unknown-field", "titel")],
            id="an unknown field",
        ),
        pytest.param(
            {"author": {"name": "x"}, "visible": 1}, [("wrong-type", "visible")], id="1 is not true"
        ),
        pytest.param(
            {"author": {"name": "x"}, "visible": "yes"},
            [("wrong-type", "visible")],
            id="yes is not true",
        ),
        pytest.param(
            {"author": {"name": "x"}, "sizes": {"a": True}},
            [("wrong-type", "sizes.a")],
            id="true is not 1",
        ),
        pytest.param(
            {"author": {"name": "x"}, "sizes": {"a": 1.0}},
            [("wrong-type", "sizes.a")],
            id="1.0 is not 1",
        ),
        pytest.param(
            {"author": {"name": "x"}, "sizes": []},
            [("wrong-type", "sizes")],
            id="a list is no mapping",
        ),
        pytest.param(
            {"author": {"name": "x"}, "shapes": {}},
            [("wrong-type", "shapes")],
            id="a mapping is no list",
        ),
        pytest.param(
            {"author": {"name": "x"}, "note": 5},
            [("wrong-type", "note")],
            id="neither of two types",
        ),
        pytest.param(
            {"author": {"name": "x"}, "note": ["a", 5]},
            [("wrong-type", "note[1]")],
            id="the branch by type",
        ),
        pytest.param(
            {"author": {"name": "x"}, "code": "ab"}, [("pattern-mismatch", "code")], id="a pattern"
        ),
        pytest.param(
            {"author": {"name": "x"}, "shapes": [{"type": "circle", "radius": 99}]},
            [("out-of-range", "shapes[0].radius")],
            id="out of range, in the branch its tag names",
        ),
        pytest.param(
            {"author": {"name": "x"}, "shapes": [{"type": "cirle"}, {"radius": 1}, {"type": 5}, 7]},
            [
                ("invalid-value", "shapes[0].type"),
                ("missing-field", "shapes[1]"),
                ("wrong-type", "shapes[2].type"),
                ("wrong-type", "shapes[3]"),
            ],
            id="bad tags",
        ),
        pytest.param(
            {
                "author": {"name": 5, "x": 1},
                "shapes": [{"type": "square", "side": "a"}],
                "visible": None,
            },
            [
                ("wrong-type", "author.name"),
                ("unknown-field", "author.x"),
                ("wrong-type", "shapes[0].side"),
                ("wrong-type", "visible"),
            ],
            id="all of them at once",
        ),
    ],
)
def test_every_mismatch_is_told(value: Any, findings: list[tuple[str, str]]) -> None:
    config, _, facts = build(value, Drawing, STRICT)
    assert config is None
    assert said(facts) == findings


def test_unknown_fields_may_be_warnings_and_are_dropped() -> None:
    shape = Shape(unknown="warning", closed=(Circle,), exempt=("$",))
    value = {"author": {"name": "x", "nmae": 1}, "$other": 1}
    config, pruned, facts = build(value, Drawing, shape)
    assert config.author.name == "x"
    assert said(facts) == [("unknown-field", "author.nmae")]
    assert "nmae" not in pruned["author"]
    config, _, facts = build(
        {**value, "shapes": [{"type": "circle", "radius": 1, "r": 2}]}, Drawing, shape
    )
    assert config is None
    assert [each.severity for each in facts] == ["error", "warning"] or [
        each.severity for each in facts
    ] == ["warning", "error"]


def test_unknown_fields_may_be_nobodys_business() -> None:
    config, _, facts = build({"author": {"name": "x"}, "y": 1}, Drawing, Shape(unknown=None))
    assert config is not None
    assert not facts


def test_null_may_count_as_absent() -> None:
    value = {"author": {"name": "x"}, "shapes": None, "visible": None, "sizes": None, "title": None}
    config, _, facts = build(value, Drawing, Shape(null_is_absent=True))
    assert (config.shapes, config.visible, config.sizes, config.title) == ((), True, {}, None)
    assert not facts
    _, _, facts = build({"author": None}, Drawing, Shape(null_is_absent=True))
    assert said(facts) == [("missing-field", "author")]


def test_a_hole_silences_what_would_follow() -> None:
    for value in (
        HOLE,
        {"author": HOLE},
        {"author": {"name": HOLE}},
        {"author": {"name": "x"}, "shapes": [HOLE]},
    ):
        config, _, facts = build(value, Drawing, STRICT)
        assert config is None
        assert not facts
    shapes = [{"type": HOLE, "radius": "x"}]
    assert build({"author": {"name": "x"}, "shapes": shapes}, Drawing, STRICT)[2] == []


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.floats(0, 3)
    | st.sampled_from(["", "A", "user", "circle"])
)
WORDS = st.sampled_from(
    [
        "author",
        "name",
        "role",
        "shapes",
        "title",
        "visible",
        "sizes",
        "note",
        "code",
        "free",
        "type",
        "radius",
        "side",
    ]
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)
SHAPES = st.fixed_dictionaries(
    {"type": st.sampled_from(["circle", "square", "other"])},
    optional={"radius": SCALARS, "side": SCALARS, "extra": SCALARS},
)
NEARLY = st.fixed_dictionaries(
    {"author": st.fixed_dictionaries({"name": SCALARS}, optional={"role": SCALARS}) | ANYTHING},
    optional={
        "shapes": st.lists(SHAPES | ANYTHING, max_size=2),
        "title": SCALARS,
        "visible": SCALARS,
        "sizes": st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
        "note": SCALARS | st.lists(SCALARS, max_size=2),
        "code": SCALARS,
        "free": ANYTHING,
        "other": SCALARS,
    },
)


@settings(max_examples=tries(400))
@given(NEARLY | ANYTHING)
def test_the_collector_is_silent_exactly_when_convert_succeeds(value: Any) -> None:
    try:
        msgspec.convert(value, Drawing)
        converts = True
    except msgspec.ValidationError:
        converts = False
    config, _, facts = build(value, Drawing, STRICT)
    assert converts == (config is not None)
    assert converts == (not facts)


@settings(max_examples=tries(300))
@given(NEARLY | ANYTHING)
def test_what_the_collector_prunes_converts(value: Any) -> None:
    config, _, facts = build(value, Drawing, Shape(unknown="warning", null_is_absent=True))
    errors = [each for each in facts if each.severity in (None, "error")]
    assert (config is None) == bool(errors)


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    left: int
    right: Annotated[int, msgspec.Meta(ge=0)]


class Brought(msgspec.Struct, frozen=True):
    made_by_directive: ClassVar[str] = "a thing from `$thing`"

    size: int = 0


class Holder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: str | Brought
    mark: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] = "x"


def test_every_missing_field_is_told() -> None:
    _, _, facts = build({}, Pair, STRICT)
    assert [each.values["field"] for each in facts] == ["left", "right"]


def test_a_number_out_of_range_is_told_with_what_is_expected() -> None:
    _, _, facts = build({"left": 1, "right": -1}, Pair, STRICT)
    assert [each.values["expected"] for each in facts] == ["a whole number of at least 0"]


def test_what_only_a_directive_makes_is_called_by_its_words() -> None:
    config, _, facts = build({"value": Brought()}, Holder, STRICT)
    assert (config, facts) == (Holder(Brought()), [])
    _, _, facts = build({"value": {"a": 1}, "mark": "ab"}, Holder, STRICT)
    assert [each.values["expected"] for each in facts] == [
        "text or a thing from `$thing`",
        "exactly one character",
    ]
