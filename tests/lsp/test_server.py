"""Whatever a client sends, the server answers as the protocol says, and goes on."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clock import HANGS
from equipage.lsp import _REQUESTS, _cancel
from equipage.lsp.protocol import Message
from lab import repository, write
from lsp.talking import EDITOR, PULLING, Here, running
from lsp.test_publishing import AGENT, PACK, SERVER, TOOL


def test_requests_before_the_first_and_after_the_last_are_refused(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    assert client.request("initialize", {})["error"]["code"] == -32600
    assert client.request("nonsense/method", {})["error"]["code"] == -32601
    assert client.request("textDocument/codeAction", {"range": 5})["error"]["code"] == -32602
    assert client.ask("shutdown", None) is None
    assert client.request("textDocument/codeAction", {})["error"]["code"] == -32600
    client.tell("exit", None)
    assert client.server.ended == 0


def test_notifications_of_any_sort_are_survived(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    document: dict[str, Any] = {"uri": client.uri("not-open.yaml"), "version": 1}
    wild = {"line": 10**9, "character": -(10**9)}
    for method, params in [
        ("$/nonsense", {}),
        ("nonsense", None),
        ("textDocument/didChange", 5),
        ("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": ""}]}),
        ("textDocument/didClose", {"textDocument": document}),
        ("textDocument/didOpen", {"textDocument": {"uri": "untitled:1", "text": "x"}}),
        ("textDocument/didOpen", {"textDocument": {"uri": client.uri("a/../b"), "text": "x"}}),
        ("textDocument/didSave", {"textDocument": document}),
        ("workspace/didChangeWatchedFiles", {"changes": [{"uri": "x:y", "type": 9}]}),
        ("workspace/didChangeWorkspaceFolders", {"event": {"added": [{"uri": "http://x"}]}}),
    ]:
        client.tell(method, params)
    client.open("a.tool.yaml", PACK)
    change = {"range": {"start": wild, "end": wild}, "text": "# end\n"}
    document = {"uri": client.uri("a.tool.yaml"), "version": 2}
    client.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    client.settle()
    assert client.server.workspace.open[client.uri("a.tool.yaml")].text.text == PACK + "# end\n"
    assert client.published("a.tool.yaml") == []


def test_a_cancelled_request_and_one_about_an_old_text_are_refused(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    uri = client.open("a.tool.yaml", PACK)
    client.server.cancelled.add(client.number + 1)
    where = {"textDocument": {"uri": uri}}
    assert client.request("textDocument/diagnostic", where)["error"]["code"] == -32800
    client.server.changing[uri] += 1  # the next change was read, and waits
    assert client.request("textDocument/diagnostic", where)["error"]["code"] == -32801
    client.change("a.tool.yaml", PACK)
    assert client.ask("textDocument/diagnostic", where)["items"] == []


def test_a_bug_is_an_answer_without_words_that_may_be_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Here(repository(tmp_path))
    uri = client.open("a.tool.yaml", PACK)

    def fail(*_: object) -> None:
        raise ValueError("hunter2")

    monkeypatch.setattr(client.server.workspace, "check", fail)
    answer = client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert answer["error"]["code"] == -32603
    assert "ValueError" in answer["error"]["message"]
    assert "hunter2" not in str(client.sent)


def test_a_bug_in_a_check_or_a_survey_is_told_and_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Here(repository(tmp_path, {"b.tool.yaml": PACK}))
    client.settle()
    client.open("a.tool.yaml", PACK.replace("text.count", "text.other"))

    def fail(*_: object) -> None:
        raise ValueError("hunter2")

    with monkeypatch.context() as broken:
        broken.setattr(client.server.workspace, "check", fail)
        broken.setattr("equipage.workspace.Gathering.report", fail)
        client.settle()
    told = [each["params"]["message"] for each in client.sent if "logMessage" in str(each)]
    assert len(told) == 2
    assert "ValueError" in told[0]
    assert "hunter2" not in str(client.sent)
    client.change("a.tool.yaml", "id: 5\n")
    client.settle()
    assert client.published("a.tool.yaml")


def test_what_clients_give_up_is_not_remembered(tmp_path: Path) -> None:
    """A cancel that comes after the answer, and changes of what was never a text."""
    repository(tmp_path, {"a.tool.yaml": PACK})
    with running(tmp_path, EDITOR) as client:
        uri = (tmp_path / "a.tool.yaml").as_uri()
        for number in range(1000, 1100):
            client.tell("$/cancelRequest", {"id": number})
        item = {"uri": uri, "text": PACK, "version": 1, "languageId": "yaml"}
        client.tell("textDocument/didOpen", {"textDocument": item})
        # It has an address, so it was noted; it is no change, so it is refused.
        client.tell("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": 5})
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
        client.number = 1050
        assert client.ask("textDocument/hover", where)["result"]["contents"]


def test_a_held_request_that_is_cancelled_is_answered_so(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {"b.tool.yaml": "id: 5\n"}), PULLING)
    client.server.waiting.add(77)
    raw = msgspec.Raw(b'{"previousResultIds": []}')
    client.server.handle(Message("workspace/diagnostic", 77, raw))
    _cancel(msgspec.Raw(b'{"id": 77}'), client.server)
    _cancel(msgspec.Raw(b'{"id": 78}'), client.server)
    _cancel(msgspec.Raw(b"[]"), client.server)
    client.settle()
    (answer,) = (each for each in client.sent if each.get("id") == 77)
    assert answer["error"]["code"] == -32800
    assert (client.server.cancelled, client.server.waiting) == (set(), set())


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_any_messages_is_survived(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions that no text has, texts that are nothing, files that come and go while open."""
    files = {
        "main.yaml": SERVER,
        "library/tools/echo.yaml": TOOL,
        ".claude/agents/a.md": AGENT.format("a", "tools: Read\n"),
        "a.tool.yaml": PACK,
    }
    root = repository(tmp_path / "project", files)
    monkeypatch.chdir(root)
    client, chance = Here(root, env={"TOKEN": "hunter2hunter2"}), random.Random(seed)
    names = [*files, "new.tool.yaml", "../outside.yaml", "library", "", "é🙂.yaml"]
    pieces = ["---\n", "a: b\n", "{", "[", "]}", "\r\n", "${", "${TOKEN}", "🙂", "\u2028", "\0"]
    pieces += ["$include: tools/echo.yaml", "&a *a", "- ", '"', "tools: ", "|\n x\n", "\ufeff"]
    questions = [each for each in _REQUESTS if each.startswith("textDocument/")]
    for version in range(150):
        place = [
            {"line": chance.choice([0, 1, 3, 9, 2**31, -1]), "character": chance.randrange(-2, 90)}
            for _ in range(2)
        ]
        span = {"start": place[0], "end": place[1]}
        name, roll = chance.choice(names), chance.random()
        document = {"uri": client.uri(name), "version": version}
        if roll < 0.2:
            text = files.get(name, "".join(chance.choices(pieces, k=12)))
            client.tell("textDocument/didOpen", {"textDocument": {**document, "text": text}})
        elif roll < 0.5:
            change = {"range": span, "text": chance.choice(pieces)}
            params = {"textDocument": document, "contentChanges": [change]}
            client.tell("textDocument/didChange", params)
        elif roll < 0.55:
            client.tell("textDocument/didClose", {"textDocument": document})
        elif roll < 0.6 and name in files:
            (root / name).unlink(missing_ok=True)
            changes = [{"uri": document["uri"], "type": chance.choice([1, 2, 3])}]
            client.tell("workspace/didChangeWatchedFiles", {"changes": changes})
        else:
            params = {"textDocument": document, "position": place[0], "range": span}
            answer = client.request(chance.choice(questions), {**params, "newName": "../x"})
            assert answer.get("error", {}).get("code") != -32603, answer
        while client.server.publisher._dirty and roll < 0.3:
            client.server.do_idle_work()
    client.settle()
    assert not [each for each in client.sent if "a bug in equipage" in str(each)]
    assert "internal-error" not in str(client.sent)
    assert "hunter2" not in str(client.sent)


