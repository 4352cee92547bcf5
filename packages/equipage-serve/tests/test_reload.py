"""`--watch`: a changed set is swapped in as a whole, and a broken one is not."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from clock import HANGS
from lab import needs
from packs import EVERYTHING, pack, write_packs
from talk import Http, Lines, wait_until

needs("mcp", "the extra `serve` is not installed")
needs("watchfiles", "watchfiles is not installed")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux"),
    pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs these"),
]

SLOW = """
import os, time
def slow(p):
    open("started", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.02)
    return {"version": VERSION}
VERSION = 1
"""
CAPS = {"caps": {"filesystem": {"write": ["."]}}, "timeoutMs": 15000}


def test_a_reload_is_whole(tmp_path: Path) -> None:
    write_packs(tmp_path, [pack("t.slow", "slow:slow", **CAPS)], {"slow.py": SLOW})
    with Lines(str(tmp_path), "--allow", "python", "--watch", modern=False) as client:
        assert client.opened["result"]["capabilities"]["tools"]["listChanged"] is True
        assert names(client) == ["t.slow"]
        number = client.start("tools/call", name="t.slow", arguments={})
        wait_until((tmp_path / "started").exists)
        # The call goes on with the code it started with; the list is that of the new files.
        (tmp_path / "slow.py").write_text(SLOW.replace("VERSION = 1", "VERSION = 2"))
        added = yaml.safe_dump(pack("t.more", "slow:slow", **CAPS))
        (tmp_path / "more.tool.yaml").write_text(added)
        wait_until(lambda: names(client) == ["t.more", "t.slow"])
        (tmp_path / "go").touch()
        assert client.answer(number)["result"]["structuredContent"] == {"version": 1}
        assert client.call("t.slow")["result"]["structuredContent"] == {"version": 2}
        told = notices(client)
        assert 1 <= told <= 2  # two files were written

        # What means the same is no news.
        (tmp_path / "more.tool.yaml").write_text("# a comment\n" + added)
        # What is broken changes nothing, and is said.
        (tmp_path / "broken.tool.yaml").write_text("id: x\n")
        client.note("not reloaded, .* errors: ")
        assert names(client) == ["t.more", "t.slow"]
        (tmp_path / "broken.tool.yaml").unlink()
        (tmp_path / "more.tool.yaml").unlink()
        wait_until(lambda: names(client) == ["t.slow"])
        assert notices(client) == told + 1


def names(client: Lines) -> list[str]:
    return [each["name"] for each in client.ask("tools/list")["result"]["tools"]]


def notices(client: Lines) -> int:
    client.ask("ping")
    methods: list[Any] = [each.get("method") for each in client.other]
    return methods.count("notifications/tools/list_changed")


def test_clients_of_the_newer_revision_listen(tmp_path: Path) -> None:
    write_packs(tmp_path, [pack("t.a", "a.py")], {"a.py": "print('{}')"})
    with Lines(str(tmp_path), "--allow", "python", "--watch", modern=True) as client:
        client.start("subscriptions/listen", notifications={"toolsListChanged": True})
        heard = threading.Event()

        def listen() -> None:
            while True:
                message = client.received.get()
                client.other.append(message)
                if message.get("method") == "notifications/tools/list_changed":
                    heard.set()
                    return

        threading.Thread(target=listen, daemon=True).start()
        wait_until(lambda: client.other)
        (tmp_path / "b.tool.yaml").write_text(yaml.safe_dump(pack("t.b", "a.py")))
        assert heard.wait(HANGS)


def test_clients_of_the_older_revision_listen_over_http(tmp_path: Path) -> None:
    write_packs(tmp_path, [pack("t.a", "a.py")], {"a.py": "print('{}')"})
    with Http(str(tmp_path), "--allow", "python", "--watch") as server:
        client = {"name": "test", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "authorization": f"Bearer {server.token}",
        }

        def post(message: dict[str, Any]) -> Any:
            connection = server.connection()
            connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer, text

        answer, text = post({"id": 1, "method": "initialize", "params": opening})
        assert '"listChanged":true' in text.replace(" ", "")
        headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        headers["mcp-protocol-version"] = "2025-11-25"
        post({"method": "notifications/initialized"})
        stream = server.connection()
        stream.request("GET", "/mcp", headers=headers)
        events = stream.getresponse()
        assert events.status == 200
        (tmp_path / "b.tool.yaml").write_text(yaml.safe_dump(pack("t.b", "a.py")))
        assert any(b"notifications/tools/list_changed" in line for line in events)
        events.close()
        stream.close()
