"""`equipage.formats.blueprint.expand`: a value in, a value out."""

from __future__ import annotations

import copy
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage import LoadError, UsageError
from equipage.formats.blueprint import expand, expand_and_report

#: As the original says it.
ESCAPE = "'..' parent-dir escape not allowed"
AGENT = "---\nname: researcher\ndescription: knows where to look\nmodel: sonnet\n---\nYou find sources.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "r.md").write_text(AGENT)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "raw.md").write_bytes(b"\xef\xbb\xbfraw\r\ntext {{ kept }}")
    return tmp_path


@pytest.mark.requirement("BP-04", "BP-14")
def test_an_agent_file_becomes_a_whole_agent(folder: Path) -> None:
    (agent,) = expand({"agents": [{"$agent_md": "agents/r.md"}]}, folder, "operator")["agents"]
    assert agent == {
        "name": "researcher",
        "kind": "operator",
        "spec": None,
        "profile": {
            "system_prompt": "You find sources.\n",
            "model": "sonnet",
            "effort": None,
            "tools": [],
            "description": "knows where to look",
            "extras": None,
            "version_hash": "0d2760b77509ad4dae6bb9dc738098bdf30dd04e7876c2d49bd20a2e0d29f844",
        },
        "meta": None,
    }


@pytest.mark.requirement("BP-05")
def test_siblings_are_laid_over_the_agent(folder: Path) -> None:
    reference = {
        "$agent_md": "agents/r.md",
        "spec": {"operator_ref": "ws-1", "note": {"$file": "prompts/raw.md"}},
    }
    agent = expand(reference, folder)
    assert (agent["name"], agent["profile"]["model"]) == ("researcher", "sonnet")
    assert agent["spec"] == {"operator_ref": "ws-1", "note": "\ufeffraw\r\ntext {{ kept }}"}


@pytest.mark.requirement("BP-05")
def test_a_file_beside_an_agent_file_is_a_field_not_a_reference(folder: Path) -> None:
    agent = expand({"$agent_md": "agents/r.md", "$file": "prompts/raw.md"}, folder)
    assert (agent["name"], agent["$file"]) == ("researcher", "prompts/raw.md")


@pytest.mark.requirement("BP-02", "BP-14")
def test_a_text_file_becomes_its_text_unchanged(folder: Path) -> None:
    assert expand({"$file": "prompts/raw.md"}, folder) == "\ufeffraw\r\ntext {{ kept }}"
    assert expand({"$file": "./prompts/./raw.md"}, str(folder)) == "\ufeffraw\r\ntext {{ kept }}"


def test_warnings_come_beside_the_value(folder: Path) -> None:
    """`expand` returns the value alone, as the original does; a text has no room for more."""
    (folder / "slip.md").write_text("---\nname: a\ndescripton: x\n---\nbody\n")
    value, warnings = expand_and_report({"$agent_md": "slip.md"}, folder)
    assert value == expand({"$agent_md": "slip.md"}, folder)
    assert value["profile"]["extras"] == {"descripton": "x"}
    assert [(each.code, each.severity) for each in warnings] == [("header-slip", "warning")]


@pytest.mark.requirement("BP-06")
@pytest.mark.parametrize(
    ("beside", "default", "kind"),
    [
        pytest.param({}, "lua", "lua", id="the default given"),
        pytest.param(
            {"kind": "subprocess"}, "lua", "subprocess", id="a kind beside the reference wins"
        ),
        pytest.param(
            {"kind": "bogus"}, "lua", "bogus", id="a wrong kind is kept, for the model to refuse"
        ),
    ],
)
def test_which_kind(folder: Path, beside: dict[str, Any], default: Any, kind: str) -> None:
    assert expand({"$agent_md": "agents/r.md", **beside}, folder, default)["kind"] == kind


def test_an_unknown_default_is_the_callers_mistake(folder: Path) -> None:
    with pytest.raises(UsageError, match="no agent kind `robot`"):
        expand({}, folder, "robot")  # type: ignore[arg-type] - that is the point


@pytest.mark.parametrize("key", ["$file", "$agent_md"])
@pytest.mark.parametrize(
    ("reference", "words"),
    [
        pytest.param(
            "/etc/passwd",
            "absolute path not allowed",
            id="absolute",
            marks=pytest.mark.requirement("BP-08"),
        ),
        pytest.param("../x.md", ESCAPE, id="up", marks=pytest.mark.requirement("BP-09")),
        pytest.param("a/../a.md", ESCAPE, id="up inside", marks=pytest.mark.requirement("BP-09")),
        pytest.param("a\0b", "NUL", id="a NUL", marks=pytest.mark.requirement("BP-20")),
        pytest.param("~/x", "not found: ~/x", id="no tilde is expanded"),
        pytest.param(
            "agents", "is a directory", id="a folder", marks=pytest.mark.requirement("BP-10")
        ),
        pytest.param(
            "none.md", "not found: none.md", id="missing", marks=pytest.mark.requirement("BP-10")
        ),
        pytest.param("", "empty", id="empty"),
    ],
)
def test_references_that_are_refused(folder: Path, key: str, reference: str, words: str) -> None:
    with pytest.raises(LoadError) as caught:
        expand({"deep": [1, {key: reference}]}, folder)
    (error,) = caught.value.errors
    assert words in error.message
    assert error.path == f"deep[1].{key}"


