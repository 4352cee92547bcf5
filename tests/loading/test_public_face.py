"""What programs call: models in place of kinds, limits as arguments, packs beside their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage import Limits, LoadError, ToolpackLoader, ToolpackValidationError, UsageError, models
from equipage.blueprints import expand_and_report, pre_read_default_agent_kind
from equipage.loading.result import Loaded
from lab import repository, write

SERVER = "server: {name: a}\ntools:\n" + "".join(
    f"  - tool: {{name: t{n}, description: d, inputSchema: {{type: object}}}}\n"
    "    response: {content: [{type: text, text: x}]}\n"
    for n in range(3)
)
PACK = """\
id: a.b
version: 1.0.0
name: A pack
description: Does it
metadata: {team: x}
deterministic: true
timeoutMs: 1
limits: {maxInputBytes: 1, maxOutputBytes: 1}
inputSchema: {type: object}
outputSchema: {type: object}
execution: {kind: python, module: "a:b"}
"""


@pytest.mark.requirement("F-008")
def test_a_report_and_an_error_offer_errors_and_warnings_apart() -> None:
    text = "server: {name: 5}\nunknown_methods: nope\nfoo: 1\nlogging: {level: loud, bar: 1}\n"
    with pytest.raises(LoadError) as raised:
        equipage.loads(text, kind="server", env={})
    report = equipage.check_files({"s.yaml": text}, kind="server")
    for found in (raised.value, report):
        assert [each.code for each in found.warnings] == ["unknown-field", "unknown-field"]
        assert {each.severity for each in found.errors} == {"error"}
        assert len(found.diagnostics) == len(found.errors) + len(found.warnings)


def test_equal_loads_give_equal_findings() -> None:
    files = {"s.yaml": "server: {name: 5}\ntools: [{$include: x.yaml}]\n", "library/x.yaml": "a: 1"}
    first, second = (equipage.check_files(files, kind="server") for _ in range(2))
    assert first.diagnostics == second.diagnostics
    assert len(set(first.diagnostics + second.diagnostics)) == len(first.diagnostics)


def test_a_model_says_of_which_kind_a_file_is() -> None:
    config = equipage.loads(SERVER, models.ServerConfig, embedded=True).config
    assert isinstance(config, models.ServerConfig)
    with pytest.raises(UsageError, match="both say what to load"):
        equipage.loads(SERVER, models.ServerConfig, kind="server")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="`int` cannot be a model"):
        equipage.loads(SERVER, int)
    with pytest.raises(UsageError, match="the name of a kind"):
        equipage.loads(SERVER)  # type: ignore[call-overload]
    text = "---\nname: a\ndescription: b\n---\nc"
    with pytest.raises(UsageError, match="gives a AgentSkillsSkill, not a Skill"):
        equipage.loads(text, models.Skill, embedded=True)


@pytest.mark.requirement("F-007b")
def test_limits_of_the_caller_replace_those_of_the_environment() -> None:
    variables = {"THOUGHTJACK_MAX_TOOLS": "1"}
    with pytest.raises(LoadError):
        equipage.loads(SERVER, kind="server", env=variables)
    limits = models.ServerLimits(max_tools=3)
    assert equipage.loads(SERVER, kind="server", env=variables, limits=limits).warnings == ()
    with pytest.raises(LoadError, match="2"):
        equipage.loads(SERVER, kind="server", limits=models.ServerLimits(max_tools=2))
    with pytest.raises(LoadError, match="file-too-large"):
        equipage.loads(SERVER, kind="server", env={}, limits=Limits(max_file_bytes=10))
    with pytest.raises(UsageError, match="`limits`: expected"):
        equipage.loads(SERVER, kind="server", limits={})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_file_bytes=-1), "`limits.max_file_bytes`: expected 0 or more, found -1"),
        (Limits(max_file_bytes="1"), "`limits.max_file_bytes`: expected a whole number, found str"),  # type: ignore[arg-type]
        (
            models.ServerLimits(generators=models.GeneratorLimits(max_nest_depth=None)),  # type: ignore[arg-type]
            "`limits.generators.max_nest_depth`: expected a whole number, found None",
        ),
    ],
)
def test_a_limit_is_a_number(limits: Limits, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        equipage.loads(SERVER, kind="server", limits=limits)
    assert str(caught.value) == words


@pytest.mark.requirement("F-004a", "F-007b")
def test_a_payload_is_made_when_it_is_asked_for() -> None:
    text = SERVER.replace("text: x", "text: {$generate: {type: nested_json, depth: 3}}", 1)
    config = equipage.loads(text, kind="server", embedded=True).config
    payload = config.baseline.tools[0].response.content[0].text
    assert isinstance(payload, models.Generated)
    whole = payload.read()
    assert whole == b'{"a":{"a":{"a":null}}}'
    assert payload.estimated_size >= len(whole)
    assert [len(each) for each in payload.stream(chunk=10)] == [10, 10, 2]
    assert b"".join(payload.stream(chunk=1)) == b"".join(payload.stream()) == whole
    assert payload.read(limit=len(whole)) == whole
    with pytest.raises(ValueError, match="too large: 22B"):
        payload.read(limit=21)
    with pytest.raises(ValueError, match="at least one byte"):
        list(payload.stream(chunk=0))
    limits = models.ServerLimits(generators=models.GeneratorLimits(max_nest_depth=2))
    with pytest.raises(LoadError, match="over the limit of 2"):
        equipage.loads(text, kind="server", embedded=True, limits=limits)


def test_an_unknown_path_is_an_error_for_locate_as_for_explain() -> None:
    loaded = equipage.loads(SERVER, kind="server", embedded=True)
    assert loaded.locate("unknown_methods") is None  # a default
    for ask in (loaded.locate, loaded.explain):
        with pytest.raises(UsageError, match=r"did you mean `server\.name`"):
            ask("server.nam")
        # What the author wrote is `tools`, wherever the kind moved it.
        with pytest.raises(UsageError, match=r"at `tools\[0\]\.tool\.nme`; did you mean `tools\["):
            ask("tools[0].tool.nme")
        with pytest.raises(UsageError, match="cannot read the path `tools"):
            ask("tools[0")


def test_a_result_shows_what_users_need() -> None:
    shown = {name for name in dir(Loaded) if not name.startswith("_")}
    shown |= {name for name in Loaded.__annotations__ if not name.startswith("_")}
    asked = {"digest", "explain", "locate", "lock", "to_dict", "value", "variables"}
    assert shown == {"config", "kind", "sources", "warnings", *asked}


def test_packs_keep_what_people_read(tmp_path: Path) -> None:
    write(tmp_path, {"t/a.tool.yaml": PACK, "t/b.tool.yaml": PACK.replace("a.b", "5")})
    pack = equipage.load(tmp_path / "t/a.tool.yaml", kind="toolpack").config
    assert (pack.name, pack.title, pack.description) == ("A pack", "A pack", "Does it")
    assert (pack.metadata, pack.folder) == ({"team": "x"}, tmp_path / "t")
    plain = equipage.loads(PACK.replace("name: A pack\n", ""), kind="toolpack").config
    assert (plain.title, plain == pack) == ("a.b", True)


def test_good_packs_are_found_beside_the_errors_of_bad_ones(tmp_path: Path) -> None:
    write(tmp_path, {"a.tool.yaml": PACK, "b.tool.yaml": PACK.replace("id: a.b", "id: 5")})
    loader = ToolpackLoader()
    found = loader.find(tmp_path)
    assert [pack.id for pack in found.packs] == ["a.b"]
    assert [each.code for each in found.errors] == ["wrong-type"]
    with pytest.raises(ToolpackValidationError):
        loader.load_dir(tmp_path)
    assert (len(loader), list(loader), "a.b" in loader) == (0, [], False)
    (tmp_path / "b.tool.yaml").write_text(PACK)
    assert loader.find(tmp_path).packs == ()  # two claim one id
    (tmp_path / "b.tool.yaml").unlink()
    loader.load_dir(tmp_path)
    assert (repr(loader), loader.get("a.b") in loader.list()) == ("ToolpackLoader(a.b)", True)
    with pytest.raises(KeyError, match=r"did you mean 'a\.b'"):
        loader.get("a.c")


def test_strict_and_wrong_options_of_a_toolpack_loader(tmp_path: Path) -> None:
    write(tmp_path, {"a.tool.yaml": PACK + "unknown: 1\n"})
    ToolpackLoader().load_dir(tmp_path)
    with pytest.raises(ToolpackValidationError, match=r"warning\[unknown-field\] `unknown`"):
        ToolpackLoader(strict=True).load_dir(tmp_path)
    with pytest.raises(LoadError, match=r"warning\[unknown-field\] `unknown`"):
        equipage.load(tmp_path / "a.tool.yaml", strict=True)
    with pytest.raises(UsageError, match="legacy_keys"):
        ToolpackLoader(legacy_keys="allow")  # type: ignore[arg-type]


def test_skills_know_where_they_are(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: b\n---\nc"
    repository(tmp_path, {".defect/skills/a/SKILL.md": text})
    skills = equipage.discover_skills(tmp_path, local=True)
    assert isinstance(skills["a"], models.Skill)
    assert skills["a"].file == (tmp_path / ".defect/skills/a/SKILL.md").resolve()
    assert skills["a"].layer == "project"
    with pytest.raises(KeyError, match="known: a"):
        skills.loaded("b")
    with pytest.raises(AttributeError):
        skills.warnings = ()  # type: ignore[misc]


def test_expanding_tells_its_warnings(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "---\nname: a\nname: a\n---\nYou work.\n"})
    value, warnings = expand_and_report({"agents": [{"$agent_md": "a.md"}]}, tmp_path)
    assert value["agents"][0]["name"] == "a"
    assert [each.code for each in warnings] == ["duplicate-key"]
    assert equipage.expand({"agents": [{"$agent_md": "a.md"}]}, tmp_path) == value


@pytest.mark.requirement("BP-26")
@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        "lua",
        {"default_agent_kind": 5},
        {"default_agent_kind": "robot"},
        {"default_agent_kind": []},
    ],
)
def test_the_default_kind_of_agents_is_operator(value: object) -> None:
    assert pre_read_default_agent_kind(value) == "operator"
    assert pre_read_default_agent_kind({"default_agent_kind": "lua"}) == "lua"


@pytest.mark.requirement("PR-22")
def test_a_profile_has_every_value_that_its_seed_names(tmp_path: Path) -> None:
    plain = "+++\ndescription = 'Reads'\n+++\n\nYou read.\n"
    full = """\
