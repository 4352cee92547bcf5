"""Fixes change what they say and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path as FilePath
from typing import Any

import pytest
import rtoml
from hypothesis import given
from hypothesis import strategies as st

from clock import promised
from equipage.cli.fix import roots_of
from equipage.core.diagnostics import Change, Diagnostic, Edit, Effect, Fix
from equipage.core.path import Path, get, walk
from equipage.core.source import Source, Span
from equipage.files.disk import Disk
from equipage.files.writing import NotWritten, replace_if_unchanged
from equipage.loading.edits import edit_at, edit_of_span
from equipage.syntax.document import Document, Syntax, load_value, parse
from equipage.workspace.fixes import Repair, diff, repair


def finding(fix: Fix | None, code: str = "unknown-field") -> Diagnostic:
    return Diagnostic(code, "warning", "a finding", fix=fix)


def fix_of(
    text: str | Source,
    syntax: Syntax,
    *changes: Change,
    safe: bool = True,
    env: dict[str, str] | None = None,
) -> Fix | None:
    source = Source.of_text("a", text) if isinstance(text, str) else text
    document, _ = parse(source, syntax, env=env)
    assert document is not None
    located = document.locate([change.path for change in changes])
    edits = [edit_at(document, change.path, located[change.path], change) for change in changes]
    known = tuple(edit for edit in edits if edit is not None)
    return Fix("a fix", known, safe) if len(known) == len(edits) else None


def fixed(
    text: str, syntax: Syntax, *changes: Change, env: dict[str, str] | None = None
) -> str | None:
    """The text after one fix; None if there is none or it is refused."""
    fix = fix_of(text, syntax, *changes, env=env)
    repairs, _ = repair([finding(fix)])
    return repairs[0].text if repairs else None


def rename(*path: str | int, to: str) -> Change:
    return Change(path, to, "key")


def replace(*path: str | int, to: str | int | float | bool) -> Change:
    return Change(path, to)


def remove(*path: str | int) -> Change:
    return Change(path, None)


@pytest.mark.parametrize(
    ("syntax", "before", "change", "after"),
    [
        # keys
        pytest.param(
            "yaml", "nmae: x # c\n", rename("nmae", to="name"), "name: x # c\n", id="a plain key"
        ),
        pytest.param(
            "yaml", "'nmae': x\n", rename("nmae", to="name"), "'name': x\n", id="single quotes stay"
        ),
        pytest.param(
            "yaml", '"nmae": x\n', rename("nmae", to="name"), '"name": x\n', id="double quotes stay"
        ),
        pytest.param(
            "yaml",
            "a: 1\n",
            rename("a", to="b: c"),
            '"b: c": 1\n',
            id="a key that needs quotes gets them",
        ),
        pytest.param(
            "yaml", "a: 1\n", rename("a", to="no"), '"no": 1\n', id="a word of YAML 1.1 is quoted"
        ),
        pytest.param(
            "yaml", "a: 1\n", rename("a", to="1.5"), '"1.5": 1\n', id="a number as a key is quoted"
        ),
        pytest.param(
            "yaml",
            "{a: 1, b: 2}\n",
            rename("a", to="c"),
            "{c: 1, b: 2}\n",
            id="a key between brackets",
        ),
        pytest.param(
            "json", '{"a": 1}', rename("a", to='b"c'), '{"b\\"c": 1}', id="a JSON key is escaped"
        ),
        pytest.param(
            "toml", "nmae = 1\n", rename("nmae", to="name"), "name = 1\n", id="a bare TOML key"
        ),
        pytest.param(
            "toml", "[a]\nx = 1\n", rename("a", to="b"), "[b]\nx = 1\n", id="a TOML header"
        ),
        pytest.param(
            "toml",
            "a = 1\n",
            rename("a", to="b c"),
            '"b c" = 1\n',
            id="a TOML key that needs quotes",
        ),
        pytest.param(
            "toml", "p.a = 1\n", rename("p", "a", to="b"), "p.b = 1\n", id="part of a dotted key"
        ),
        # values
        pytest.param(
            "yaml", "a: stido\n", replace("a", to="stdio"), "a: stdio\n", id="a plain value"
        ),
        pytest.param(
            "yaml", "a: 'x'\n", replace("a", to="it's"), "a: 'it''s'\n", id="a quote inside quotes"
        ),
        pytest.param(
            "yaml",
            "a: x\n",
            replace("a", to="true"),
            'a: "true"\n',
            id="text that looks like a bool",
        ),
        pytest.param("yaml", "a: yes\n", replace("a", to=True), "a: true\n", id="a bool"),
        pytest.param(
            "yaml", 'a: "5"\n', replace("a", to=5), "a: 5\n", id="a number loses its quotes"
        ),
        pytest.param("yaml", "a: 5\n", replace("a", to="5"), 'a: "5"\n', id="text gets quotes"),
        pytest.param(
            "yaml",
            "a:\nb: 1\n",
            replace("a", to="x"),
            "a: x\nb: 1\n",
            id="a value where there was none",
        ),
        pytest.param(
            "yaml", "a: !t &b x\n", replace("a", to="z"), "a: !t &b z\n", id="tag and anchor stay"
        ),
        pytest.param(
            "yaml", "a: |\n  x\nb: 1\n", replace("a", to="z"), "a: z\nb: 1\n", id="a block scalar"
        ),
        pytest.param(
            "yaml", "a: x\n", replace("a", to="1\n2"), 'a: "1\\n2"\n', id="a line break is escaped"
        ),
        pytest.param(
            "yaml", "a: x\n", replace("a", to="\x85"), 'a: "\\u0085"\n', id="a control is escaped"
        ),
        pytest.param(
            "yaml", "a: x\n", replace("a", to="- b"), 'a: "- b"\n', id="an indicator is quoted"
        ),
        pytest.param("yaml", "a: [x, y]\n", replace("a", 1, to="z"), "a: [x, z]\n", id="an item"),
        pytest.param(
            "json", '{"a": "x"}', replace("a", to=1.5), '{"a": 1.5}', id="a number in JSON"
        ),
        pytest.param(
            "toml",
            "a = 'x'\n",
            replace("a", to="y"),
            "a = 'y'\n",
            id="a literal TOML string stays one",
        ),
        pytest.param(
            "toml", "a = 'x'\n", replace("a", to="it's"), 'a = "it\'s"\n', id="unless it cannot"
        ),
        pytest.param(
            "toml", 'a = """x"""\n', replace("a", to="y"), 'a = "y"\n', id="a long TOML string"
        ),
        pytest.param("toml", "a = 1\n", replace("a", to=False), "a = false\n", id="a bool in TOML"),
        # entries
        pytest.param(
            "yaml",
            "a: 1\nb: 2 # c\nc: 3\n",
            remove("b"),
            "a: 1\nc: 3\n",
            id="a line with its comment",
        ),
        pytest.param("yaml", "a: 1\nb:\n  - 2\n  - 3\n", remove("b"), "a: 1\n", id="several lines"),
        pytest.param(
            "yaml", "a: 1\nb: 2", remove("b"), "a: 1\n", id="the last line without a break"
        ),
        pytest.param(
            "yaml", "- a: 1\n  b: 2\n", remove(0, "a"), "- b: 2\n", id="the first key behind a dash"
        ),
        pytest.param("yaml", "- a: 1\n  b: 2\n", remove(0, "b"), "- a: 1\n", id="the second"),
        pytest.param("yaml", "- a\n- b\n- c\n", remove(1), "- a\n- c\n", id="an item of a list"),
        pytest.param("yaml", "- &x a\n- b\n", remove(0), "- b\n", id="an item with an anchor"),
        pytest.param(
            "yaml", "- a: 1\n  b: 2\n- c\n", remove(0), "- c\n", id="an item of many lines"
        ),
        pytest.param(
            "yaml",
            "{a: 1, b: 2, c: 3}",
            remove("b"),
            "{a: 1, c: 3}",
            id="the middle of a flow mapping",
        ),
        pytest.param("yaml", "{a: 1, b: 2}", remove("b"), "{a: 1}", id="its end"),
        pytest.param("yaml", "{a: 1}", remove("a"), "{}", id="all of it"),
        pytest.param("yaml", "[a, b]", remove(0), "[b]", id="an item between brackets"),
        pytest.param(
            "json", '{\n "a": 1,\n "b": 2\n}', remove("a"), '{\n "b": 2\n}', id="a line of JSON"
        ),
        pytest.param(
            "json",
            '{\n "a": 1,\n "b": 2\n}',
            remove("b"),
            '{\n "a": 1\n}',
            id="the last line of JSON",
        ),
        pytest.param("json", '{"a": [1, {}]}', remove("a", 1), '{"a": [1]}', id="an item of JSON"),
        pytest.param("toml", "a = 1\nb = 2\n", remove("a"), "b = 2\n", id="a line of TOML"),
        pytest.param(
            "toml", "p.a = 1\np.b = 2\n", remove("p", "a"), "p.b = 2\n", id="a dotted TOML key"
        ),
        pytest.param(
            "toml",
            "a = 1\n[b]\nc = 1\nd = 2\n[e]\n",
            remove("b"),
            "a = 1\n[e]\n",
            id="a TOML table",
        ),
        pytest.param(
            "toml",
            "a = {b = 1, c = 2}\n",
            remove("a", "b"),
            "a = {c = 2}\n",
            id="an inline TOML table",
        ),
        # line ends and marks
        pytest.param(
            "yaml", "a: 1\r\nb: 2\r\nc: 3\r\n", remove("b"), "a: 1\r\nc: 3\r\n", id="CRLF"
        ),
        pytest.param(
            "yaml",
            "\ufeffa: 1\nb: 2\n",
            rename("a", to="c"),
            "\ufeffc: 1\nb: 2\n",
            id="a byte order mark",
        ),
        pytest.param(
            "yaml",
            "🦊: 1\nb: x\n",
            replace("b", to="z"),
            "🦊: 1\nb: z\n",
            id="characters beyond 16 bits",
        ),
    ],
)
def test_one_change(syntax: Syntax, before: str, change: Change, after: str) -> None:
    assert fixed(before, syntax, change) == after


@pytest.mark.parametrize(
    ("syntax", "before", "change"),
    [
        pytest.param(
            "yaml", "a: &x {b: 1}\nc: *x\n", replace("a", "b", to="2"), id="an alias repeats it"
        ),
        pytest.param(
            "yaml",
            "a: &x {b: 1}\nc: *x\n",
            replace("c", "b", to="2"),
            id="it is reached by an alias",
        ),
        pytest.param(
            "yaml", "a: 1\na: 2\n", rename("a", to="b"), id="the first of two equal keys would show"
        ),
        pytest.param("yaml", "a: 1\nb: 2\n", rename("a", to="b"), id="the new key is taken"),
        pytest.param("yaml", "p:\n  a: 1\n", remove("p", "a"), id="the mapping would become null"),
        pytest.param("yaml", "- a: 1\n- b\n", remove(0, "a"), id="the dash would be left alone"),
        pytest.param("yaml", "- - a\n  - b\n", remove(0, 0), id="two dashes on a line"),
        pytest.param(
            "toml", "[a]\nx = 1\n[a.b]\n", rename("a", to="c"), id="another header names it"
        ),
        pytest.param("toml", "p.a = 1\n", remove("p", "a"), id="the table would vanish"),
        pytest.param("json", '{"a": 1, "a": 2}', remove("a"), id="a duplicate would show"),
    ],
)
def test_a_fix_that_would_change_more_is_refused(
    syntax: Syntax, before: str, change: Change
) -> None:
    assert fixed(before, syntax, change) is None


def test_a_value_with_a_variable_is_not_edited() -> None:
    assert fix_of("a: x${V}\n", "yaml", replace("a", to="y"), env={"V": "1"}) is None


def test_a_dollar_stays_a_dollar_where_variables_are_replaced() -> None:
    text = "a: x\nb: [${LIST}, ${MORE:-1}]\n"
    assert fixed(text, "yaml", replace("a", to="${x} $$ $1"), env={"LIST": "1"}) == (
        'a: "$${x} $$$ $1"\nb: [${LIST}, ${MORE:-1}]\n'
    )


def test_a_fix_in_a_header_leaves_the_body() -> None:
    source = Source.of_text("a.md", "---\nnmae: x\n---\nBody: [\n")
    document, _ = parse(source, "yaml", window=(4, 12))
    assert document is not None
    edit = edit_at(
        document,
        ("nmae",),
        document.locate([("nmae",)])["nmae",],
        rename("nmae", to="a longer name"),
    )
    assert edit is not None
    repairs, _ = repair([finding(Fix("f", (edit,)))])
    assert repairs[0].text == "---\na longer name: x\n---\nBody: [\n"


def test_a_verbatim_edit_must_leave_the_value() -> None:
    source = Source.of_text("a", "a: 1 # old\nb: 2\n")
    document, _ = parse(source, "yaml")
    assert document is not None
    comment = edit_of_span(document, Span(source, 4, 10), Change((), None))
    value = edit_of_span(document, Span(source, 3, 4), Change((), "7"))
    assert comment is not None
    assert value is not None
    repairs, refused = repair([finding(Fix("f", (comment,))), finding(Fix("f", (value,)))])
    assert [each.text for each in repairs] == ["a: 1\nb: 2\n"]
    assert [each.reason for each in refused] == ["unproven"]


def test_an_edit_that_does_not_know_its_effect_is_refused() -> None:
    source = Source.of_text("a", "a: 1\n")
    repairs, refused = repair([finding(Fix("f", (Edit(Span(source, 0, 1), "b"),)))])
    assert (repairs, [each.reason for each in refused]) == ((), ["unproven"])


def test_space_before_a_header_can_go() -> None:
    source = Source.of_text("a.md", "\n \n---\nname: x\n---\n")
    document, _ = parse(source, "yaml", window=(7, 15))
    assert document is not None
    space = edit_of_span(document, Span(source, 0, 3), Change((), None))
    across = edit_of_span(document, Span(source, 0, 9), Change((), None))
    assert space is not None
    assert across is not None
    assert repair([finding(Fix("f", (space,)))])[0][0].text == "---\nname: x\n---\n"
    assert repair([finding(Fix("f", (across,)))])[0] == ()


def test_the_text_of_a_whole_file_can_be_replaced() -> None:
    source = Source.of_text("kind.txt", "lau\n")
    document = Document(source, "text", "lau\n")
    edit = edit_at(document, (), document.locate([()])[()], Change((), "lua"))
    assert edit is not None
    assert repair([finding(Fix("f", (edit,)))])[0][0].text == "lua"


def mend(source: Source, start: int, end: int, text: str, value: str) -> Fix:
    effect = Effect("correct", value=value, syntax="yaml", window=(0, len(source.text)))
    return Fix("mend", (Edit(Span(source, start, end), text, effect),))


def test_mends_stand_or_fall_together() -> None:
    source = Source.of_text("a", "a: x: y\nb: *.ts\nc: &x [1]\nd: *x\n")
    value = '{"a": "x: y", "b": "*.ts", "c": [1], "d": [1]}'
    mends = [mend(source, 3, 7, '"x: y"', value), mend(source, 11, 15, '"*.ts"', value)]
    effect = Effect("rename", ("c",), "d", syntax="yaml", window=(0, len(source.text)))
    bad = Fix("bad", (Edit(Span(source, 16, 17), "d", effect),))
    repairs, refused = repair(map(finding, [mends[0], bad, mends[1]]))
    assert [each.text for each in repairs] == ['a: "x: y"\nb: "*.ts"\nc: &x [1]\nd: *x\n']
    assert [each.finding.fix for each in refused] == [bad]
    assert repair([finding(mends[0])])[0] == ()


# --- many fixes ----------------------------------------------------------------------------------


def test_many_fixes_of_one_file_are_applied_together() -> None:
    source = Source.of_text("a", "a: {b: 1, c: x}\nd: [1, 2, 3]\n")
    fixes = [
        fix_of(source, "yaml", change)
        for change in (
            rename("a", to="A"),
            rename("a", "b", to="B"),
            replace("a", "c", to="z"),
            remove("d", 0),
        )
    ] + [fix_of(source, "yaml", remove("d", 2))]
    repairs, refused = repair(map(finding, fixes))
    assert [each.text for each in repairs] == ["A: {B: 1, c: z}\nd: [2]\n"]
    assert (len(repairs[0].fixed), refused) == (5, ())


def test_of_overlapping_fixes_the_first_is_taken() -> None:
    source = Source.of_text("a", "a: {b: 1}\nc: 2\n")
    inner, outer = (
        fix_of(source, "yaml", rename("a", "b", to="B")),
        fix_of(source, "yaml", remove("a")),
    )
    repairs, refused = repair([finding(inner), finding(outer)])
    assert [each.text for each in repairs] == ["c: 2\n"]
    assert [(each.finding.fix, each.reason) for each in refused] == [(inner, "overlaps")]


def test_one_bad_fix_does_not_hold_up_the_others() -> None:
    source = Source.of_text(
        "a", "".join(f"k{number}: &a{number} {{x: 1}}\n" for number in range(9)) + "z: *a4\n"
    )
    fixes = [fix_of(source, "yaml", replace(f"k{number}", "x", to=2)) for number in range(9)]
    repairs, refused = repair(map(finding, fixes))
    assert [each.finding.fix for each in refused] == [fixes[4]]
    assert load_value("yaml", repairs[0].text)["k8"] == {"x": 2}


def test_the_same_fix_of_two_loads_is_one() -> None:
    one, two = (Source.of_bytes("a", b"a: 1\n", path="/p/a") for _ in range(2))
    repairs, refused = repair(
        [finding(fix_of(each, "yaml", rename("a", to="b"))) for each in (one, two)]
    )
    assert [each.text for each in repairs] == ["b: 1\n"]
    assert (len(repairs[0].fixed), refused) == (2, ())


def test_two_states_of_one_file_are_not_mixed() -> None:
    one, two = (
        Source.of_bytes("a", b"a: 1\n", path="/p/a"),
        Source.of_bytes("a", b"a: 11\n", path="/p/a"),
    )
    fixes = [fix_of(one, "yaml", rename("a", to="b")), fix_of(two, "yaml", replace("a", to=2))]
    _, refused = repair(map(finding, fixes))
    assert [each.reason for each in refused] == ["unstable"]


def test_a_fix_over_several_files_is_refused() -> None:
    edits = tuple(
        Edit(Span(Source.of_text(name, "a: 1\n"), 0, 1), "b", Effect("nothing")) for name in "ab"
    )
    repairs, refused = repair([finding(Fix("f", edits))])
    assert (repairs, [each.reason for each in refused]) == ((), ["several-files"])


def test_a_fix_of_several_edits_is_all_or_nothing() -> None:
    source = Source.of_text("a", "a: 1\nb: 2\nc: 3\n")
    both = fix_of(source, "yaml", rename("a", to="A"), rename("b", to="c"))
    repairs, refused = repair([finding(both)])
    assert (repairs, [each.reason for each in refused]) == ((), ["unproven"])


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    fix = fix_of("a: 1\n", "yaml", rename("a", to="b"), safe=False)
    assert repair([finding(fix)]) == ((), ())
    assert repair([finding(fix)], unsafe=True)[0][0].text == "b: 1\n"


def test_a_thousand_fixes_take_no_time() -> None:
    source = Source.of_text("a", "".join(f"key{number}: {{a: 1}}\n" for number in range(2000)))
    document, _ = parse(source, "yaml")
    assert document is not None
    paths = [path for path, _ in walk(document.value) if path]
    located = document.locate(paths)
    edits = [
        edit_at(document, path, located[path], Change(path, f"{path[-1]}_", "key"))
        for path in paths
    ]
    with promised(1):
        repairs, refused = repair(finding(Fix("f", (edit,))) for edit in edits if edit is not None)
    assert (len(repairs[0].fixed), refused) == (4000, ())


# --- laws ----------------------------------------------------------------------------------------

LETTERS = st.characters(
    exclude_categories=("Cc", "Cn", "Co", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"
)
KEYS = st.one_of(
    st.sampled_from(["a", "b", "no", "1", "x y", "k-1", "é", "", "a.b", "#", "🦊"]),
    st.text(LETTERS, max_size=4),
)
SCALARS = st.one_of(KEYS, st.integers(-99, 99), st.booleans())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
ROOTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


def block_yaml(value: Any, indent: int = 0) -> str:
    """Block style as people write it, with comments; empty collections and scalars inline."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        return "".join(
            f"{pad}{json.dumps(key, ensure_ascii=False)}:{_below(child, indent)}"
            for key, child in value.items()
        )
    if isinstance(value, list) and value:
        return "".join(f"{pad}-{_below(child, indent)}" for child in value)
    return f"{pad}{json.dumps(value, ensure_ascii=False)}\n"