def test_a_client_that_went_away_ends_the_server(tmp_path: Path) -> None:
    client = Here(None, is_alive=lambda _: False)
    assert client.server.ended is None
    client.server._client = 1
    client.server.do_idle_work()
    assert client.server.ended == 1


def test_a_server_over_streams(tmp_path: Path) -> None:
    """A real process: bad frames, edits, a file that goes away while it is open, and the end."""
    repository(tmp_path, {"a.tool.yaml": PACK})
    with running(tmp_path, EDITOR) as client:
        client.write(b"garbage\r\n\r\nContent-Length: 3\r\n\r\n{{{")
        assert client.wait(lambda each: "error" in each)["error"]["code"] == -32700
        uri = (tmp_path / "a.tool.yaml").as_uri()
        item = {"uri": uri, "text": PACK, "version": 1, "languageId": "yaml"}
        client.tell("textDocument/didOpen", {"textDocument": item})
        assert client.published(uri) == []
        (tmp_path / "a.tool.yaml").unlink()
        start, end = {"line": 1, "character": 0}, {"line": 1, "character": 7}
        change = {"range": {"start": start, "end": end}, "text": "verison"}
        document = {"uri": uri, "version": 2}
        params = {"textDocument": document, "contentChanges": [change]}
        client.tell("textDocument/didChange", params)
        # The text as it was opened may be published once more, when the whole folder was checked.
        codes = [each["code"] for each in client.published(uri, version=2)]
        assert codes == ["missing-field", "unknown-field"]
        assert client.ask("shutdown", None)["result"] is None
        client.tell("exit", None)
        assert client.process.wait(HANGS) == 0


def test_the_end_of_the_input_ends_the_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "equipage", "lsp"]
    done = subprocess.run(command, input=b"Content-Le", capture_output=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_files_of_a_format_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = """
from dataclasses import dataclass
import equipage

@dataclass
class App:
    name: str
    timeout: int = 5

APP = equipage.Format(
    App,
    paths=("*.app.yaml",),
    layers=("base.yaml", equipage.FILE),
    rules=(lambda app: [equipage.Problem("name", "is bad", code="bad-name")][: app.name == "bad"],),
)
"""
    files = {"code/open_app.py": module, "w/base.yaml": "timeout: 7\n", "w/other.yaml": "a: 1\n"}
    write(tmp_path, {**files, "w/x.app.yaml": "name: bad\n"})
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    client = Here(tmp_path / "w", kind="open_app:APP")
    for name, text, codes in (
        ("x.app.yaml", "name: bad\ntimeout: 6\n", ["bad-name"]),
        ("other.yaml", "a: 1\n", []),
        ("base.yaml", "timout: 1\n", ["unknown-field"]),  # the first file is merged with it
    ):
        client.open(name, text)
        client.settle()
        assert [each["code"] for each in client.published(name)] == codes
    at = {
        "textDocument": {"uri": client.uri("x.app.yaml")},
        "position": {"line": 1, "character": 2},
    }
    hover = client.ask("textDocument/hover", at)
    assert "timeout" in hover["contents"]["value"]
    client.change("x.app.yaml", "name: good\nti\n")
    at["position"] = {"line": 1, "character": 2}
    found = client.ask("textDocument/completion", at)
    items = found["items"] if isinstance(found, dict) else found
    assert "timeout" in [each["label"] for each in items]
