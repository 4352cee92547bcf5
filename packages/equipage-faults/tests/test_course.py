"""The course of things: every record of some scenes, what the client gets, and the log.

What comes of each scene is in `course.txt`; with `EQUIPAGE_UPDATE_CASES=1` it is written anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from equipage.formats.server.model import NestedJson
from equipage_faults.caps import Caps
from faultlab import (
    INITIALIZE,
    INITIALIZED,
    LIST,
    Piped,
    call,
    delivery,
    extension,
    modern,
    phased,
    request,
    simple,
)
from lab import UPDATE

CHANGED = "notifications/tools/list_changed"


COURSE = Path(__file__).parent / "course.txt"


def told(client: Piped) -> str:
    """A line for each record: the time, the connection, and what happened; then what was sent."""
    lines = []
    for record in client.records:
        rest = {
            key: value
            for key, value in record.items()
            if key not in ("n", "t", "conn", "e", "body")
        }
        said = "".join(
            f" {key}={json.dumps(value, separators=(',', ':'))}" for key, value in rest.items()
        )
        lines.append(f"{record['t']} {record.get('conn', '-')} {record['e']}{said}")
    lines += [f"sent {time}: {data.decode()!r}" for time, data in client.writes]
    logged = zip(client.levels, client.logged, strict=True)
    lines += [f"logged {time}: {level}: {text}" for level, (time, text) in logged]
    lines += [f"stopped: {client.engine.stopped}"] if client.engine.stopped else []
    lines += [f"closed: {client.link.closed}"] if client.link.closed else []
    return "\n".join(lines)


def cancelled(number: Any) -> dict[str, Any]:
    params = {"requestId": number}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def response(number: Any, **member: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, **(member or {"result": {}})}


FLOOD = {"type": "notification_flood", "rate_per_sec": 2, "duration_sec": 1}
ENTRY = [
    {"send_notification": {"method": CHANGED, "params": {"a": 1}}},
    {"send_request": {"method": "ping", "params": {"b": 2}}},
    {"send_request": {"method": "roots/list", "id": 7}},
    {"log": "entered"},
    {"send_request": {"method": "ping"}},
]


def opening(client: Piped) -> None:
    client.say(call(), INITIALIZE, INITIALIZED, LIST, call(5, name="zz"))
    client.say({**LIST, "jsonrpc": "1.0", "id": 1.5}).raw(b"{}\n[]\n")
    client.say({"jsonrpc": "2.0", "method": "notifications/progress"})
    client.say(request("tools/call", 8, name=["t"], requestId=3), request("odd", 9, **{"": "x"}))


def answering(client: Piped) -> None:
    client.say(call(), at=10)
    client.say(response("srv-1"), response(7, error={"code": -5}), at=25)
    client.say(response(7.0), response("srv-9", error="odd"))


def cancelling(client: Piped) -> None:
    client.say(call(3), call(4), call(5)).say(cancelled(4), at=10)
    client.say(cancelled(3), cancelled(9), at=20).wait(200)


def leaving(client: Piped) -> None:
    client.say(call(3), call(4), call(5), call(6)).wait(5)
    client.engine.forget(client.connection, "client")
    client.engine.forget(client.connection, "client")
    client.wait(100)


def halting(client: Piped) -> None:
    client.say(call(3), call(4)).wait(12)
    client.engine.halt()
    client.wait(100)


def listening(client: Piped) -> None:
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["x://a", 5], "odd": "x"}
    client.say(modern(request("subscriptions/listen", 7, notifications=wanted)))
    client.say(modern(request("subscriptions/listen", 8)))
    client.say(cancelled(7))
    client.engine.halt()
    client.wait(0)


def waits(until: int, *messages: dict[str, Any]) -> Callable[[Piped], Any]:
    return lambda client: client.say(*messages).wait(until)


def effects(*written: dict[str, Any], **more: Any) -> dict[str, Any]:
    return simple(behavior={"side_effects": list(written)}, **more)


LOGGING = dict.fromkeys(("on_request", "on_response", "on_phase_change", "on_trigger_match"), True)
RESOURCE = {"resource": {"uri": "x://a", "name": "a"}}
SUBSCRIBE = request("resources/subscribe", 4, uri="x://a")
UNSUBSCRIBE = request("resources/unsubscribe", 5, uri="x://a")
BATCH = {"type": "batch_amplify", "batch_size": 2}

SCENES: dict[str, tuple[dict[str, Any], dict[str, Any], Callable[[Piped], Any]]] = {
    "opening": (simple(), {}, opening),
    "a client may ask first whether the server is there": (
        simple(),
        {},
        lambda client: client.say(request("ping"), LIST),
    ),
    "a client may ask first what the server speaks": (
        simple(),
        {},
        lambda client: client.say(request("server/discover"), LIST),
    ),
    "opening-26": (
        simple(),
        {"era": "26"},
        lambda client: client.say(modern(call()), modern(call(name="zz"))),
    ),
    "clients say who they are": (
        simple(),
        {"era": "auto"},
        lambda client: client.say(request("initialize", 0, clientInfo={"name": "c"})),
    ),
    "clients say who they are-26": (
        simple(),
        {"era": "auto"},
        lambda client: client.say(
            {
                **LIST,
                "params": {
                    "_meta": {
                        **modern(LIST)["params"]["_meta"],
                        "io.modelcontextprotocol/clientInfo": {"name": "c"},
                    }
                },
            }
        ),
    ),
    "answering": (
        phased({"name": "a", "advance": {"on": "tools/call"}}, {"name": "b", "on_enter": ENTRY}),
        {},
        answering,
    ),
    "entering-26": (
        phased({"name": "a", "on_enter": ENTRY}),
        {"era": "26"},
        lambda client: client.say(modern(call())),
    ),
    "cancelling": (delivery(type="response_delay", delay_ms=50), {}, cancelling),
    "leaving": (delivery(type="response_delay", delay_ms=50), {"caps": Caps(queue=2)}, leaving),
    "halting": (delivery(type="slow_loris", byte_delay_ms=5, chunk_size=10), {}, halting),
    "listening": (simple(), {"era": "26"}, listening),
    "a first request is a handshake": (
        phased(
            {"name": "a", "advance": {"on": "initialized"}},
            {"name": "b", "advance": {"on": "initialize", "count": 2}},
            {"name": "c"},
        ),
        {"era": "26"},
        lambda client: client.say(modern(LIST), modern(LIST)),
    ),
    "a first request is a handshake with its own parameters": (
        phased(
            {"name": "a", "advance": {"on": "initialize", "match": {"name": "t"}}}, {"name": "b"}
        ),
        {"era": "26"},
        lambda client: client.say(modern(call())),
    ),
    "only who listens subscribes": (
        phased(
            {"name": "a", "advance": {"on": "resources/subscribe"}},
            {"name": "b"},
            behavior={"side_effects": [{**BATCH, "trigger": "on_subscribe"}]},
        ),
        {"era": "26"},
        lambda client: client.say(
            modern(request("tools/list", notifications={"resourceSubscriptions": ["x://a"]}))
        ),
    ),
    "an event that was counted before needs another one": (
        phased(
            {"name": "a", "advance": {"on": "prompts/list"}},
            {"name": "b", "advance": {"on": "tools/list"}},
            {"name": "c"},
        ),
        {},
        lambda client: client.say(LIST, request("prompts/list"), request("resources/list"), LIST),
    ),
    "no time at all": (
        phased({"name": "a", "advance": {"on": "tools/list", "timeout": "0s"}}, {"name": "b"}),
        {},
        waits(0),
    ),
    "a phase may end the connection": (
        phased(
            {"name": "a", "advance": {"on": "tools/list"}},
            {
                "name": "b",
                "behavior": {
                    "side_effects": [{"type": "close_connection", "trigger": "continuous"}]
                },
            },
        ),
        {},
        waits(0, INITIALIZE, LIST),
    ),
    "timers": (
        phased(
            {"name": "a", "advance": {"after": "1s"}},
            {"name": "b", "advance": {"on": "tools/list", "after": "3s", "timeout": "2s"}},
            {"name": "c", "advance": {"after": "1s"}},
            logging=LOGGING,
        ),
        {},
        waits(9_000),
    ),
    "the last phase may still abort": (
        phased(
            {"name": "a", "advance": {"on": "tools/list", "timeout": "5s", "on_timeout": "abort"}},
            logging=LOGGING,
        ),
        {},
        lambda client: client.say(LIST, at=10).wait(9_000),
    ),
    "all effects": (
        effects(
            {"type": "notification_flood", "rate_per_sec": 4, "duration_sec": 1, "params": [1]},
            {"type": "batch_amplify", "batch_size": 2, "method": "m"},
            {"type": "duplicate_request_ids", "count": 2, "id": "i", "method": "m", "params": {}},
            {"type": "pipe_deadlock", "fill_bytes": 10},
            {"type": "close_connection", "delay_ms": 400},
        ),
        {},
        lambda client: client.say(call()).wait(300).say(LIST).wait(2_000).say(LIST),
    ),
    "effects-26": (
        effects(FLOOD, {"type": "close_connection"}),
        {"era": "26"},
        waits(3_000, modern(call())),
    ),
    "effects at moments": (
        effects(
            {**BATCH, "trigger": "on_connect"},
            {**BATCH, "trigger": "on_subscribe", "method": "s"},
            {**BATCH, "trigger": "on_unsubscribe", "method": "u"},
            {**BATCH, "trigger": "continuous", "method": "c"},
            resources=[RESOURCE],
        ),
        {},
        lambda client: client.say(LIST, INITIALIZE, INITIALIZE, SUBSCRIBE, UNSUBSCRIBE),
    ),
    "every request is one": (effects(BATCH, resources=[RESOURCE]), {}, waits(0, SUBSCRIBE)),
    "a fast flood": (
        effects({**FLOOD, "rate_per_sec": 3_000, "method": "m"}),
        {"caps": Caps(flood_ms=3)},
        waits(100, call()),
    ),
    "effects at moments-26": (
        effects(
            {**BATCH, "trigger": "on_connect"},
            {**BATCH, "trigger": "on_subscribe", "method": "s"},
            {**BATCH, "trigger": "on_unsubscribe", "method": "u"},
        ),
        {"era": "26"},
        listening,
    ),
    "continuous effects of phases": (
        phased(
            {
                "name": "a",
                "advance": {"after": "1500ms"},
                "behavior": {
                    "side_effects": [
                        {**FLOOD, "trigger": "continuous", "duration_sec": 9, "rate_per_sec": 1},
                        {**FLOOD, "trigger": "continuous", "duration_sec": 9, "method": "x"},
                    ]
                },
            },
            {
                "name": "b",
                "behavior": {
                    "side_effects": [
                        {**FLOOD, "trigger": "continuous", "duration_sec": 9, "rate_per_sec": 1},
                        {**FLOOD, "trigger": "continuous", "duration_sec": 1, "method": "y"},
                    ]
                },
            },
        ),
        {},
        waits(20_000, INITIALIZE),
    ),
    "a forced end": (
        effects(FLOOD, {"type": "close_connection", "graceful": False, "delay_ms": 250}),
        {},
        waits(2_000, call(), LIST),
    ),
    "caps": (
        effects(
            {"type": "notification_flood", "rate_per_sec": 50, "duration_sec": 9},
            {"type": "batch_amplify", "batch_size": 9, "method": "m"},
            {"type": "duplicate_request_ids", "count": 9},
            {"type": "pipe_deadlock", "fill_bytes": 99},
            {"type": "close_connection", "delay_ms": 9_000},
        ),
        {"caps": Caps(rate=2, flood_ms=2_000, batch=1, duplicates=1, fill_bytes=5, delay_ms=3_000)},
        waits(9_000, call()),
    ),
    "an effect that fails": (
        effects(BATCH, {"type": "pipe_deadlock", "fill_bytes": 3}),
        {"caps": Caps(batch=None)},  # type: ignore[arg-type]
        waits(0, call()),
    ),
    "effects at once": (
        effects(FLOOD, {**FLOOD, "method": "m"}, {"type": "close_connection", "delay_ms": 9}),
        {"caps": Caps(effects=2)},
        waits(2_000, call()),
    ),
    "a frame beyond the cap": (simple(), {"caps": Caps(frame_bytes=20)}, waits(0, call())),
    "a drip beyond the cap": (
        delivery(type="slow_loris", byte_delay_ms=30, chunk_size=10),
        {"caps": Caps(delay_ms=60)},
        waits(500, call()),
    ),
    "a delay beyond the cap": (
        delivery(type="response_delay", delay_ms=100),
        {"caps": Caps(delay_ms=60)},
        waits(500, call()),
    ),
    "another delivery": (
        delivery(type="response_delay", delay_ms=100),
        {"delivery": NestedJson(depth=1)},
        waits(500, call()),
    ),
    "silence": (extension(type="silent"), {}, waits(0, call())),
    "log": (
        phased({"name": "a", "advance": {"on": "tools/call"}}, {"name": "b"}, logging=LOGGING),
        {},
        waits(0, call(), INITIALIZED, LIST),
    ),
    "too many names of events": (
        phased(
            {"name": "a", "advance": {"on": "prompts/list", "count": 2}},
            {"name": "b", "advance": {"on": "tools/list"}},
            {"name": "c", "advance": {"on": "prompts/get:zz"}},
            {"name": "d"},
        ),
        {"caps": Caps(events=3)},
        lambda client: client.say(
            *(request(f"{each}/list") for each in ("prompts", "resources", "tools", "prompts")),
            *(LIST, request("prompts/get", name="zz")),
        ),
    ),
}


def scenes() -> dict[str, str]:
    text = COURSE.read_text() if COURSE.exists() else ""
    found = (each.partition("\n") for each in text.split("## ")[1:])
    return {name: body.strip() for name, _, body in found}


def course_of(name: str) -> str:
    config, options, script = SCENES[name]
    client = Piped(config, **options)
    script(client)
    return told(client)


def test_there_is_a_course_for_each_scene() -> None:
    if UPDATE:
        COURSE.write_text("\n".join(f"## {each}\n{course_of(each)}\n" for each in SCENES))
    assert list(scenes()) == list(SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_the_course_of_a_scene(name: str) -> None:
    assert course_of(name) == scenes()[name]
