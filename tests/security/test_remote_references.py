"""No reference reaches the network or leaves the disk's allowed part by a scheme, and none has to."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from . import world
from .world import CANARY, run_script


class _Door(socketserver.BaseRequestHandler):
    """Whoever knocks is remembered."""

    knocks: ClassVar[list[str]] = []

    def handle(self) -> None:
        self.knocks.append(str(self.request.recv(100)))


@pytest.fixture(scope="module")
def door() -> Iterator[tuple[int, list[str]]]:
    """A server without visitors; connections of native code do not show in Python's audit."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Door) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], _Door.knocks
        server.shutdown()


def _toolpack(schema: str) -> str:
    return world.TOOLPACK.text.replace("{type: object, properties: {text: {type: string}}}", schema)


def attacks(url: str) -> dict[str, tuple[str, str, str]]:
    """Name → kind, file, text: an address everywhere one could be followed."""
    quoted = json.dumps(url)
    flow = world.BLUEPRINT.text.split("agents:")[0]
    return {
        "$ref": ("toolpack", "a.tool.yaml", _toolpack(f"{{$ref: {quoted}}}")),
        "$ref with a fragment": ("toolpack", "a.tool.yaml", _toolpack(f"{{$ref: {json.dumps(url + '#/a')}}}")),
        "$ref inside": ("toolpack", "a.tool.yaml", _toolpack(f"{{properties: {{a: {{$ref: {quoted}}}}}}}")),
        "$ref against an $id": ("toolpack", "a.tool.yaml", _toolpack(f"{{$id: {quoted}, properties: {{a: {{$ref: other.json}}}}}}")),
        "$schema": ("toolpack", "a.tool.yaml", _toolpack(f"{{$schema: {quoted}, type: object}}")),
        "$dynamicRef": ("toolpack", "a.tool.yaml", _toolpack(f"{{$dynamicRef: {quoted}}}")),
        "$recursiveRef": ("toolpack", "a.tool.yaml", _toolpack(f"{{$recursiveRef: {quoted}}}")),
        "a schema of a server": ("server", "main.yaml", world.server_with("{}").replace("type: object", f"$ref: {quoted}")),
        "$schema of a server": ("server", "main.yaml", world.server_with("{}").replace("type: object", f"$schema: {quoted}")),
        "$include": ("server", "main.yaml", f"server: {{name: a}}\ntools: [{{$include: {quoted}}}]\n"),
        "$file": ("server", "main.yaml", world.server_with(f"{{$file: {quoted}}}")),
        "$file of a blueprint": ("blueprint", "team.yaml", f"{flow}agents: [{{name: writer, profile: {{system_prompt: {{$file: {quoted}}}}}}}]\n"),
        "$agent_md": ("blueprint", "team.yaml", f"{flow}agents: [{{$agent_md: {quoted}, name: writer}}]\n"),
        "prompt.file": ("profile", ".defect/agents/w/config.toml", f'description = "d"\n[prompt]\nfile = {quoted}\n'),
        "a handler": ("server", "main.yaml", world.server_with("1").replace("{content: [{type: text, text: t}]}", f"{{handler: {{type: http, url: {quoted}}}}}")),
    }  # fmt: skip


SCHEMES = ("http", "https", "ftp", "file", "relative")


def test_nobody_knocks(door: tuple[int, list[str]], tmp_path: Path) -> None:
    """One process loads every attack with every scheme: its start costs more than all loads."""
    port, knocks = door
    secret = tmp_path / "outside.json"
    secret.write_text(json.dumps({"type": CANARY, "description": CANARY}))
    other = {"file": f"file://{secret}", "relative": f"//127.0.0.1:{port}/x.json"}
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    jobs: list[dict[str, Any]] = []
    names = []
    for scheme in SCHEMES:
        url = other.get(scheme, f"{scheme}://127.0.0.1:{port}/x.json")
        for name, (kind, file, text) in attacks(url).items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            jobs.append({"cwd": str(folder), "file": str(path), "kind": kind, "content": text})
            names.append((scheme, name))
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    done = run_script("watched.py", "sockets", str(tmp_path / "jobs.json"), cwd=tmp_path)
    assert done.code == 0, done.err
    for name, answer in zip(names, json.loads(done.out), strict=True):
        *said, text = answer["said"]
        assert answer["seen"] == [], name
        assert CANARY not in text, name
        assert said or name[1] == "a handler", f"{name}: nothing was said"
    assert knocks == []
