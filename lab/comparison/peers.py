"""The tools of the comparison that are not linters of trees, and the list of all of them."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linters import LEVELS, LINTERS, Said, installed, output, report_in  # found beside this


def claude(folder: Path) -> Iterator[Said]:
    program = installed("claude") / "claude"
    for target in (each for each in (".", ".claude") if (folder / each).is_dir()):
        report = report_in(output([program, "plugin", "validate", "--json", target], folder))
        for part in [report["manifest"], *report["contents"]]:
            if part is None:
                continue
            file = str(folder / part.get("filePath", part.get("file", "")))
            for key in ("errors", "warnings"):
                for each in part.get(key, ()):
                    text = f"{each.get('path', '')} {each.get('message', '')}"
                    yield Said(file, 0, text, LEVELS[key])


def apm(folder: Path) -> Iterator[Said]:
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        command = [installed("apm") / "apm", "audit", "--file", file, "-f", "json"]
        for each in report_in(output(command, folder)).get("findings", ()):
            text = each.get("description", each.get("category", ""))
            yield Said(str(folder / each.get("file", "")), each.get("line", 0), text, "warning")


def yaml_language_server(folder: Path) -> Iterator[Said]:
    """Without a schema: nothing in these projects asks for one, and none is published for them."""
    files = [*folder.rglob("*.yaml"), *folder.rglob("*.json"), *folder.rglob("*.md")]
    program = installed("yaml-language-server") / "yaml-language-server"
    with Talk([str(program), "--stdio"]) as talk:
        talk.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        talk.tell("initialized", {})
        for file in sorted(files):
            kind = {".yaml": "yaml", ".json": "json", ".md": "markdown"}[file.suffix]
            text = file.read_text(encoding="utf-8")
            item = {"uri": file.as_uri(), "languageId": kind, "version": 1, "text": text}
            talk.tell("textDocument/didOpen", {"textDocument": item})
            for each in talk.findings(file.as_uri()):
                line = each["range"]["start"]["line"] + 1
                yield Said(str(file), line, each["message"], "warning")


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


#: What each tool of `linters.toml` says of a folder, in the order of the columns.
PEERS: dict[str, Callable[[Path], Iterator[Said]]] = {
    **LINTERS,
    "claude": claude,
    "apm": apm,
    "yaml-language-server": yaml_language_server,
}
