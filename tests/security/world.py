"""What the attacks share: a small valid file of every kind, and a load that is watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import equipage
from equipage.core.diagnostics import Diagnostic
from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import kind_named
from equipage.loading.request import Request

T = TypeVar("T")

SMALL_STACK = 512 * 1024
CANARY = "c4n4ry-outside-the-walls"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Sample:
    """A small, valid file of a kind."""

    kind: str
    file: str
    text: str
    options: tuple[tuple[str, Any], ...] = ()

    def write(self, folder: Path, text: str | bytes | None = None) -> Path:
        path = folder / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        content = self.text if text is None else text
        path.write_bytes(
            content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        )
        return path


SERVER = Sample("server", "main.yaml", "server: {name: a, version: 1.0.0}\ntools: []\n")


def server_with(free: str) -> str:
    """A server with a text of YAML in a place that takes any data."""
    return (
        "server: {name: a}\ntools:\n  - tool:\n      name: t\n      description: d\n      inputSchema:\n"
        f"        type: object\n        default: {free}\n    response: {{content: [{{type: text, text: t}}]}}\n"
    )


def free_form(outcome: Outcome) -> Any:
    """What became of it."""
    loaded = outcome.loaded()
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
    (folder / ".git").mkdir(exist_ok=True)
    path = sample.write(folder, text)
    env = options.pop("env", {})
    request = Request(env=env, options={**dict(sample.options), **options}, project=str(folder))
    return load_path(str(path), kind_named(sample.kind), request)


def codes(outcome: Outcome | equipage.Report) -> set[str]:
    return {each.code for each in outcome.diagnostics}


def no_bug(diagnostics: tuple[Diagnostic, ...]) -> None:
    assert [each for each in diagnostics if each.code == "internal-error"] == []


def in_small_thread(run: Callable[[], T]) -> T:
    """The result of `run` in a thread whose stack is as small as systems make them."""
    result: list[T] = []
    failure: list[BaseException] = []

    def target() -> None:
        try:
            result.append(run())
        except BaseException as error:  # noqa: BLE001, RUF100 - handed to the caller
            failure.append(error)

    before = threading.stack_size(SMALL_STACK)
    try:
        thread = threading.Thread(target=target)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def run_python(
    script: str, *arguments: str, cwd: Path | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a script of this folder in a Python of its own."""
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        **more.pop("env", {}),
    }
    return subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=more.pop("timeout", 120),
        check=False,
        **more,
    )