def _below(child: Any, indent: int) -> str:
    if isinstance(child, dict | list) and child:
        return f" # comment\n{block_yaml(child, indent + 2)}"
    return f" {json.dumps(child, ensure_ascii=False)} # c\n"


WRITERS = {
    "yaml": block_yaml,
    "yaml flow": lambda value: json.dumps(value, ensure_ascii=False),
    "json": lambda value: json.dumps(value, indent=2),
    "toml": rtoml.dumps,
}


@given(data=st.data(), style=st.sampled_from(sorted(WRITERS)), crlf=st.booleans(), value=ROOTS)
def test_a_fix_changes_what_it_says_and_nothing_else(
    data: Any, style: str, crlf: bool, value: dict[str, Any]
) -> None:
    syntax: Syntax = style.split()[0]  # type: ignore[assignment]
    text = WRITERS[style](value)
    text = text.replace("\n", "\r\n") if crlf else text
    try:
        before = load_value(syntax, text)
    except Exception:
        return  # not every text can be written in every syntax
    paths = [path for path, _ in walk(before) if path]
    path: Path = data.draw(st.sampled_from(paths))
    kind = data.draw(st.sampled_from(["rename", "replace", "remove"]))
    new = data.draw(SCALARS)
    if kind == "rename" and not (isinstance(path[-1], str) and isinstance(new, str)):
        return
    change = Change(path, None if kind == "remove" else new, "key" if kind == "rename" else "value")
    after = fixed(text, syntax, change)
    if after is None:
        return
    assert load_value(syntax, after) == _claimed(before, path, kind, new)
    assert len(after) - len(text) <= len(json.dumps(new)) + 1
    again = fixed(after, syntax, change) if kind == "replace" else None
    assert again is None or again == after, "a fix that is made leaves nothing to do"