@pytest.mark.requirement("BP-20")
def test_a_pipe_is_not_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    with pytest.raises(LoadError, match="file-not-regular"):
        expand({"$file": "pipe.md"}, folder)
    (folder / "null.md").symlink_to("/dev/null")
    with pytest.raises(LoadError, match="reference-escapes"):
        expand({"$agent_md": "null.md"}, folder)


@pytest.mark.requirement("BP-20")
def test_further_folders_are_the_callers(folder: Path) -> None:
    value = {"$agent_md": "r.md"}
    with pytest.raises(LoadError, match="file not found"):
        expand(value, folder)
    assert expand(value, folder, include_roots=[folder / "agents"])["name"] == "researcher"


@pytest.mark.requirement("BP-10", "BP-17")
def test_every_error_is_reported_and_nothing_half_expanded_returned(folder: Path) -> None:
    (folder / "bad.md").write_text("no header")
    with pytest.raises(LoadError) as caught:
        expand(
            [{"$file": "a"}, {"$agent_md": "bad.md"}, {"$file": "prompts/raw.md"}, {"$file": "b"}],
            folder,
        )
    assert sorted(error.code for error in caught.value.errors) == [
        "file-missing",
        "file-missing",
        "frontmatter-missing",
    ]


def test_the_value_given_is_not_changed(folder: Path) -> None:
    value = {"a": [{"$agent_md": "agents/r.md", "spec": {"$file": "prompts/raw.md"}}, {"k": 1}]}
    before = copy.deepcopy(value)
    result = expand(value, folder)
    assert value == before
    assert result["a"][1] is value["a"][1], "what nothing refers to is shared, not copied"


def test_a_value_that_contains_itself_ends_in_a_finding(folder: Path) -> None:
    endless: dict[str, Any] = {}
    endless["a"], endless["b"] = [endless], endless
    with pytest.raises(LoadError, match="nesting-too-deep"):
        expand(endless, folder)


def test_references_nested_in_siblings_as_deep_as_may_be(folder: Path) -> None:
    value: Any = {"$file": "prompts/raw.md"}
    for _ in range(63):
        value = {"$agent_md": "agents/r.md", "spec": [value]}
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(expand(value, folder)))
    thread.start()
    thread.join()
    depth, node = 0, result[0]
    while isinstance(node, dict):
        depth, node = depth + 1, node["spec"][0]
    assert depth == 63


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=20,
)


@pytest.mark.requirement("BP-13")
@given(VALUES)
def test_without_references_nothing_changes(value: Any) -> None:
    assert expand(value, ".") == value


@given(VALUES)
def test_one_reference_changes_its_place_alone(value: Any) -> None:
    here = Path(__file__)
    result = expand({"rest": value, "ref": [{"$file": here.name}]}, here.parent)
    assert result == {"rest": value, "ref": [here.read_text()]}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param({"$file": "\ud800"}, "lone-surrogate", id="a path that no text can be"),
        pytest.param([{"$agent_md": "a/\udfff"}], "lone-surrogate", id="of an agent"),
        pytest.param({"a": [{(1, 2): 3}]}, "non-string-key", id="a key that no text can be"),
        pytest.param(({"$file": "nowhere"},), "file-missing", id="in a tuple"),
    ],
)
def test_no_value_ends_in_another_exception(value: Any, code: str, folder: Path) -> None:
    with pytest.raises(LoadError) as caught:
        expand(value, folder)
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_tuples_count_as_lists(folder: Path) -> None:
    assert expand({"a": ({"$file": "prompts/raw.md"}, (1,))}, folder) == {
        "a": ["\ufeffraw\r\ntext {{ kept }}", [1]]
    }


def test_a_part_of_a_blueprint_takes_anything(folder: Path) -> None:
    assert expand({"flow": {"$files": "x"}}, folder) == {"flow": {"$files": "x"}}
    assert expand({"flow": {"$file": "agents/r.md"}}, folder) == {"flow": AGENT}


@pytest.mark.parametrize("reference", [5, None, True, ["a.md"], {"a": 1}, {"$file": "x"}])
@pytest.mark.parametrize("key", ["agents", "operators", "others"])
def test_an_agent_md_that_is_not_text_is_left_alone(key: str, reference: Any, folder: Path) -> None:
    (folder / "x").write_text("y")
    value = {key: [{"$agent_md": reference, "name": "n"}]}
    expected = "y" if reference == {"$file": "x"} else reference
    assert expand(value, folder) == {key: [{"$agent_md": expected, "name": "n"}]}