+++
description = "Writes"
model = "large"
inherit_project_prompt = true
request_limit = 5
request_limit_mode = "fixed"
[tools]
allow = []
[sampling]
temperature = 0.5
[[hooks.before_turn_end]]
handler = { type = "prompt", system = "s", render = { type = "json" } }
+++
You write.
"""
    repository(tmp_path, {".defect/agents/plain.md": plain, ".defect/agents/full.md": full})
    profiles = equipage.discover_profiles(tmp_path, local=True)
    reads, writes = profiles["plain"], profiles["full"]
    assert (reads.name, reads.dir) == ("plain", (tmp_path / ".defect/agents").resolve())
    assert (reads.description, reads.system_prompt_text) == ("Reads", "You read.")
    assert (reads.model, reads.sampling, reads.request_limit) == (None, None, None)
    assert (reads.tool_allow, reads.inherit_project_prompt) == (("read_file", "search"), False)
    assert dict(reads.hooks) == {}
    assert (writes.model, writes.tool_allow, writes.inherit_project_prompt) == ("large", (), True)
    assert writes.sampling is not None
    assert writes.sampling.temperature == 0.5
    assert writes.request_limit is not None
    assert (writes.request_limit.mode, writes.request_limit.number) == ("fixed", 5)
    assert [*writes.hooks] == ["before_turn_end"]
