"""The edge cases of phases that the format's own description numbers, EC-PHASE-001 to 033."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

import equipage
from faultlab import INITIALIZE, LIST, Piped, Web, call, delivery, over_http, phased, request, tool

CHANGED = "notifications/tools/list_changed"
RESOURCE = {"resource": {"uri": "x://a", "name": "a"}, "response": {"content": "r"}}
PROMPT = {
    "prompt": {"name": "p"},
    "response": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]},
}


def advance(**trigger: Any) -> dict[str, Any]:
    """Two phases: `a` until the trigger fires, then `b`, in which the tool says so."""
    return phased({"name": "a", "advance": trigger}, {"name": "b", "replace_tools": {"t": B}})


B = tool(text="b")

# What a load says: the number, the configuration, and the codes of its findings.

LOADED: dict[int, tuple[dict[str, Any], set[str]]] = {
    1: (phased({"name": "a"}, {"name": "b"}), {"unreachable-phases"}),
    2: (phased(), set()),
    5: (advance(on="tools/call", count=0), {"count-zero"}),
    15: (
        phased(
            {"name": "a", "add_tools": [tool("n")], "advance": {"on": "tools/call"}},
            {"name": "b", "replace_tools": {"n": tool("n")}},
        ),
        {"unknown-target"},
    ),
    16: (
        phased(
            {"name": "a", "remove_tools": ["t"], "advance": {"on": "tools/list"}},
            {"name": "b", "remove_tools": ["t"]},
        ),
        set(),
    ),
    18: (advance(after="24h"), {"long-duration"}),
    19: (advance(after="-5s"), {"invalid-duration"}),
    20: (phased({"name": "Phase – 1 / ünïcode"}), set()),
    23: (advance(on="tools/call", match={"args.q": {"regex": "(["}}), {"regex-invalid"}),
}


@pytest.mark.parametrize("number", LOADED)
def test_what_a_load_says(number: int) -> None:
    config, codes = LOADED[number]
    report = equipage.check_files({"server.yaml": json.dumps(config).encode()})
    assert {str(each.code) for each in report.diagnostics} == codes


# What a client sees: the number, the configuration, its messages, and what the tool says to each.

QUERY = {"on": "tools/call"}
Q = "args.q"
SEEN: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[Any]]] = {
    "1: the first phase is the last": (phased({"name": "a"}), [call(), call()], ["hi", "hi"]),
    "2: no phases": (phased(), [call(), call()], ["hi", "hi"]),
    "4: events are counted apart": (
        advance(on="tools/call", count=2),
        [call(), call(name="x"), call()],
        ["hi", -32602, "b"],
    ),
    "4: other methods do not count": (
        advance(on="tools/call:t", count=2),
        [call(), call(name="x"), call(), call()],
        ["hi", -32602, "hi", "b"],
    ),
    "10: a step for each request": (
        phased(
            *(
                {"name": each, "replace_tools": {"t": tool(text=each)}, "advance": QUERY}
                for each in "xyz"
            ),
            {"name": "b", "replace_tools": {"t": B}},
        ),
        [call()] * 4,
        ["x", "y", "z", "b"],
    ),
    "11: a field that is missing": (
        advance(**QUERY, match={Q: "x"}),
        [call(), call(r="x"), call(q="x"), call()],
        ["hi", "hi", "hi", "b"],
    ),
    "12: a number is not its text": (
        advance(**QUERY, match={Q: 5}),
        [call(q="5"), call(q=5), call()],
        ["hi", "hi", "b"],
    ),
    "24: `contains` looks into texts only": (
        advance(**QUERY, match={Q: {"contains": "5"}}),
        [call(q=5), call(q=["5"]), call(q="15"), call()],
        ["hi", "hi", "hi", "b"],
    ),
    "26: `any_of` compares types, too": (
        advance(**QUERY, match={Q: {"any_of": [1, "x"]}}),
        [call(q=True), call(q="1"), call(q=1.5), call(q="x"), call()],
        ["hi", "hi", "hi", "hi", "b"],
    ),
    "32: two events are two phases": (
        phased(
            {"name": "a", "advance": {"on": "tools/list"}},
            {"name": "a2", "advance": {"on": "prompts/list"}},
            {"name": "b", "replace_tools": {"t": B}},
        ),
        [request("prompts/list"), call(), LIST, call(), request("prompts/list"), call()],
        ["hi", "hi", "b"],
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_a_client_sees(name: str) -> None:
    config, messages, texts = SEEN[name]
    client = Piped(config).say(*messages)
    assert [each for each in client.texts if isinstance(each, str | int)] == texts


#: Events besides calls of tools: the trigger, a message that is none, and one that is.
EVENTS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "27: the URI of a resource that is read": (
        {"on": "resources/read", "match": {"uri": {"suffix": "a"}}},
        request("resources/read", uri="x://b"),
        request("resources/read", uri="x://a"),
    ),
    "28: a subscription": (
        {"on": "resources/subscribe:x://a"},
        request("resources/subscribe", uri="x://b"),
        request("resources/subscribe", uri="x://a"),
    ),
    "31: the end of a subscription": (
        {"on": "resources/unsubscribe"},
        request("resources/subscribe", uri="x://a"),
        request("resources/unsubscribe", uri="x://a"),
    ),
    "29: an argument of a prompt": (
        {"on": "prompts/get", "match": {"arguments.x": "1"}},
        request("prompts/get", name="p", arguments={"x": "2"}),
        request("prompts/get", name="p", arguments={"x": "1"}),
    ),
    "30: another prompt": (
        {"on": "prompts/get:p"},
        request("prompts/get", name="q"),
        request("prompts/get", name="p"),
    ),
}


@pytest.mark.parametrize("name", EVENTS)
def test_other_events(name: str) -> None:
    trigger, other, event = EVENTS[name]
    config = advance(**trigger)
    config["baseline"] |= {"resources": [RESOURCE], "prompts": [PROMPT]}
    client = Piped(config).say(other)
    assert not client.traced("phase")
    assert [each["to"] for each in client.say(event).traced("phase")] == ["b"]


# Cases with a time.


def test_3_a_trigger_during_a_slow_answer_takes_effect_after_it() -> None:
    slow = delivery(type="response_delay", delay_ms=50)["behavior"]
    client = Piped({**advance(on="tools/call"), "behavior": slow}).say(call(), call()).wait(200)
    assert client.texts == ["hi", "b"]
    assert [each["t"] for each in client.traced("phase")] == [50]


def test_6_a_timer_between_requests_acts_at_once() -> None:
    entered = {"name": "b", "on_enter": [{"send_notification": CHANGED}]}
    client = Piped(phased({"name": "a", "advance": {"after": "10s"}}, entered))
    client.say(INITIALIZE).wait(9_999)
    assert len(client.frames) == 1
    assert client.wait(10_000).frames[1]["method"] == CHANGED


@pytest.mark.parametrize(("policy", "stopped"), [("advance", False), ("abort", True)])
def test_7_an_event_that_never_comes(policy: str, stopped: bool) -> None:
    client = Piped(advance(on="tools/list", timeout="5s", on_timeout=policy)).wait(5_000)
    assert (client.engine.stopped is not None) is stopped
    assert [each["by"] for each in client.traced("phase")] == ([] if stopped else ["timeout"])


@pytest.mark.parametrize(("at", "by"), [(5_000, "event"), (5_001, "timeout")])
def test_8_an_event_at_the_deadline_is_in_time(at: int, by: str) -> None:
    client = Piped(advance(on="tools/list", timeout="5s")).say(LIST, at=at)
    assert [each["by"] for each in client.traced("phase")] == [by]


def test_9_an_action_that_fails_does_not_stop_the_others() -> None:
    """Over HTTP, a request of the server has no way while no stream is open."""
    actions = [{"send_request": {"method": "ping"}}, {"log": "afterwards"}]
    config = phased({"name": "a", "advance": {"on": "tools/list"}}, {"name": "b"})
    config["phases"][1]["on_enter"] = actions

    async def script(web: Web) -> None:
        client = await web.connect()
        await client.ask(LIST)
        assert (await client.ask(call())).status == 200
        assert [each["to"] for each in web.traced("phase")] == ["b"]
        assert web.traced("log")

    over_http(config, script)


def test_13_a_request_during_entry_actions_sees_the_new_phase() -> None:
    config = advance(on="tools/call")
    config["phases"][1]["on_enter"] = [{"send_notification": CHANGED}] * 3
    client = Piped(config).raw((json.dumps(call()) + "\n" + json.dumps(call()) + "\n").encode())
    methods = [each.get("method") for each in client.frames]
    assert methods == [None, CHANGED, CHANGED, CHANGED, None]
    assert client.texts[-1] == "b"


def test_14_a_restart_forgets_everything() -> None:
    config = advance(on="tools/call")
    assert Piped(config).say(call(), call()).texts == ["hi", "b"]
    assert Piped(config).say(call(), call()).texts == ["hi", "b"]


def test_17_partial_capabilities_are_merged() -> None:
    config = phased(
        {"name": "a", "replace_capabilities": {"prompts": {"listChanged": True}}},
        server={"name": "s", "capabilities": {"tools": {"listChanged": True}}},
    )
    found = Piped(config).say(INITIALIZE).frames[0]["result"]["capabilities"]
    assert found == {"tools": {"listChanged": True}, "prompts": {"listChanged": True}}


def test_18_a_day_is_a_day() -> None:
    day = 24 * 3_600_000
    client = Piped(advance(after="24h")).wait(day - 1)
    assert not client.traced("phase")
    assert [each["t"] for each in client.wait(day).traced("phase")] == [day]


# Several clients.


@pytest.mark.parametrize(
    ("number", "scope", "texts"),
    [(21, "per_connection", ["hi", "hi", "hi", "hi"]), (22, "global", ["hi", "hi", "hi", "b"])],
)
def test_clients_share_a_phase_or_not(number: int, scope: str, texts: list[str]) -> None:
    config = advance(on="tools/call", count=3)

    async def script(web: Web) -> None:
        first, second = await web.connect(), await web.connect()
        said = [await each.ask(call()) for each in (first, first, second, second)]
        assert [each.json["result"]["content"][0]["text"] for each in said] == texts

    over_http({**config, "server": {"name": "s", "state_scope": scope}}, script)


def test_33_calls_at_once_make_one_transition() -> None:
    import asyncio

    config = {**advance(on="tools/call"), "server": {"name": "s", "state_scope": "global"}}

    async def script(web: Web) -> None:
        clients = [await web.connect() for _ in range(20)]
        await asyncio.gather(*(each.ask(call()) for each in clients))
        assert len(web.traced("phase")) == 1

    over_http(config, script)


def test_25_no_pattern_takes_long() -> None:
    config = advance(**QUERY, match={Q: {"regex": "^(a+)+$"}})
    started = time.perf_counter()
    client = Piped(config).say(call(q="a" * 50_000 + "b"), call())
    assert client.texts == ["hi", "hi"]
    assert time.perf_counter() - started < 5


def test_an_event_while_a_transition_is_pending_only_counts() -> None:
    slow = delivery(type="response_delay", delay_ms=50)["behavior"]
    config = phased({"name": "a", "advance": QUERY}, {"name": "b", "advance": QUERY}, {"name": "c"})
    client = Piped({**config, "behavior": slow}).say(call()).say(call(), at=10).wait(49)
    assert not client.traced("phase")
    assert [each["to"] for each in client.wait(500).traced("phase")] == ["b", "c"]
