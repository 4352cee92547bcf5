"""Mistakes by the thousand: a load takes time that grows with its text, not with the square of it.

The sizes are such that comparing each mistake with each other, or with every name the text brings,
would take ten times as long as is allowed, on any machine.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import equipage
from clock import promised
from equipage import blueprints
from equipage.loading.findings import MAX_FINDINGS_PER_CODE as MOST
from lab import repository

SERVER = "server: {name: a, version: 1.0.0}\n"
TOOL = "  - tool: {name: %s, description: d, inputSchema: {type: object}}\n    response: {content: []}\n"
PACK = """\
id: text.count
version: 1.0.0
description: Counts words.
deterministic: true
timeoutMs: 2000
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
outputSchema: {type: object}
execution: {kind: python, module: 'tools.text:count'}
"""
#: A file, or several, and how many findings of which code it has.
Case = tuple[dict[str, str], str, int]


def lines(count: int, line: str) -> str:
    return "".join(line.replace("#", f"{number:05d}") for number in range(count))


def listed(count: int, word: str) -> str:
    return ", ".join(word.replace("#", f"{number:05d}") for number in range(count))


def not_finite(count: int) -> Case:
    text = '{"id": "x", "flow": {"kind": "step"}, "a": [' + ",".join(["NaN"] * count) + "]}"
    return {"team.json": text}, "not-finite", count


def keys_that_are_no_text(count: int) -> Case:
    text = (
        SERVER + "tools: []\nmetadata:\n" + "".join(f"  {number}: 1\n" for number in range(count))
    )
    return {"main.yaml": text}, "non-string-key", count


def types_of_a_schema(count: int) -> Case:
    return (
        {"a.tool.yaml": f"{PACK}inputSchema: {{type: [{listed(count, 'x#')}]}}\n"},
        "schema-type-unknown",
        count,
    )


def unused_comments(count: int) -> Case:
    return (
        {"main.yaml": SERVER + "tools: []\n" + "# equipage: ignore[unknown-field]\n" * count},
        "unused-ignore",
        count,
    )


def used_comments(count: int) -> Case:
    comment = "\N{NUMBER SIGN} equipage: ignore[unknown-field]"
    text = "".join([f"tols{number:05}: 1 {comment}\n" for number in range(count)])
    # Beyond the most that are looked at, the rest is counted in one.
    return {"main.yaml": f"{SERVER}tools: []\n{text}"}, "unknown-field", 1


def codes_of_one_comment(count: int) -> Case:
    return (
        {"main.yaml": f"{SERVER}tools: []\n# equipage: ignore[{listed(count, 'unknown-f#')}]\n"},
        "unknown-code",
        count,
    )


def steps_without_agents(count: int) -> Case:
    step = "    - {kind: step, ref: writr#, in: {op: path, at: $.task}, out: {op: path, at: $.a}}\n"
    agent = "  - {name: writer#, kind: agent_block, profile: {system_prompt: x, model: s}}\n"
    flow = "id: t\nflow:\n  kind: seq\n  children:\n"
    return (
        {"team.yaml": f"{flow}{lines(count, step)}agents:\n{lines(count, agent)}"},
        "unknown-agent",
        count,
    )


def removed_tools(count: int) -> Case:
    tools = "tools:\n" + lines(count, TOOL % "weather#")
    phase = f"phases:\n- name: p\n  advance: {{after: 5s}}\n  remove_tools: [{listed(count, 'wether#')}]\n"
    return {"main.yaml": SERVER + tools + phase}, "unknown-target", count


def tools_of_servers(count: int) -> Case:
    servers = {"mcpServers": {f"weather{number:05d}": {"command": "x"} for number in range(count)}}
    agent = f"---\nname: a\ndescription: d\ntools: {listed(count, 'mcp__wether#__x')}\n---\nBody\n"
    return (
        {".mcp.json": json.dumps(servers), ".claude/agents/a.md": agent},
        "unknown-reference",
        count,
    )


def tools_of_a_profile(count: int) -> Case:
    settings = lines(count, '[mcp.servers.weather#]\ntransport = "stdio"\ncommand = "x"\n')
    profile = (
        f"---\ndescription: d\ntools:\n  allow: [{listed(count, 'mcp__wether#__x')}]\n---\nBody\n"
    )
    return (
        {".defect/config.toml": settings, ".defect/agents/a.md": profile},
        "unknown-server",
        count,
    )


def missing_includes(count: int) -> Case:
    library = {f"library/weather{number:05d}.yaml": "a: 1\n" for number in range(500)}
    includes = listed(count, "{$include: wether#.yaml}")
    return {**library, "main.yaml": f"{SERVER}tools: [{includes}]\n"}, "include-not-found", count


#: The first of many mistakes comes with a suggestion.
NEARLY_RIGHT = (
    steps_without_agents,
    removed_tools,
    tools_of_servers,
    tools_of_a_profile,
    missing_includes,
)


def unknown_kinds(count: int) -> Case:
    settings = "[kinds]\n" + lines(count, '"x#" = "servr#"\n')
    return {"equipage.toml": settings, "main.yaml": SERVER + "tools: []\n"}, "unknown-kind", count


def open_quotes(count: int) -> Case:
    return {".vscode/mcp.json": '{"servers": {' + '"\\' * count}, "json-syntax", 1


def commas_and_comments(count: int) -> Case:
    return {".vscode/mcp.json": '{"servers": {' + ",/**/" * count}, "json-syntax", 1


def blanks_in_a_name(count: int) -> Case:
    agent = f'---\nname: a\ndescription: d\ntools: "Bash{" " * count}x"\n---\nBody\n'
    return {".claude/agents/a.md": agent}, "unknown-reference", 1


def short_forms_of_tags(count: int) -> Case:
    return (
        {"main.yaml": lines(count, "%TAG !a#! tag:x\n") + f"---\n{SERVER}tools: []\n"},
        "yaml-syntax",
        1,
    )


def unknown_settings(count: int) -> Case:
    return {".defect/config.toml": lines(count, "a# = 1\n")}, "unknown-field", count


def servers_of_settings(count: int) -> Case:
    table = lines(count, '[mcp.servers.s#]\ntransport = "stdio"\ncommand = "x"\n')
    servers = {
        "mcpServers": {
            f"s{number:05d}": {"command": "x", "type": None} for number in range(2 * count)
        }
    }
    return (
        {".defect/config.toml": table, ".mcp.json": json.dumps(servers)},
        "mcp-server-shadowed",
        count,
    )


def hooks_of_a_profile(count: int) -> Case:
    hooks = "  after_session_enter:\n" + "    - {source: y}\n" * count
    return (
        {".defect/agents/a.md": f"---\ndescription: d\nhooks:\n{hooks}---\nBody\n"},
        "unknown-field",
        count,
    )


def numbers_for_names(count: int) -> Case:
    names = ", ".join(map(str, range(count)))
    text = f"---\ndescription: d\ntools:\n  allow: [{names}]\n---\nBody\n"
    return {".defect/agents/a.md": text}, "text-not-quoted", count


def unknown_tools(count: int) -> Case:
    agent = f"---\nname: a\ndescription: d\ntools: {listed(count, 'Rad#')}\n---\nBody\n"
    return {".claude/agents/a.md": agent}, "unknown-reference", 1  # one cause, one finding


@pytest.mark.parametrize(
    ("make", "count", "seconds"),
    [
        (not_finite, 30_000, 1.5),
        (keys_that_are_no_text, 15_000, 2),
        (types_of_a_schema, 15_000, 1.5),
        (unused_comments, 15_000, 1),
        (used_comments, 10_000, 2),
        (codes_of_one_comment, 15_000, 2.5),
        (steps_without_agents, 1_000, 2),
        (removed_tools, 1_000, 2),
        (tools_of_servers, 1_000, 1.5),
        (tools_of_a_profile, 1_000, 2),
        (missing_includes, 1_000, 2),
        (unknown_kinds, 2_000, 1),
        (unknown_settings, 10_000, 1.5),
        (servers_of_settings, 5_000, 2),
        (hooks_of_a_profile, 3_000, 1.5),
        (numbers_for_names, 3_000, 0.5),
        (unknown_tools, 10_000, 2),
        (open_quotes, 100_000, 0.1),
        (commas_and_comments, 50_000, 0.2),
        (blanks_in_a_name, 100_000, 0.2),
        (short_forms_of_tags, 200_000, 0.3),
    ],
    ids=lambda each: each.__name__.replace("_", " ") if callable(each) else "",
)
def test_time_grows_with_the_text(
    make: Callable[[int], Case],
    count: int,
    seconds: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    files, code, told = make(count)
    repository(tmp_path, files)
    kind = {
        "team.json": "blueprint",
        "team.yaml": "blueprint",
        "main.yaml": "server",
        "a.tool.yaml": "toolpack",
    }
    paths = [name for name in files if name in kind and "equipage.toml" not in files] or ["."]
    with promised(seconds):
        report = equipage.check(paths, kind=kind.get(paths[0]), env={}, jobs=1)
    found = [each for each in report.diagnostics if each.code == code]
    # Of each severity, findings beyond the most that are shown are counted in one of them.
    shown = Counter(each.severity for each in found)
    assert max(shown.values(), default=0) == min(told, MOST + 1)
    assert sum(each.count for each in found) >= told
    if make in NEARLY_RIGHT:
        first = next(each for each in found if each.span is not None)
        assert "did you mean" in (first.help or "")


@pytest.mark.parametrize("pair", [list, tuple])
def test_a_blueprint_with_shared_parts(pair: type[list[object]] | type[tuple[object, ...]]) -> None:
    """What a YAML library makes of aliases is small in memory and endless to walk."""
    value = pair(["x"])
    for _ in range(40):
        value = pair([value, value])
    with promised(0.5), pytest.raises(equipage.LoadError) as caught:
        blueprints.expand({"a": value}, ".")
    assert [each.code for each in caught.value.diagnostics] == ["composed-too-large"]


def test_a_blueprint_with_a_few_shared_parts() -> None:
    value: list[object] = ["x"]
    for _ in range(16):
        value = [value, value]
    with promised(0.5):
        assert blueprints.expand({"a": value}, ".") == {"a": value}


def test_ignored_files_by_the_thousand(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(lines(10_000, "a*b#\n"))
    (tmp_path / "b").mkdir()
    with promised(1.5):
        assert not equipage.check([tmp_path], env={}).diagnostics
