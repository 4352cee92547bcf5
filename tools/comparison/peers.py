"""The tools beside us: installed at the versions of `pins.toml`, and what each says of a project.

Every tool is asked for its own machine-readable output where it has one. What it says is put down
as (file, line, text); which severity it gives does not matter here.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
PINS = tomllib.loads((HERE / "pins.toml").read_text(encoding="utf-8"))
#: Seconds that one tool may take for one small project.
PATIENCE = 120


class Said(NamedTuple):
    """One finding. The line is 0 where the tool names none."""

    file: str
    line: int
    text: str


class Peer(NamedTuple):
    title: str
    package: str
    ask: Callable[[Path, Path], Iterator[Said]]

    @property
    def version(self) -> str:
        known = [*PINS["npm"]["packages"], *PINS["pip"]["packages"]]
        found = next(each for each in known if each.startswith(self.package))
        return re.split("[@=]", found)[-1]


def install(home: Path) -> None:
    """Put every tool below `home`, unless it is there."""
    stamp = home / ".ready"
    wanted = json.dumps(PINS, sort_keys=True)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    home.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", home / "python"], check=True)
    pip = [home / "python/bin/python", "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", *PINS["pip"]["packages"]]
    subprocess.run(pip, check=True)
    (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    subprocess.run(["npm", "install", "--silent", *PINS["npm"]["packages"]], cwd=home, check=True)
    stamp.write_text(wanted, encoding="utf-8")


def output(command: list[str | Path], folder: Path) -> str:
    """What a command prints in `folder`, with an empty home and no network to ask.

    A tool that fails without a word is not one that found nothing, so that raises.
    """
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1", "IS_SANDBOX": "1"}
        env |= {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        env |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE
        )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command[0]} exited with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def relative(name: str, folder: Path) -> str:
    return os.path.relpath(folder / name, folder) if name else ""


def equipage(home: Path, folder: Path) -> Iterator[Said]:
    command: list[str | Path] = [sys.executable, "-m", "equipage", "check", "-f", "json"]
    for each in json.loads(output(command, folder))["diagnostics"]:
        yield Said(each["file"] or "", each["line"] or 0, each["message"])


def agnix(home: Path, folder: Path) -> Iterator[Said]:
    report = json.loads(output([home / "python/bin/agnix", "--format", "json", "."], folder))
    for each in report["diagnostics"]:
        yield Said(each["file"], each["line"], f"{each['rule']} {each['message']}")


def claudelint(home: Path, folder: Path) -> Iterator[Said]:
    command: list[str | Path] = [home / "node_modules/.bin/claudelint", "check-all", "--no-cache"]
    command += ["--no-config", "--format", "json", "--no-collapse"]
    for validator in json.loads(output(command, folder))["validators"]:
        for each in [*validator["errors"], *validator["warnings"]]:
            name = relative(each.get("file", ""), folder)
            yield Said(name, each.get("line", 0), each["message"])


def cclint(home: Path, folder: Path) -> Iterator[Said]:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "report.json")
        output([home / "node_modules/.bin/cclint", "-q", "-f", "json", "-o", file], folder)
        report = json.loads(file.read_text(encoding="utf-8"))
    for result in report["results"]:
        for text in [*result["errors"], *result["warnings"], *result["suggestions"]]:
            place = re.search(r"at line (\d+)", text)
            line = int(place[1]) if place else 0
            yield Said(relative(result["file"], folder), line, text)


def skills_ref(home: Path, folder: Path) -> Iterator[Said]:
    # Validates one folder at a time, and names no file.
    for skill in folder.rglob("SKILL.md"):
        done = subprocess.run(
            [home / "python/bin/agentskills", "validate", skill.parent],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode:
            for text in (done.stdout + done.stderr).splitlines()[1:]:
                yield Said(str(skill.relative_to(folder)), 0, text)


def claude(home: Path, folder: Path) -> Iterator[Said]:
    program = home / "node_modules/.bin/claude"
    targets = [each for each in (".", ".claude") if (folder / each).is_dir()]
    for target in targets:
        command = [program, "plugin", "validate", "--json", target]
        report = json.loads(output(command, folder))
        for part in [report["manifest"], *report["contents"]]:
            if part is None:
                continue
            name = relative(part.get("filePath", part.get("file", "")), folder)
            for each in [*part.get("errors", ()), *part.get("warnings", ())]:
                yield Said(name, 0, f"{each.get('path', '')} {each.get('message', '')}")


def apm(home: Path, folder: Path) -> Iterator[Said]:
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        command = [home / "python/bin/apm", "audit", "--file", file, "-f", "json"]
        report = json.loads(output(command, folder))
        for each in report.get("findings", ()):
            name = relative(each.get("file", ""), folder)
            yield Said(name, each.get("line", 0), each.get("description", each.get("category", "")))


def yaml_language_server(home: Path, folder: Path) -> Iterator[Said]:
    """Without a schema: nothing in these projects asks for one, and none is published for them."""
    files = [*folder.rglob("*.yaml"), *folder.rglob("*.json"), *folder.rglob("*.md")]
    with Talk([str(home / "node_modules/.bin/yaml-language-server"), "--stdio"]) as talk:
        talk.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        talk.tell("initialized", {})
        for file in sorted(files):
            kind = {".yaml": "yaml", ".json": "json", ".md": "markdown"}[file.suffix]
            text = file.read_text(encoding="utf-8")
            item = {"uri": file.as_uri(), "languageId": kind, "version": 1, "text": text}
            talk.tell("textDocument/didOpen", {"textDocument": item})
            for each in talk.findings(file.as_uri()):
                line = each["range"]["start"]["line"] + 1
                yield Said(str(file.relative_to(folder)), line, each["message"])


class Talk:
    """A client of a language server, as small as can be."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number = 0

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, method: str, params: Any, **more: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def hear(self, seconds: float) -> dict[str, Any] | None:
        """The next message; None if there is none in time."""
        stream = self.process.stdout
        assert stream is not None
        if not select.select([stream], [], [], seconds)[0]:
            return None
        length = 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(stream.read(length))
        if "id" in message and "method" in message:  # a question of the server
            answer = [None] if message["method"] == "workspace/configuration" else None
            reply = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}).encode()
            assert self.process.stdin is not None
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(reply), reply))
            self.process.stdin.flush()
        return message

    def ask(self, method: str, params: Any) -> None:
        self.number += 1
        self.tell(method, params, id=self.number)
        while (message := self.hear(20)) is not None:
            if message.get("id") == self.number and "method" not in message:
                return
        raise RuntimeError(f"no answer to {method}")

    def findings(self, uri: str) -> list[dict[str, Any]]:
        """What is published for a file within three seconds; a server may stay silent."""
        end = time.monotonic() + 3
        while (left := end - time.monotonic()) > 0:
            message = self.hear(left)
            if message is None:
                break
            params = message.get("params") or {}
            if (
                message.get("method") == "textDocument/publishDiagnostics"
                and params.get("uri") == uri
            ):
                found: list[dict[str, Any]] = params["diagnostics"]
                return found
        return []


PEERS = (
    Peer("agnix", "agnix", agnix),
    Peer("claude-code-lint", "claude-code-lint", claudelint),
    Peer("cclint", "@carlrannaberg/cclint", cclint),
    Peer("skills-ref", "skills-ref", skills_ref),
    Peer("`claude plugin validate`", "@anthropic-ai/claude-code", claude),
    Peer("`apm audit`", "apm-cli", apm),
    Peer("yaml-language-server", "yaml-language-server", yaml_language_server),
)
