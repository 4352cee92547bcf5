"""What the attacks share: a small valid file of every kind, and a load that is watched."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equipage
import lab
from equipage.core.diagnostics import Diagnostic
from equipage.loading.pipeline import Outcome
from lab import SOURCES, TESTS, Result, environment, python, repository, write

CANARY = "c4n4ry-outside-the-walls"


@dataclass(frozen=True)
class Sample:
    """A small, valid file of a kind."""

    kind: str
    file: str
    text: str
    options: tuple[tuple[str, Any], ...] = ()

    def write(self, folder: Path, text: str | bytes | None = None) -> Path:
        return write(folder, {self.file: self.text if text is None else text}) / self.file


SERVER = Sample("server", "main.yaml", "server: {name: a, version: 1.0.0}\ntools: []\n")


def server_with(free: str) -> str:
    """A server with a text of YAML in a place that takes any data."""
    return (
        "server: {name: a}\ntools:\n  - tool:\n      name: t\n      description: d\n      inputSchema:\n"
        f"        type: object\n        default: {free}\n    response: {{content: [{{type: text, text: t}}]}}\n"
    )


def free_form(outcome: Outcome) -> Any:
    """What became of it."""
    loaded = outcome.loaded_or_none()
    assert loaded is not None, outcome.diagnostics[:3]
    return loaded.config.baseline.tools[0].tool.input_schema["default"]


TOOLPACK = Sample(
    "toolpack",
    "a.tool.yaml",
    "id: text.count\nversion: 1.0.0\ndescription: Counts words.\ndeterministic: true\ntimeoutMs: 2000\n"
    "limits: {maxInputBytes: 65536, maxOutputBytes: 1024}\n"
    "inputSchema: {type: object, properties: {text: {type: string}}}\n"
    "outputSchema: {type: object, properties: {words: {type: integer}}}\n"
    "execution: {kind: python, module: 'tools.text:count'}\n",
)
BLUEPRINT = Sample(
    "blueprint",
    "team.yaml",
    "id: team\nflow:\n  kind: step\n  ref: writer\n  in: {op: path, at: $.task}\n  out: {op: path, at: $.answer}\n"
    "agents:\n  - name: writer\n    kind: agent_block\n    profile: {system_prompt: You write., model: sonnet}\n",
)
BLUEPRINT_JSON = Sample(
    "blueprint",
    "team.json",
    json.dumps(
        {
            "id": "team",
            "flow": {
                "kind": "step",
                "ref": "writer",
                "in": {"op": "path", "at": "$.task"},
                "out": {"op": "path", "at": "$.answer"},
            },
            "agents": [
                {
                    "name": "writer",
                    "kind": "agent_block",
                    "profile": {"system_prompt": "You write.", "model": "sonnet"},
                }
            ],
        },
        indent=1,
    ),
)
AGENT_MD = Sample(
    "agent_md", "writer.md", "---\nname: writer\ndescription: Writes.\n---\nYou write.\n"
)
PROFILE = Sample(
    "profile", ".defect/agents/writer.md", "---\ndescription: Writes.\n---\nYou write.\n"
)
PROFILE_TOML_HEADER = Sample(
    "profile", ".defect/agents/writer.md", '+++\ndescription = "Writes."\n+++\nYou write.\n'
)
PROFILE_FOLDER = Sample(
    "profile",
    ".defect/agents/writer/config.toml",
    'description = "Writes."\n[prompt]\ntext = "You write."\n',
)
SETTINGS = Sample("settings", ".defect/config.toml", '[default]\nprovider = "anthropic"\n')
SAMPLES = (
    SERVER,
    TOOLPACK,
    BLUEPRINT,
    BLUEPRINT_JSON,
    AGENT_MD,
    PROFILE,
    PROFILE_TOML_HEADER,
    PROFILE_FOLDER,
    SETTINGS,
)


def load(sample: Sample, folder: Path, text: str | bytes | None = None, **options: Any) -> Outcome:
    """Write a file of the sample's kind and load it. The folder is a project of its own."""
    path = sample.write(repository(folder), text)
    env = options.pop("env", {})
    options = {**dict(sample.options), **options}
    return lab.load(path, sample.kind, env=env, options=options, project=str(folder))


def codes(outcome: Outcome | equipage.Report) -> set[str]:
    return {each.code for each in outcome.diagnostics}


def no_bug(diagnostics: tuple[Diagnostic, ...]) -> None:
    assert [each for each in diagnostics if each.code == "internal-error"] == []


def run_script(name: str, *arguments: str, cwd: Path, timeout: float = 120) -> Result:
    """Run a script of this folder in a Python of its own."""
    env = environment(SOURCES, TESTS)
    script = str(TESTS / "security" / name)
    return python(script, *arguments, cwd=cwd, env=env, timeout=timeout)
