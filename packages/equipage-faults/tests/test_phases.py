"""The order of things: phases, timers, connections and the ways of messages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from faultlab import (
    INITIALIZE,
    INITIALIZED,
    LIST,
    R3,
    Piped,
    Web,
    call,
    delivery,
    modern,
    over_http,
    phased,
    request,
    simple,
    tool,
)

CHANGED = "notifications/tools/list_changed"


def step(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "replace_tools": {"t": tool(text=name)}, **more}


def test_each_answer_comes_from_its_own_phase() -> None:
    config = phased(
        step("a", advance={"on": "tools/call"}),
        step("b", advance={"on": "tools/call", "count": 2}),
        step("c", advance={"on": "tools/call", "count": 3}),
        step("d"),
    )
    assert Piped(config).say(*[call()] * 4).texts == ["a", "b", "c", "d"]


def test_counters_persist_over_phases() -> None:
    """A later count may be reached when its phase begins; the next event ends it."""
    config = phased(
        step("a", advance={"on": "tools/call", "count": 2}),
        step("b", advance={"on": "tools/call", "count": 2}),
        step("c"),
    )
    assert Piped(config).say(*[call()] * 4).texts == ["a", "a", "b", "c"]


def test_a_timer_during_an_answer_waits_for_it() -> None:
    config = phased(
        step("a", advance={"after": "20ms"}),
        step("b", on_enter=[{"send_notification": CHANGED}]),
        behavior={"delivery": {"type": "response_delay", "delay_ms": 50}},
    )
    client = Piped(config).say(call()).wait(100)
    assert [time for time, _ in client.writes] == [50, 50]
    assert client.texts[0] == "a"
    assert [each["t"] for each in client.traced("phase")] == [50]
    assert client.say(call()).wait(200).texts[-1] == "b"


def test_phases_of_no_time_follow_each_other_at_once() -> None:
    config = phased(*(step(each, advance={"after": "0s"}) for each in "abc"), step("d"))
    client = Piped(config).wait(0)
    assert [each["to"] for each in client.traced("phase")] == ["b", "c", "d"]


def test_the_first_phase_begins_when_the_client_can_listen() -> None:
    config = phased({"name": "a", "on_enter": [{"send_notification": CHANGED}, {"log": "in a"}]})
    client = Piped(config).say(INITIALIZE)
    assert len(client.frames) == 1
    assert client.say(INITIALIZED).frames[1]["method"] == CHANGED
    assert len(client.say(INITIALIZED).traced("log")) == 1
    late = Piped(config).say(INITIALIZE, LIST)
    assert [each.get("method") for each in late.frames] == [None, CHANGED, None]
    new = Piped(config, era="26").say(modern(LIST))
    assert [each.get("method") for each in new.frames] == [None, CHANGED]


def test_capabilities_of_a_phase_are_merged() -> None:
    config = phased(
        {"name": "a", "replace_capabilities": {"tools": {"listChanged": False}}},
        server={"name": "s", "capabilities": {"tools": {"listChanged": True}, "logging": {}}},
    )
    result = Piped(config).say(INITIALIZE).frames[0]["result"]
    assert result["capabilities"] == {"tools": {"listChanged": False}, "logging": {}}


def test_added_and_replaced_items_keep_their_places() -> None:
    config = phased({"name": "a", "add_tools": [tool("t", "new"), tool("v")]})
    config["baseline"]["tools"] = [tool("t", "old"), tool("u")]
    client = Piped(config).say(LIST, call())
    assert [each["name"] for each in client.texts[0]["tools"]] == ["t", "u", "v"]
    assert client.texts[1] == "new"


def test_a_continuous_effect_ends_with_its_phase() -> None:
    flood = {"type": "notification_flood", "trigger": "continuous", "rate_per_sec": 1}
    config = phased(
        {"name": "a", "advance": {"after": "3500ms"}, "behavior": {"side_effects": [flood]}},
        {"name": "b", "behavior": {}},
    )
    client = Piped(config).say(INITIALIZE).wait(20_000)
    assert [each["end"] for each in client.traced("effect")] == ["cancelled"]
    assert len(client.frames) == 1 + 4


def test_logging_follows_the_file() -> None:
    logging = {
        "on_request": True,
        "on_response": True,
        "on_phase_change": True,
        "on_trigger_match": True,
    }
    config = phased(step("a", advance={"on": "tools/call"}), step("b"), logging=logging)
    client = Piped(config).say(call())
    assert [text for _, text in client.logged] == [
        "request tools/call",
        "tools/call ends phase a",
        "answered tools/call",
        "phase b",
    ]


def test_a_queued_request_can_be_cancelled() -> None:
    client = Piped(delivery(type="response_delay", delay_ms=50)).say(call(3), call(4))
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}})
    assert [each["id"] for each in client.wait(500).frames] == [3]


def test_an_answer_that_has_begun_is_finished() -> None:
    client = Piped(delivery(type="slow_loris", byte_delay_ms=5, chunk_size=10)).say(call(3))
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    assert client.wait(500).sent == R3 + b"\n"


def test_frames_never_mix_inside_a_line() -> None:
    config = delivery(type="slow_loris", byte_delay_ms=10, chunk_size=10)
    flood = {"type": "notification_flood", "rate_per_sec": 100, "duration_sec": 1}
    config["behavior"]["side_effects"] = [flood]
    client = Piped(config).say(call()).wait(5_000)
    assert len(client.frames) > 1, "every line is JSON"
    assert R3 in client.sent


def test_only_sixty_four_effects_run_at_once() -> None:
    flood = {"type": "notification_flood", "rate_per_sec": 1, "duration_sec": 60}
    client = Piped(simple(behavior={"side_effects": [flood]}))
    client.say(*(call(number) for number in range(70)))
    assert [each["end"] for each in client.traced("effect")] == ["capped"] * 6


def test_listening_over_a_pipe() -> None:
    actions = [{"send_notification": CHANGED}]
    config = phased(
        {"name": "a", "advance": {"on": "resources/subscribe:x://a"}},
        {"name": "b", "on_enter": actions, "advance": {"on": "resources/unsubscribe"}},
        {"name": "c", "on_enter": actions},
    )
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["x://a"], "odd": 5}
    client = Piped(config, era="26").say(
        modern(request("subscriptions/listen", 7, notifications=wanted))
    )
    acknowledged, changed = client.frames
    assert acknowledged["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["x://a"],
    }
    assert changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 7
    client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert [each["to"] for each in client.traced("phase")] == ["b", "c"]
    assert "_meta" not in client.frames[-1].get("params", {}), "nothing listens any more"


def test_the_end_of_a_run_is_the_result_of_listening() -> None:
    client = Piped(simple(), era="26").say(modern(request("subscriptions/listen", 7)))
    client.engine.halt()
    assert client.wait(0).frames[-1]["id"] == 7


def test_a_run_without_metadata_or_with_a_handshake_is_refused_in_the_newer_revision() -> None:
    client = Piped(simple(), era="26").say(LIST, INITIALIZE, modern(INITIALIZE))
    assert client.texts == [-32602, -32022, None]
    assert client.frames[1]["error"]["data"]["supported"] == ["2026-07-28"]


# HTTP.


def test_sessions_have_a_state_of_their_own_and_end() -> None:
    async def script(web: Web) -> None:
        one = await web.connect()
        opened = await one.ask(INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await one.ask(call(), **session)).json["result"]["content"][0]["text"] == "a"
        other = await web.connect()
        assert (await other.ask(call(), **session)).json["result"]["content"][0]["text"] == "b"
        assert (await one.ask(call(), Mcp_Session_Id="unknown")).status == 404
        assert (await one.ask(call(), Mcp_Protocol_Version="1999-01-01")).status == 400
        assert (await one.send("DELETE", headers=session)).status == 200
        assert (await one.send("DELETE", headers=session)).status == 404
        assert (await one.send("PUT")).status == 405
        assert (await one.send("GET")).status == 405

    records = over_http(phased(step("a", advance={"on": "tools/call"}), step("b")), script)
    assert next(each["by"] for each in records if each["e"] == "gone") == "client"


def test_changes_go_to_the_stream_and_the_rest_before_the_result() -> None:
    actions = [{"send_notification": CHANGED}, {"send_notification": "notifications/message"}]
    config = phased(step("a", advance={"on": "tools/call"}), step("b", on_enter=actions))

    async def script(web: Web) -> None:
        one, stream = await web.connect(), await web.connect()
        opened = await one.ask(INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        events = {**session, "Accept": "text/event-stream"}
        assert (await stream.send("GET", headers=session)).status == 406
        listening = await stream.send("GET", headers=events, wait=0.05)
        assert (listening.status, listening.body) == (200, b"")
        assert (await one.ask(call(), **session)).json["id"] == 3
        frame = json.loads((await stream._chunk()).partition(b"data: ")[2])
        assert frame["method"] == CHANGED

    over_http(config, script)


def test_messages_without_a_way_wait_for_the_next_answer() -> None:
    actions = [{"send_notification": "notifications/message"}, {"send_request": {"method": "ping"}}]
    config = phased(step("a", advance={"on": "tools/call"}), step("b", on_enter=actions))

    async def script(web: Web) -> None:
        client = await web.connect()
        assert (await client.ask(call())).headers["content-type"] == "application/json"
        answer = await client.ask(call())
        assert [each.get("method") for each in answer.events] == [
            "notifications/message",
            "ping",
            None,
        ]
        pong = {"jsonrpc": "2.0", "id": "srv-1", "result": {}}
        assert (await client.ask(pong)).status == 202
        assert [each["id"] for each in web.traced("answer")] == ["srv-1"]

    over_http(config, script)


def test_a_client_that_takes_no_events_gets_no_flood() -> None:
    async def script(web: Web) -> None:
        client = await web.connect()
        answer = await client.ask(call(), Accept="application/json")
        assert answer.body == R3
        assert [each["end"] for each in web.traced("effect")] == ["skipped"]

    flood = {"type": "notification_flood", "rate_per_sec": 10, "duration_sec": 1}
    over_http(simple(behavior={"side_effects": [flood]}), script)


def test_two_paths_are_two_clients_in_the_newer_revision() -> None:
    async def script(web: Web) -> None:
        client = await web.connect()
        headers = {
            "Mcp-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "=?base64?dA==?=",
        }
        said = []
        for path in ("/mcp/a", "/mcp/a", "/mcp/b"):
            body = json.dumps(modern(call())).encode()
            answer = await client.send("POST", body, headers, path)
            said.append(answer.json["result"]["content"][0]["text"])
        assert said == ["a", "b", "a"]

    over_http(phased(step("a", advance={"on": "tools/call"}), step("b")), script, era="auto")


CLOSES = {"content-length": "0", "connection": "close"}


def test_broken_requests_of_http_end_the_connection() -> None:
    wrong = {
        b"GARBAGE\r\n\r\n": 400,
        b"GET /mcp HTTP/1.1\r\nno colon\r\n\r\n": 400,
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n": 501,
        b"POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n": 400,
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"z" * 2_000: 400,
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n": 413,
        b"POST /mcp HTTP/1.1\r\n" + b"x: y\r\n" * 20_000: 431,
    }

    async def script(web: Web) -> None:
        for data, status in wrong.items():
            client = await web.connect()
            client.writer.write(data)
            answer = await client.read()
            assert (answer.status, answer.headers) == (status, CLOSES), data[:60]
            assert await client.reader.read() == b""
            number, what = len(web.records), "oversized" if status == 413 else "malformed"
            assert web.records[-1] == {"n": number, "t": 0, "e": "violation", "what": what}
        assert len(web.records) == len(wrong)

    over_http(simple(), script)


def test_requests_may_come_in_pieces_in_chunks_and_together() -> None:
    body = json.dumps(call()).encode()
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
    sized = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + body[:5] + b"\r\n"
    chunked += b"%x;ext=1\r\n" % (len(body) - 5) + body[5:] + b"\r\n0\r\n\r\n"

    async def script(web: Web) -> None:
        client = await web.connect()
        for number in range(0, len(sized), 40):
            client.writer.write(sized[number : number + 40])
            await client.writer.drain()
        assert (await client.read()).body == R3
        client.writer.write(chunked + sized + b"\r\n" + sized)
        for _ in range(3):
            assert (await client.read()).body == R3
        expecting = sized.replace(b"Accept", b"Expect: 100-continue\r\nAccept")
        client.writer.write(expecting[:-20])
        go_on = b"HTTP/1.1 100 Continue\r\n\r\n"
        assert await client.reader.readexactly(len(go_on)) == go_on
        client.writer.write(expecting[-20:-10])
        await asyncio.sleep(0.02)
        client.writer.write(expecting[-10:])
        assert (await client.read()).body == R3, "it is said once"

    over_http(simple(), script)


def test_a_client_that_leaves_cancels_its_answer() -> None:
    async def script(web: Web) -> None:
        web.driver.virtual = False
        client = await web.connect()
        answer = await client.ask(call(), wait=0.05)
        assert not answer.is_whole
        await client.close()
        for _ in range(100):
            if web.traced("send"):
                break
            await web.connect()
        assert [each["completed"] for each in web.traced("send")] == [False]
        assert [each["method"] for each in web.traced("lost")] == ["tools/call"]

    over_http(delivery(type="slow_loris", byte_delay_ms=100, chunk_size=10), script)


def test_a_held_answer_does_not_end_before_the_cap() -> None:
    async def script(web: Web) -> None:
        web.driver.virtual = False
        client = await web.connect()
        answer = await client.ask(request("foo/bar"), wait=0.1)
        assert (answer.body, answer.is_whole) == (b"", False)

    over_http(simple(unknown_methods="drop"), script)


def test_odd_answers_over_http() -> None:
    async def script(web: Web) -> None:
        answer = await (await web.connect()).ask(call())
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.body.count(b"event: message") == 2

    over_http(simple(behavior={"x-equipage": {"type": "repeated"}}), script)
