"""Every probe of the fact sheet, against the bytes: over pipes and over HTTP, in virtual time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from clock import HANGS
from equipage_faults.caps import Caps
from faultlab import (
    INITIALIZE,
    INITIALIZED,
    LIST,
    R3,
    Piped,
    Web,
    call,
    delivery,
    effect,
    modern,
    over_http,
    phased,
    request,
    simple,
    tool,
)

# Messages on a pipe.


def test_F01_a_call_is_answered_in_compact_json() -> None:
    assert Piped(simple()).say(INITIALIZE, call()).sent.split(b"\n", 1)[1] == R3 + b"\n"


def test_F02_what_is_no_message_gets_no_answer() -> None:
    client = Piped(simple()).raw(b"\n\r\n{}{}\n[{}]\n\xff\n").say(LIST)
    assert [each["id"] for each in client.frames] == [2]
    assert len(client.traced("violation")) == 3 + 1  # and a request before the handshake


def test_F03_the_last_line_needs_no_line_feed() -> None:
    client = Piped(simple()).raw(json.dumps(LIST).encode(), eof=True)
    assert [each["id"] for each in client.frames] == [2]


def test_F04_a_line_beyond_ten_mebibytes_is_skipped() -> None:
    long = b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"a" * 10_485_760 + b'"}\n'
    client = Piped(simple()).say(INITIALIZE).raw(long).say(LIST)
    assert [each["id"] for each in client.frames] == [0, 2]
    assert [each["what"] for each in client.traced("violation")] == ["oversized"]


def test_F05_any_id_comes_back_as_it_was_written() -> None:
    client = Piped(simple()).say(INITIALIZE)
    for number in (b'"a"', b"null", b"1.50"):
        client.raw(b'{"jsonrpc":"2.0","id":' + number + b',"method":"tools/list"}\n')
    ids = [each.partition(b'"id":')[2].partition(b",")[0] for each in client.sent.split(b"\n")[1:4]]
    assert ids == [b'"a"', b"null", b"1.50"]
    assert [each["what"] for each in client.traced("violation")] == ["bad id", "bad id"]


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")],
    ids=["a known revision is spoken", "an unknown one gets the newest"],
)
def test_F06_revisions_are_negotiated(asked: str, given: str) -> None:
    client = Piped(simple()).say(request("initialize", protocolVersion=asked))
    assert client.frames[0]["result"]["protocolVersion"] == given


def test_F07_small_methods_have_empty_answers() -> None:
    client = Piped(simple()).say(
        INITIALIZE,
        request("ping"),
        request("completion/complete"),
        request("resources/templates/list"),
    )
    assert [each["result"] for each in client.frames[1:]] == [
        {},
        {"completion": {"values": [], "hasMore": False}},
        {"resourceTemplates": []},
    ]


def test_F08_an_unknown_tool_is_an_error() -> None:
    client = Piped(simple()).say(call(name="zz"), request("tools/call"))
    assert client.texts == [-32602, -32602]


@pytest.mark.parametrize(
    ("policy", "answers"),
    [("ignore", [None, "list"]), ("error", [-32601, "list"]), ("drop", ["list"])],
)
def test_F09_F10_F11_unknown_methods_follow_the_policy(policy: str, answers: list[Any]) -> None:
    client = Piped(simple(unknown_methods=policy)).say(request("foo/bar"), LIST)
    said = ["list" if isinstance(each, dict) else each for each in client.texts]
    assert said == answers


def test_F12_the_older_revision_knows_no_discovery() -> None:
    client = Piped(simple(unknown_methods="ignore")).say(request("server/discover"))
    assert client.texts == [-32601]


def test_F13_discovery_names_both_revisions() -> None:
    client = Piped(simple(), era="auto").say(modern(request("server/discover")))
    result = client.frames[0]["result"]
    assert {"2026-07-28", "2025-11-25"} <= set(result["supportedVersions"])
    assert (result["ttlMs"], result["resultType"]) == (0, "complete")


def test_F14_results_of_the_newer_revision_say_who_answers() -> None:
    result = Piped(simple(), era="26").say(modern(call())).frames[0]["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "s"


def test_F20_capabilities_are_those_of_the_file() -> None:
    config = simple(server={"name": "s", "capabilities": {"logging": {}}})
    assert b'"capabilities":{"logging":{}}' in Piped(config).say(INITIALIZE).sent


# Deliveries.


def test_F21_bytes_drip() -> None:
    client = Piped(delivery(type="slow_loris", byte_delay_ms=5, chunk_size=10)).say(call())
    client.wait(100)
    assert client.times == [0, 5, 10, 15, 20, 25, 30, 35]
    assert client.sent == R3 + b"\n"
    assert len(client.sent) == 76


def test_F22_drips_without_a_pause_are_still_drips() -> None:
    client = Piped(delivery(type="slow_loris", byte_delay_ms=0, chunk_size=0)).say(call())
    assert client.times == [0] * 76


def test_F23_a_line_is_padded_and_never_ends() -> None:
    client = Piped(delivery(type="unbounded_line", target_bytes=100)).say(call())
    assert client.sent == R3 + b"A" * 25


def test_F24_padding_may_end_inside_a_character() -> None:
    config = delivery(type="unbounded_line", target_bytes=80, padding_char="é")
    assert Piped(config).say(call()).sent == R3 + "éé".encode() + b"\xc3"


def test_F26_an_answer_is_wrapped() -> None:
    client = Piped(delivery(type="nested_json", depth=2)).say(call())
    assert client.sent == b'{"a":{"a":' + R3 + b"}}\n"
    assert len(client.sent) == 88


def test_F27_depth_has_a_cap() -> None:
    client = Piped(delivery(type="nested_json", depth=9_000_000)).say(LIST)
    assert client.sent.startswith(b'{"a":' * 100_000 + b'{"jsonrpc"')
    assert client.sent.endswith(b"}" * 100_000 + b"\n")


def test_F28_answers_wait_one_after_the_other() -> None:
    client = Piped(delivery(type="response_delay", delay_ms=50)).say(call(), LIST).wait(200)
    assert client.times == [50, 100]


def test_F29_a_cancelled_answer_is_dropped() -> None:
    client = Piped(delivery(type="response_delay", delay_ms=50)).say(call())
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}
    client.say(cancelled, at=10).wait(200)
    assert client.writes == []
    assert [each["completed"] for each in client.traced("send")] == [False]


def test_F30_a_signal_stops_drips_at_once() -> None:
    config = delivery(type="slow_loris", byte_delay_ms=5, chunk_size=10)
    client = Piped(config).say(call()).wait(12)
    client.engine.halt()
    assert client.wait(100).sent == R3[:30]


# Side effects.


def test_F31_a_flood_keeps_its_rate_and_the_answer_does_not_wait() -> None:
    config = effect(type="notification_flood", rate_per_sec=10, duration_sec=1)
    client = Piped(config).say(call()).wait(5_000)
    flood = [(time, data) for time, data in client.writes if data != R3 + b"\n"]
    assert [time for time, _ in flood] == [each * 100 for each in range(10)]
    assert {len(data) for _, data in flood} == {51}
    assert client.writes[1] == (0, R3 + b"\n")


def test_F33_a_rate_of_zero_is_one_frame() -> None:
    config = effect(type="notification_flood", rate_per_sec=0, duration_sec=1)
    client = Piped(config).say(call()).wait(5_000)
    assert len(client.frames) == 2


def test_F34_a_batch_is_one_line() -> None:
    client = Piped(effect(type="batch_amplify", batch_size=3)).say(call())
    batch, answer, _ = client.sent.split(b"\n")
    assert len(batch) + 1 == 155
    assert answer == R3


def test_F35_requests_with_one_id_and_their_answers() -> None:
    client = Piped(effect(type="duplicate_request_ids", count=2, id=3)).say(call())
    one, two, answer, _ = client.sent.split(b"\n")
    assert one == two
    assert (len(one) + 1, answer) == (47, R3)
    for _ in range(2):
        client.say({"jsonrpc": "2.0", "id": 3, "result": {}})
    assert len(client.traced("answer")) == 2


def test_F36_a_filled_pipe_shares_the_line_of_the_answer() -> None:
    client = Piped(effect(type="pipe_deadlock", fill_bytes=5_000)).say(call())
    assert client.sent == b"X" * 5_000 + R3 + b"\n"


def test_a_pipe_is_filled_in_pieces_and_nothing_is_read_meanwhile() -> None:
    client = Piped(effect(type="pipe_deadlock", fill_bytes=4_097))
    client.engine.receive(client.connection, json.dumps(call()).encode(), client.channel)
    assert list(client.channel.outbox) == [b"X" * 4_096, b"X"]
    assert client.link.reading is False
    assert client.wait(0).sent == b"X" * 4_097 + R3 + b"\n"
    assert client.link.reading is True
    assert [each["bytes"] for each in client.traced("effect")] == [4_097]


@pytest.mark.parametrize(("size", "frames"), [(70_000, [1] * 8), (30_000, [1, 2, 2, 2, 1])])
def test_a_flood_writes_about_64_kibibytes_at_once(size: int, frames: list[int]) -> None:
    config = effect(
        type="notification_flood", rate_per_sec=4_000, duration_sec=1, params={"x": "y" * size}
    )
    client = Piped(config, caps=Caps(flood_ms=2)).say(call()).wait(10)
    sizes = [data.count(b"notifications/message") for _, data in client.writes]
    assert [each for each in sizes if each] == frames


def test_F38_a_graceful_close_comes_after_the_answer() -> None:
    client = Piped(effect(type="close_connection")).say(call(), LIST)
    assert client.sent == R3 + b"\n"
    assert client.link.closed == "graceful"


def test_F39_a_forced_close_comes_before_it() -> None:
    config = delivery(type="response_delay", delay_ms=9)
    config["behavior"]["side_effects"] = [{"type": "close_connection", "graceful": False}]
    client = Piped(config).say(call()).wait(100)
    assert (client.sent, client.link.closed) == (b"", "forced")


def test_F41_a_connection_may_close_when_it_is_open() -> None:
    client = Piped(effect(type="close_connection", trigger="on_connect")).say(INITIALIZE, LIST)
    assert [each["id"] for each in client.frames] == [0]
    assert client.link.closed == "graceful"


def test_F42_a_continuous_flood_starts_after_the_handshake() -> None:
    config = effect(type="notification_flood", trigger="continuous", rate_per_sec=1, duration_sec=9)
    client = Piped(config).wait(3_000).say(INITIALIZE).wait(60_000)
    assert client.frames[0]["id"] == 0
    assert client.times == [3_000, *(3_000 + 1_000 * each for each in range(9))]


def test_F43_an_effect_of_unsubscribing() -> None:
    own = {"type": "batch_amplify", "batch_size": 1, "trigger": "on_unsubscribe"}
    config = simple(
        resources=[{"resource": {"uri": "x://a", "name": "a"}, "behavior": {"side_effects": [own]}}]
    )
    client = Piped(config).say(
        request("resources/subscribe", uri="x://a"),
        request("resources/unsubscribe", 2, uri="x://a"),
    )
    assert [isinstance(each, list) for each in client.frames] == [False, True, False]


def test_F44_the_behaviour_of_a_tool_replaces_all_others() -> None:
    config = delivery(type="response_delay", delay_ms=5)
    config["tools"] = [{**tool(), "behavior": {}}]
    assert Piped(config).say(call(), LIST).wait(50).times == [0, 5]


# Phases.

YO = {"replace_tools": {"t": tool(text="yo")}}


def test_F45_a_phase_ends_after_its_calls() -> None:
    config = phased({"name": "a", "advance": {"on": "tools/call", "count": 2}}, {"name": "b", **YO})
    client = Piped(config).say(call(), call(), call())
    assert client.texts == ["hi", "hi", "yo"]
    moved, answered = client.traced("phase"), client.traced("send")
    assert answered[1]["n"] < moved[0]["n"] < answered[2]["n"]


def test_F46_a_phase_ends_with_one_tool_and_changes_the_list() -> None:
    config = phased(
        {"name": "a", "advance": {"on": "tools/call:t"}},
        {"name": "b", "remove_tools": ["t"], "add_tools": [tool("v", "z")]},
    )
    client = Piped(config).say(call(name="x"), call(), LIST, call())
    assert client.texts[:2] == [-32602, "hi"]
    assert [each["name"] for each in client.texts[2]["tools"]] == ["v"]
    assert client.texts[3] == -32602


def test_F47_events_that_do_not_match_count_too() -> None:
    trigger = {"on": "tools/call", "count": 2, "match": {"args.q": "x"}}
    client = Piped(phased({"name": "a", "advance": trigger}, {"name": "b"}))
    phases = [len(client.say(call(q=each)).traced("phase")) for each in ("x", "y", "x")]
    assert phases == [0, 0, 1]


def test_F48_values_match_by_type() -> None:
    trigger = {"on": "tools/call", "match": {"args.q": 5}}
    client = Piped(phased({"name": "a", "advance": trigger}, {"name": "b"}))
    phases = [len(client.say(call(q=each)).traced("phase")) for each in ("5", 5.0, 5)]
    assert phases == [0, 0, 1]


def test_F49_a_timer_sends_at_once() -> None:
    actions = [{"send_notification": "notifications/tools/list_changed"}, {"log": "x"}]
    config = phased({"name": "a", "advance": {"after": "10s"}}, {"name": "b", "on_enter": actions})
    client = Piped(config).wait(20_000)
    assert client.writes == [
        (10_000, b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
    ]
    assert client.logged == [(10_000, "x")]


@pytest.mark.parametrize(
    ("at", "cause"),
    [(5_000, "event"), (5_001, "timeout")],
    ids=["at the deadline the event counts", "after it the time does"],
)
def test_F50_an_event_at_the_deadline_counts(at: int, cause: str) -> None:
    trigger = {"on": "tools/list", "timeout": "5s"}
    client = Piped(phased({"name": "a", "advance": trigger}, {"name": "b"})).say(LIST, at=at)
    assert [(each["t"], each["by"]) for each in client.traced("phase")] == [
        (at if cause == "event" else 5_000, cause)
    ]


def test_F51_a_timeout_may_end_the_run() -> None:
    trigger = {"on": "tools/list", "timeout": "5s", "on_timeout": "abort"}
    client = Piped(phased({"name": "a", "advance": trigger}, {"name": "b"})).wait(9_000)
    assert [each["t"] for each in client.traced("abort")] == [5_000]
    assert client.engine.stopped == "abort"


def test_F52_a_phase_may_begin_with_a_request() -> None:
    action = {"send_request": {"method": "ping"}}
    config = phased(
        {"name": "a", "advance": {"on": "initialized"}}, {"name": "b", "on_enter": [action]}
    )
    client = Piped(config).say(INITIALIZE)
    assert len(client.frames) == 1
    assert client.say(INITIALIZED).frames[1] == {"jsonrpc": "2.0", "id": "srv-1", "method": "ping"}


def test_F53_the_last_phase_stays() -> None:
    client = Piped(phased({"name": "a", "advance": {"on": "tools/list"}})).say(LIST, LIST)
    assert len(client.frames) == 2
    assert [each["phase"] for each in client.traced("no_next")] == ["a"]


# Answers that depend on the request.


def test_F56_templates_are_filled() -> None:
    text = "$${phase.name}/$${tool.call_count}/$${args.a[-1]}/$${fn.default(args.z, k)}"
    client = Piped(simple(tools=[tool(text=text)])).say(call(a=[1, 2]))
    assert client.texts == ["baseline/1/2/k"]


def test_F57_the_environment_stays_here() -> None:
    client = Piped(simple(tools=[tool(text="$${env.HOME}")])).say(call())
    assert client.texts == [""]
    assert [each["name"] for each in client.traced("env_refused")] == ["HOME"]


def text_of(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def test_F58_a_sequence_may_end_in_an_error() -> None:
    own = tool(sequence=[text_of("a"), text_of("b")], onExhausted="error")
    client = Piped(simple(tools=[own])).say(call(), call(), call())
    assert client.texts == ["a", "b", -32000]


def test_F59_the_first_branch_that_fits_answers() -> None:
    own = tool(
        match=[
            {"when": {"args.q": "*.env", "args.n": {"gt": 3}}, **text_of("A")},
            {"default": True, **text_of("B")},
        ]
    )
    client = Piped(simple(tools=[own])).say(call(q="a.env", n=4), call(q="a.env", n=3), call())
    assert client.texts == ["A", "B", "B"]


def test_F61_payloads_are_equal_each_time_and_never_held() -> None:
    import tracemalloc

    payload = {"$generate": {"type": "garbage", "bytes": "2mb", "seed": 7}}
    client = Piped(simple(tools=[tool(content=[{"type": "text", "text": payload}])]))
    client.say(INITIALIZE)
    seen: list[bytes] = []
    most = 0
    for _ in range(2):
        client.writes.clear()
        client.say(call())
        seen.append(client.sent)
    assert seen[0] == seen[1]
    assert len(json.loads(seen[0])["result"]["content"][0]["text"]) > 2_000_000
    client._flush = lambda: client.channel.outbox.clear()  # type: ignore[method-assign]
    client.channel.waiting_bytes = -(2**40)  # a reader that takes everything
    tracemalloc.start()
    client.engine.receive(client.connection, json.dumps(call()).encode(), DRAIN(client))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_048_576


def DRAIN(client: Piped) -> Any:
    """A channel that forgets what it is given."""
    channel = client.channel
    channel.put = lambda item: None  # type: ignore[method-assign]
    return channel


def test_F63_a_trace_is_the_same_twice() -> None:
    config = simple(tools=[tool(text="$${fn.uuid()} $${fn.timestamp()}")])
    runs = [Piped(config, seed=1).say(INITIALIZE, call(), LIST) for _ in range(2)]
    assert runs[0].trace == runs[1].trace
    assert runs[0].sent == runs[1].sent
    assert Piped(config, seed=2).say(INITIALIZE, call()).sent != runs[0].sent


# HTTP.


def test_F15_F16_F17_refusals_of_the_newer_revision() -> None:
    async def script(web: Web) -> None:
        client = await web.connect()
        answer = await client.ask(modern(call(), "1900-01-01"))
        assert (answer.status, answer.json["error"]["code"]) == (400, -32022)
        answer = await client.ask(modern(call()), Mcp_Name="x")
        assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
        answer = await client.ask(modern(request("foo/bar")))
        assert (answer.status, answer.json["error"]["code"]) == (404, -32601)
        assert (await client.send("GET", headers={"Accept": "text/event-stream"})).status == 405

    over_http(simple(unknown_methods="error"), script, era="26")


def test_F18_F19_who_may_ask_and_what() -> None:
    async def script(web: Web) -> None:
        client = await web.connect()
        assert (await client.ask(LIST, Host="example.org")).status == 403
        assert (await client.ask(LIST, Origin="http://example.org")).status == 403
        assert (await client.ask(LIST, Host="[::1]:80", Origin="http://localhost:1")).status == 200
        assert (await client.ask(INITIALIZED)).status == 202
        answer = await client.ask(b"")
        assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (
            400,
            -32700,
            None,
        )
        client.writer.write(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11534336\r\n\r\n"
        )
        assert (await client.read()).status == 413

    over_http(simple(), script)


#: What a client sends, and the first line and the last bytes of what it gets.
ODD_REQUESTS = {
    "an answer to HEAD has no body": (b"HEAD /mcp HTTP/1.1\r\n", b"", b"405", b"\r\n\r\n"),
    "a chunk whose size is no number": (
        b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        b"zz\r\n",
        b"400",
        b"Connection: close\r\n\r\n",
    ),
    "a length beyond every limit": (
        b"POST /mcp HTTP/1.1\r\nContent-Length: 1000000000000\r\n",
        b"",
        b"413",
        b"Connection: close\r\n\r\n",
    ),
}


@pytest.mark.parametrize("case", ODD_REQUESTS)
def test_odd_requests_are_answered_at_once(case: str) -> None:
    head, body, status, end = ODD_REQUESTS[case]

    async def script(web: Web) -> None:
        client = await web.connect()
        client.writer.write(head + b"Host: localhost\r\n\r\n" + body)
        got = await asyncio.wait_for(client.reader.read(65_536), HANGS)
        assert got.split()[1] == status
        assert got.endswith(end)

    over_http(simple(), script)


def test_F25_an_unbounded_answer_does_not_end_before_the_cap() -> None:
    async def script(web: Web) -> None:
        web.driver.virtual = False
        client = await web.connect()
        answer = await client.ask(call(), wait=0.3)
        assert (answer.body, answer.is_whole) == (R3, False)

    over_http(delivery(type="unbounded_line"), script)


def test_F32_the_answer_ends_its_stream() -> None:
    async def script(web: Web) -> None:
        client = await web.connect()
        answer = await client.ask(call())
        assert answer.headers["content-type"] == "text/event-stream"
        assert [each.get("id") for each in answer.events] == [None] * 10 + [3]
        assert answer.is_whole

    over_http(effect(type="notification_flood", rate_per_sec=10, duration_sec=1), script)


def test_F37_a_pipe_cannot_be_filled_over_http() -> None:
    async def script(web: Web) -> None:
        answer = await (await web.connect()).ask(call())
        assert answer.body == R3
        assert [each["end"] for each in web.traced("effect")] == ["skipped"]

    over_http(effect(type="pipe_deadlock", fill_bytes=5_000), script)


def test_F40_a_reset_is_for_one_connection() -> None:
    async def script(web: Web) -> None:
        one, other = await web.connect(), await web.connect()
        with pytest.raises(ConnectionResetError):
            await one.ask(call())
        assert (await other.send("GET", path="/elsewhere")).status == 404

    config = delivery(type="response_delay", delay_ms=9)
    config["behavior"]["side_effects"] = [{"type": "close_connection", "graceful": False}]
    over_http(config, script)


@pytest.mark.parametrize(
    ("scope", "said"),
    [("global", ["hi", "hi", "hi", "yo"]), ("per_connection", ["hi", "hi", "hi", "hi", "yo"])],
)
def test_F54_F55_connections_share_a_phase_or_not(scope: str, said: list[str]) -> None:
    trigger = {"on": "tools/call", "count": 3}
    config = phased({"name": "a", "advance": trigger}, {"name": "b", **YO})
    config["server"] = {"name": "s", "state_scope": scope}
    heard: list[str] = []

    async def script(web: Web) -> None:
        one, other = await web.connect(), await web.connect()
        for client in (one, one, other, one, one)[: len(said)]:
            answer = await client.ask(call())
            heard.append(answer.json["result"]["content"][0]["text"])

    over_http(config, script)
    assert heard == said


def test_F64_a_listening_client_hears_of_a_change() -> None:
    actions = [{"send_notification": "notifications/tools/list_changed"}]
    config = phased({"name": "a", "advance": {"after": "10s"}}, {"name": "b", "on_enter": actions})
    listen = request("subscriptions/listen", 9, notifications={"toolsListChanged": True})

    async def script(web: Web) -> None:
        client = await web.connect()
        answer = await client.ask(modern(listen), wait=0.1)
        assert [each["method"] for each in answer.events] == [
            "notifications/subscriptions/acknowledged"
        ]
        web.advance(10_000)
        data = await client._chunk()
        frame = json.loads(data.partition(b"data: ")[2])
        assert frame["method"] == "notifications/tools/list_changed"
        assert frame["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": 9}
        assert [each["t"] for each in web.traced("phase")] == [10_000]

    over_http(config, script, era="26")
