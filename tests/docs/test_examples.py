"""Every public name has a docstring with an example, and the examples are true."""

from __future__ import annotations

import doctest
import importlib
import pickle
from pathlib import Path

import pytest

import equipage
from lab import repository

SERVER = """\
server: {name: demo, version: "1"}
tools:
  - tool: {name: echo, description: Repeats the text, inputSchema: {type: object}}
    response: {content: [{type: text, text: Hello}]}
  - tool: {name: deep, description: Answers deep JSON, inputSchema: {type: object}}
    response: {content: [{type: text, text: {$generate: {type: nested_json, depth: 3}}}]}
"""
PACK = """\
id: text.count
version: 1.0.0
description: Counts the words of a text.
deterministic: true
timeoutMs: 2000
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
inputSchema: {type: object}
outputSchema: {type: object}
execution: {kind: python, module: "tools.text:count"}
"""
FILES = {
    "server.yaml": SERVER,
    "tools/count.tool.yaml": PACK,
    "broken/count.tool.yaml": PACK.replace("id: text.count", "id: 5"),
    "greeting.txt": "Hello!",
    "count.json": '{"type": "integer"}',
    "base.yaml": "tools: [{name: search, timeout: 30}]",
    "app.yaml": "tools: [{name: search, timeout: 5}]",
    ".defect/skills/greet/SKILL.md": "---\nname: greet\ndescription: Says hello\n---\nSay hello.",
    ".defect/agents/writer.md": "---\ndescription: Writes\n---\nYou write.",
    ".defect/config.toml": '[default]\nmodel = "echo"\n',
}
MODULES = ("", ".blueprints", ".models", ".toolpacks")


def examples() -> dict[str, object]:
    """The public functions and classes that are equipage's own, by name."""
    found: dict[str, object] = {"equipage.models": importlib.import_module("equipage.models")}
    for each in MODULES:
        module = importlib.import_module(f"equipage{each}")
        own = ("fields", "kind_of_model", "Generated") if each == ".models" else module.__all__
        found |= {
            f"{module.__name__}.{name}": getattr(module, name)
            for name in own
            if callable(getattr(module, name))
        }
    return found


@pytest.mark.parametrize("name", sorted(examples()))
def test_the_example_of_a_public_name_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(tmp_path, FILES))
    loaded = equipage.load("server.yaml", kind="server", env={})
    names = {
        "equipage": equipage, "loaded": loaded, "pickle": pickle,
        "ToolpackLoader": equipage.ToolpackLoader,
    }  # fmt: skip
    finder = doctest.DocTestFinder(recurse=True, exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    tried = 0
    said: list[str] = []
    for test in finder.find(examples()[name], name, globs=names, module=False):
        tried += runner.run(test, out=said.append).attempted
    if "to_arrow" in "".join(said) or name.endswith(("Report", ".Report")):
        pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
    assert tried, f"{name} has no example"
    assert not said, "".join(said)
