"""A loaded blueprint: typed, frozen, the same after writing and loading again, and able to say
where it came from."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import equipage
import lab
from equipage import LoadError, UsageError
from equipage.formats.blueprint import model as flow
from equipage.formats.blueprint.model import Blueprint
from equipage.project.recognise import recognise_content
from equipage.project.registry import format_named
from formats.blueprint.test_probes import PROBES, load
from lab import in_small_thread

EXAMPLES = lab.EXAMPLES / "blueprint"
TEAM = EXAMPLES / "research-team.yaml"
#: A mapping that only looks like a reference could be one when it is loaded again.
LOOKALIKES = ("refs/file_two", "refs/file_nested")
VALID = [
    probe
    for probe in PROBES
    if probe["expect"] == "valid"
    and probe["kind"] == "blueprint"
    and not any(each in probe["id"] for each in LOOKALIKES)
]
PATH = {"op": "path", "at": "$.a"}


def test_the_example_is_clean_and_typed() -> None:
    loaded = equipage.load(TEAM)
    config = loaded.config
    assert loaded.warnings == ()
    assert isinstance(config, Blueprint)
    assert isinstance(config.flow, flow.Seq)
    assert [agent.name for agent in config.agents] == ["researcher", "checker", "writer"]
    assert [agent.kind for agent in config.agents] == ["agent_block", "agent_block", "operator"]
    assert len(loaded.sources) == 5
    assert hash(config) == hash(pickle.loads(pickle.dumps(loaded)).config)


@pytest.mark.requirement("BP-17")
@pytest.mark.parametrize(
    ("path", "place", "text"),
    [
        ("agents[0].name", "agents/researcher.md:2:7", "researcher"),
        ("agents[0].profile.model", "agents/researcher.md:4:8", "sonnet"),
        ("agents[0].profile.tools[1]", "agents/researcher.md:5:8", "Read, WebSearch, WebFetch"),
        ("agents[1].profile.tools[1]", "agents/checker.md:6:15", "WebFetch"),
        ("agents[0].kind", "research-team.yaml:7:21", "agent_block"),
        ("agents[2].kind", "research-team.yaml:49:11", "operator"),
        ("agents[2].spec.operator_ref", "research-team.yaml:50:26", "desk"),
        ("flow.children[0].value.value", "prompts/brief.md:1:1", None),
        ("agents[2].profile.system_prompt", "agents/writer.md:6:1", None),
    ],
)
def test_every_part_knows_where_it_was_written(path: str, place: str, text: str | None) -> None:
    span = equipage.load(TEAM).locate(path)
    assert span is not None
    assert f"{span.source.name}:{span.line}:{span.column}".endswith(f"examples/blueprint/{place}")
    assert text is None or span.text() == text


def test_a_value_tells_its_story() -> None:
    story = str(equipage.load(TEAM).explain("agents[2].profile.model"))
    assert "agents/writer.md:4:8" in story
    assert "brought in by `$agent_md` here at" in story
    assert "research-team.yaml:48:16" in story


@pytest.mark.parametrize("probe", VALID, ids=[probe["id"] for probe in VALID])
def test_writing_and_loading_again_changes_nothing(
    probe: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load(probe, tmp_path, monkeypatch).loaded_or_none()
    assert first is not None
    again = equipage.loads(json.dumps(first.to_dict()), kind="blueprint")
    assert again.to_dict() == first.to_dict()
    assert again.digest == first.digest


def test_the_digest_does_not_depend_on_order_or_defaults() -> None:
    one = equipage.loads("id: a\nflow: {kind: seq, children: []}\nagents: []", kind="blueprint")
    two = equipage.loads('{"flow": {"children": [], "kind": "seq"}, "id": "a"}', kind="blueprint")
    assert one.digest == two.digest


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("id: a\nflow:\n  kind: seq\n", "blueprint", id="YAML"),
        pytest.param('{"id":"a","flow":{"kind":"seq"}}', "blueprint", id="JSON on one line"),
        pytest.param(
            "flow: {kind: seq}\nagents: []\n", "blueprint", id="an id is easily forgotten"
        ),
        pytest.param("id: a\nflow: fast\n", None, id="another flow"),
        pytest.param("id: a\nworkflow: {kind: x}\n", None, id="another word"),
    ],
)
def test_recognition(text: str, kind: str | None, tmp_path: Path) -> None:
    found = recognise_content(text, "yaml")[0]
    assert (None if found is None else found.kind) == kind


def test_no_markdown_file_is_claimed() -> None:
    report = equipage.check([EXAMPLES])
    kinds = {Path(each.path).name: each.kind for each in report.files}
    assert kinds["research-team.yaml"] == "blueprint"
    assert kinds["researcher.md"] is None


@pytest.mark.parametrize("kind", ["blueprint", "agent_md"])
def test_the_first_file_is_a_good_one(kind: str) -> None:
    example = format_named(kind).presentation.example
    assert example is not None
    assert equipage.loads(example, kind=kind).warnings == ()


def test_options_are_checked() -> None:
    with pytest.raises(
        UsageError,
        match="`default_agent_kind`: `robot` is not a valid value, expected one of `agent",
    ):
        equipage.load(TEAM, default_agent_kind="robot")
    with pytest.raises(UsageError, match="did you mean `include_roots`"):
        equipage.load(TEAM, include_root=["x"])


# --- deep flows ----------------------------------------------------------------------------------


def nested(depth: int, inner: Any, around: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        inner = around(inner)
    return inner


def loop(body: Any) -> dict[str, Any]:
    return {"kind": "loop", "counter": PATH, "cond": PATH, "body": body, "max": 1}


def negation(arg: Any) -> dict[str, Any]:
    return {"op": "not", "arg": arg}


DEEP = {
    "nodes": (nested(125, {"kind": "seq", "children": []}, loop), None),
    "nodes, wrong inside": (nested(125, {"kind": "sequence"}, loop), "invalid-value"),
    "expressions": ({"kind": "assign", "at": PATH, "value": nested(124, PATH, negation)}, None),
    "expressions, wrong inside": ({"kind": "assign", "at": PATH, "value": nested(124, {"op": "is"}, negation)}, "invalid-value"),
    "a literal": ({"kind": "assign", "at": PATH, "value": {"op": "lit", "value": nested(124, 1, lambda v: [v])}}, None),
    "too deep": (nested(5000, 1, lambda v: [v]), "nesting-too-deep"),
}  # fmt: skip


def outcome(text: str) -> str | None:
    try:
        equipage.loads(text, kind="blueprint")
    except LoadError as error:
        return error.errors[0].code
    return None


def at_depth(depth: int, run: Callable[[], Any]) -> Any:
    return run() if depth == 0 else at_depth(depth - 1, run)


@pytest.mark.requirement("BP-17")
@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("where", ["here", "below a deep stack", "in a small thread"])
def test_depth_is_bounded_however_deep_the_caller_is(name: str, where: str) -> None:
    value, code = DEEP[name]
    text = '{"id": "a", "flow": ' + dumped(value) + "}"
    if where == "here":
        assert outcome(text) == code
    elif where == "below a deep stack":
        assert at_depth(800, lambda: outcome(text)) == code
    else:
        assert in_small_thread(lambda: outcome(text), stack=256 * 1024) == code


def dumped(value: Any) -> str:
    """JSON of any depth; the standard library gives up early."""
    if isinstance(value, list) and len(value) == 1:
        depth = 0
        while isinstance(value, list):
            depth, value = depth + 1, value[0]
        return "[" * depth + json.dumps(value) + "]" * depth
    return json.dumps(value)