def _claimed(before: Any, path: Path, kind: str, new: Any) -> Any:
    copy = json.loads(json.dumps(before))
    parent = get(copy, path[:-1])
    if kind == "replace":
        parent[path[-1]] = new
    elif kind == "rename":
        parent[new] = parent.pop(path[-1])
    else:
        del parent[path[-1]]
    return copy


@given(value=ROOTS, data=st.data())
def test_nearly_every_simple_change_is_possible(value: dict[str, Any], data: Any) -> None:
    """The proof must not be a way to refuse everything."""
    key = data.draw(st.sampled_from(sorted(value)))
    assert fixed(json.dumps(value), "json", Change((key,), "new")) is not None
    assert (
        fixed(block_yaml(value), "yaml", Change((key,), "new", "key")) is not None or "new" in value
    )


# --- the diff ------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "text", ["a: 1\nb: 2\n", "a: 1", "x: 0\r\na: 1\r\n", "\ufeffa: 1\nb: '\u2028'\n"]
)
def test_git_applies_the_diff(tmp_path: FilePath, text: str) -> None:
    source = Source.of_bytes("a.yaml", text.encode())
    repairs, _ = repair([finding(fix_of(source, "yaml", rename("a", to="c")))])
    (tmp_path / "a.yaml").write_bytes(text.encode())
    patch = diff(repairs[0]).encode()
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=tmp_path, check=True
    )
    assert (tmp_path / "a.yaml").read_bytes() == repairs[0].text.encode()


