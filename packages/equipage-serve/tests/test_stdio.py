"""MCP over standard input and output, with clients of both revisions that may misbehave."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clock import SLACK, Stopwatch
from lab import needs, write
from packs import COUNT, EVERYTHING, TEXT, WORDS, pack, write_packs
from talk import META, Lines, Server, is_there, wait_until

needs("mcp", "the extra `serve` is not installed")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")

TOOLS = """
import os, sys, time
def count(p):
    print("noise")
    return {"words": len(p["text"].split())}
def hang(p):
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
def steps(p):
    for number in range(1, 4):
        print(f"progress {number}/3 step {number}", file=sys.stderr, flush=True)
        time.sleep(0.6)  # far above the tenth of a second in which one message is sent
    return {}
"""
HANG = {"caps": {"filesystem": {"write": ["."]}}, "timeoutMs": 15000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    array = {"kind": "python", "script": "list.py"}
    packs = [
        pack("t.count", "tools:count", inputSchema=TEXT, outputSchema=COUNT),
        pack("t.hang", "tools:hang", **HANG),
        pack("t.steps", "tools:steps"),
        pack("t.list", array, outputSchema={"type": "array"}),
        pack("t.object", array, inputSchema={}),
    ]
    packs += [pack(f"z.n{number:03}", "list.py") for number in range(120)]
    files = {"tools.py": TOOLS, "list.py": "print('[1, 2]')"}
    skill = {"skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes.\n---\nDo it.\n"}
    made = tmp_path_factory.mktemp("served")
    write(made, skill)
    return write_packs(made, packs, files)


@pytest.fixture(scope="module", params=[False, True], ids=["2025-11-25", "2026-07-28"])
def client(request: pytest.FixtureRequest, folder: Path) -> Iterator[Lines]:
    with Lines(str(folder), "--allow", "python", modern=request.param) as made:
        yield made
        # It ends when its input ends, or by a signal, and a call under way ends with it.
        (folder / "pid").unlink(missing_ok=True)
        made.start("tools/call", name="t.hang", arguments={})
        pid = pid_of(folder)
        assert made.end(signal.SIGTERM if request.param else None) == (143 if request.param else 0)
        assert made.took < 10
        assert not is_there(pid)


def test_the_list_is_ordered_and_has_pages(client: Lines) -> None:
    first = client.ask("tools/list")["result"]
    names = [each["name"] for each in first["tools"]]
    while "nextCursor" in first:
        first = client.ask("tools/list", cursor=first["nextCursor"])["result"]
        names += [each["name"] for each in first["tools"]]
    assert len(names) == 124
    assert names == sorted(names)
    assert "t.object" not in names
    assert client.note("t.object is not served: its input schema must have")
    assert client.ask("tools/list", cursor="")["error"]["code"] == -32602


def test_an_array_as_output(client: Lines) -> None:
    tools = {each["name"]: each for each in client.ask("tools/list")["result"]["tools"]}
    assert ("outputSchema" in tools["t.list"]) is client.modern
    result = client.call("t.list")["result"]
    assert json.loads(result["content"][0]["text"]) == [1, 2]
    assert result.get("structuredContent") == ([1, 2] if client.modern else None)


def test_a_call(client: Lines) -> None:
    result = client.call("t.count", WORDS)["result"]
    assert result["structuredContent"] == {"words": 3}
    assert json.loads(result["content"][0]["text"]) == {"words": 3}
    assert result["_meta"]["equipage/execution"]["outputBytes"] == 11


def test_wrong_arguments_are_for_the_model_to_correct(client: Lines) -> None:
    result = client.call("t.count", {"text": 12345678})["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert result["content"][0]["text"].startswith("INVALID_INPUT: ")
    assert "12345678" not in json.dumps(result)
    assert client.call("t.count")["result"]["isError"] is True  # absent arguments are none


@pytest.mark.parametrize(
    ("params", "code"),
    [({"name": "no.such"}, -32602), ({"name": "t.count", "arguments": [1]}, -32602), ({}, -32602)],
)
def test_wrong_requests_are_errors_of_the_protocol(
    params: dict[str, Any], code: int, client: Lines
) -> None:
    assert client.ask("tools/call", **params)["error"]["code"] == code
    assert client.ask("no/such")["error"]["code"] == -32601


def test_lines_that_are_not_messages(client: Lines) -> None:
    """Each is answered, and the request after them, too."""
    bad = {
        b"garbage\n": -32700,
        b'{"jsonrpc": "2.0", "id": 7, "method": "\xff"}\n': -32700,
        b"[]\n": -32600,
        b'{"id": 7}\n': -32600,
        b"5\n": -32600,
        b"[" * 100_000 + b"\n": -32600,
        b'{"a": "' + b"x" * 5_000_000 + b'"}\n': -32600,
        b"\n": 0,
    }
    client.raw(b"".join(bad))
    assert client.call("t.count", WORDS)["result"]["structuredContent"] == {"words": 3}
    found = [each["error"]["code"] for each in client.other if "error" in each]
    client.other.clear()
    assert sorted(found) == sorted(filter(None, bad.values()))


def test_progress(client: Lines) -> None:
    client.other.clear()
    assert client.call("t.steps", meta={"progressToken": "p"})["result"]
    told = [
        each["params"] for each in client.other if each.get("method") == "notifications/progress"
    ]
    assert [each["progress"] for each in told] == [1, 2, 3]
    assert [each["total"] for each in told] == [3, 3, 3]
    assert {each["progressToken"] for each in told} == {"p"}
    client.other.clear()
    client.call("t.steps")
    assert client.other == []


def test_a_cancelled_call_has_no_answer_and_no_process(client: Lines, folder: Path) -> None:
    (folder / "pid").unlink(missing_ok=True)
    number = client.start("tools/call", name="t.hang", arguments={})
    pid = pid_of(folder)
    meta = {"_meta": {}} if client.modern else {}
    cancel = {"requestId": number, "reason": "no longer needed", **meta}
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
    Stopwatch(client.process.pid, pid).until(lambda: not is_there(pid), 2)
    cancel["requestId"] = 99999  # a call that nobody made
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
    assert client.call("t.count", WORDS)["result"]
    assert [each for each in client.other if each.get("id") == number] == []


def pid_of(folder: Path) -> int:
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
    return int((folder / "pid").read_text())


def test_skills(client: Lines) -> None:
    listed = client.ask("skills/list")["result"]
    assert [each["uri"] for each in listed["skills"]] == ["skill://notes/SKILL.md"]
    assert ("ttlMs" in listed) is client.modern
    read = client.ask("resources/read", uri="skill://notes/SKILL.md")["result"]
    assert read["contents"][0]["text"].endswith("Do it.\n")
    inside = client.ask("resources/directory/read", uri="skill://notes")["result"]["resources"]
    assert [each["name"] for each in inside] == ["notes"]
    missing = client.ask("resources/read", uri="skill://notes/no")["error"]
    assert missing["code"] == (-32602 if client.modern else -32002)
    for method in ("skills/get", "resources/directory/read"):
        assert client.ask(method, uri="skill://no")["error"]["code"] == -32602


@pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it")
def test_a_killed_server_leaves_no_tools(folder: Path) -> None:
    (folder / "pid").unlink(missing_ok=True)
    with Lines(str(folder), "--allow", "python", modern=True) as client:
        client.start("tools/call", name="t.hang", arguments={})
        pid = pid_of(folder)
        assert client.end(signal.SIGKILL) == -9
        wait_until(lambda: not is_there(pid), 3)


@pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it")
def test_a_client_that_does_not_read_cannot_hold_the_server(folder: Path) -> None:
    with Server(str(folder), "--allow", "python") as server:
        assert server.process.stdin is not None
        for number in range(3000):
            message = {
                "jsonrpc": "2.0",
                "id": number,
                "method": "no/such",
                "params": {"_meta": META},
            }
            server.process.stdin.write(json.dumps(message).encode() + b"\n")
        server.process.stdin.flush()
        time.sleep(2)
        assert server.end(signal.SIGTERM) == 143
        assert server.took < 8 * SLACK