def test_the_diff_is_a_unified_one() -> None:
    each = Repair(Source.of_text("d/a.yaml", "a: 1\nb: 2"), "a: 1\nc: 2", ())
    assert diff(each) == (
        "--- a/d/a.yaml\n+++ b/d/a.yaml\n@@ -1,2 +1,2 @@\n a: 1\n"
        "-b: 2\n\\ No newline at end of file\n+c: 2\n\\ No newline at end of file\n"
    )


# --- disk ----------------------------------------------------------------------------------------


def written(path: FilePath, data: bytes = b"a: 1\r\n") -> Source:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return Source.of_bytes(path.name, data, path=str(path))


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: FilePath) -> None:
    source = written(tmp_path / "a.yaml")
    os.chmod(tmp_path / "a.yaml", 0o640)
    replace_if_unchanged(source, "b: 1\r\n", [str(tmp_path)])
    assert (tmp_path / "a.yaml").read_bytes() == b"b: 1\r\n"
    assert stat.S_IMODE((tmp_path / "a.yaml").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.yaml"]


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = written(tmp_path / "a.yaml")

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(NotWritten, match="No space left"):
        replace_if_unchanged(source, "b: 1\n", [str(tmp_path)])
    assert (tmp_path / "a.yaml").read_bytes() == b"a: 1\r\n"
    assert os.listdir(tmp_path) == ["a.yaml"]


def test_a_file_that_changed_meanwhile_is_left(tmp_path: FilePath) -> None:
    source = written(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("newer: 1\n")
    with pytest.raises(NotWritten, match="changed meanwhile"):
        replace_if_unchanged(source, "b: 1\n", [str(tmp_path)])
    assert (tmp_path / "a.yaml").read_text() == "newer: 1\n"
    assert os.listdir(tmp_path) == ["a.yaml"]


def test_a_link_out_of_the_project_is_not_followed(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = written(tmp_path / "elsewhere" / "a.yaml")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "a.yaml").symlink_to(tmp_path / "elsewhere" / "a.yaml")
    roots = roots_of(["project/a.yaml", "project"], Disk())
    assert roots == (str(tmp_path / "project"),)
    with pytest.raises(NotWritten, match="outside the project"):
        replace_if_unchanged(source, "b: 1\n", roots)


def test_a_link_inside_the_project_is_kept(tmp_path: FilePath) -> None:
    source = written(tmp_path / "real" / "a.yaml")
    (tmp_path / "link.yaml").symlink_to("real/a.yaml")
    replace_if_unchanged(
        Source.of_bytes("link.yaml", source.data, path=str(tmp_path / "link.yaml")),
        "b: 1\n",
        [str(tmp_path)],
    )
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real" / "a.yaml").read_text() == "b: 1\n"


def test_a_text_that_never_was_a_file_is_not_written() -> None:
    with pytest.raises(NotWritten, match="not read from a file"):
        replace_if_unchanged(Source.of_text("<string>", ""), "", ["/"])
