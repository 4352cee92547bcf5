"""The rules of streamable HTTP without sockets: who is refused, and where messages go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipage_faults.caps import Caps
from equipage_faults.jobs import End, Head, Link
from equipage_faults.routes import AnswerChannel, Connection
from equipage_faults.trace import Record
from equipage_faults.web import Exchanges, Request
from faultlab import (
    INITIALIZE,
    INITIALIZED,
    LIST,
    R3,
    call,
    effect,
    engine_of,
    modern,
    phased,
    request,
    simple,
)

ACCEPT = "application/json, text/event-stream"
JSON = "application/json"


class Site:
    """A server whose requests need no sockets."""

    def __init__(self, config: dict[str, Any] | None = None, **options: Any) -> None:
        self.records: list[Record] = []
        self.engine = engine_of(config or simple(unknown_methods="error"), self.records, **options)
        self.exchanges = Exchanges(self.engine)
        self.link = Link()
        self.connection: Connection | None = None

    def take(
        self,
        method: str = "POST",
        target: str = "/mcp",
        body: Any = b"",
        link: Link | None = None,
        **headers: str,
    ) -> AnswerChannel:
        given = {"host": "localhost", "content-type": JSON, "accept": ACCEPT}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        channel, self.connection = self.exchanges.take(
            Request(method, target, given, data), link or self.link
        )
        return channel

    def ask(self, *given: Any, **headers: Any) -> tuple[int, Any, dict[str, str]]:
        """The status, the body and the headers of an answer that is complete at once."""
        head, *items = self.take(*given, **headers).outbox
        assert isinstance(head, Head)
        assert items.pop() == End()
        data = b"".join(each for each in items if isinstance(each, bytes))
        assert head.length == len(data)
        assert head.content_type == JSON
        return head.status, json.loads(data) if data else None, dict(head.headers)

    def traced(self, event: str) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in each.items() if name not in ("n", "e", "body")}
            for each in self.records
            if each["e"] == event
        ]


def error(code: int, message: str, number: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


NOTHING = "nothing here; the server is at /mcp"
NO_METHOD = "this method is not allowed here"
NO_REVISION = "this revision is not supported"
NO_HOST, NO_ORIGIN = "this Host is not allowed", "this Origin is not allowed"
EVENTS = {"accept": "text/event-stream"}
#: The revisions, the request, its headers, and the status, code and words of the refusal.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, str], int, int, str]] = [
    ("25", ("POST", "/mcp", LIST), {"host": "example.org"}, 403, -32600, NO_HOST),
    ("25", ("POST", "/mcp", LIST), {"host": ""}, 403, -32600, NO_HOST),
    ("25", ("POST", "/mcp", LIST), {"host": "[::1"}, 403, -32600, NO_HOST),
    ("25", ("POST", "/mcp", LIST), {"origin": "http://example.org"}, 403, -32600, NO_ORIGIN),
    ("25", ("POST", "/mcp", LIST), {"origin": ""}, 403, -32600, NO_ORIGIN),
    ("25", ("POST", "/", LIST), {}, 404, -32600, NOTHING),
    ("25", ("POST", "/mcpx", LIST), {}, 404, -32600, NOTHING),
    ("25", ("PUT",), {}, 405, -32600, NO_METHOD),
    ("25", ("GET",), EVENTS, 405, -32600, NO_METHOD),
    ("25", ("DELETE",), {}, 405, -32600, NO_METHOD),
    ("26", ("GET",), {**EVENTS, "mcp_session_id": "x"}, 405, -32600, NO_METHOD),
    ("25", ("GET",), {"mcp_session_id": "x"}, 404, -32001, "there is no such session"),
    ("25", ("POST", "/mcp", LIST), {"mcp_session_id": "x"}, 404, -32001, "there is no such session"),
    ("25", ("POST",), {}, 400, -32700, "the body is not one message: malformed"),
    ("25", ("POST", "/mcp", b"[]"), {}, 400, -32600, "the body is not one message: batch"),
    ("25", ("POST", "/mcp", LIST), {"mcp_protocol_version": "1"}, 400, -32600, NO_REVISION),
    ("25", ("POST", "/mcp", LIST), {"mcp_protocol_version": "2026-07-28"}, 400, -32600, NO_REVISION),
]  # fmt: skip


@pytest.mark.parametrize(
    ("era", "given", "headers", "status", "code", "message"), REFUSED, ids=range(len(REFUSED))
)
def test_requests_that_are_refused(
    era: str, given: tuple[Any, ...], headers: dict[str, str], status: int, code: int, message: str
) -> None:
    site = Site(era=era)
    more = {"Allow": "POST" if era == "26" else "GET, POST, DELETE"} if status == 405 else {}
    assert site.ask(*given, **headers) == (status, error(code, message), more)
    assert site.connection is None


def test_what_is_no_message_is_a_violation_of_nobody() -> None:
    site = Site()
    site.take("POST", "/mcp", b"{]")
    assert site.traced("violation") == [{"t": 0, "what": "malformed", "size": 2}]


def test_an_answer_to_head_gives_only_its_length() -> None:
    head, end = Site().take("HEAD").outbox
    body = json.dumps(error(-32600, NO_METHOD), separators=(",", ":"))
    assert head == Head(405, JSON, len(body), (("Allow", "GET, POST, DELETE"),))
    assert end == End()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:8080"},
        {"host": "[::1]:80", "origin": "http://localhost:1"},
        {"origin": "https://127.0.0.1"},
        {"mcp_protocol_version": "2024-11-05"},
    ],
)
@pytest.mark.parametrize("target", ["/mcp", "/mcp/a", "/mcp?x=/y"])
def test_requests_that_are_taken(headers: dict[str, str], target: str) -> None:
    assert Site().ask("POST", target, call(), **headers)[:2] == (200, json.loads(R3))


def test_messages_without_an_answer_are_accepted() -> None:
    site = Site()
    for message in (INITIALIZED, {"jsonrpc": "2.0", "id": 1, "result": {}}):
        assert site.ask("POST", "/mcp", message) == (202, None, {})
    assert [each["conn"] for each in site.traced("recv")] == ["c1", "c1"]


def test_another_type_of_content_is_a_violation() -> None:
    site = Site()
    site.take("POST", "/mcp", call(), content_type="text/plain")
    site.take("POST", "/mcp", call(), content_type=f"{JSON}; charset=utf-8")
    found = [each for each in site.traced("violation") if each["what"] != "before initialize"]
    assert found == [{"t": 0, "conn": "c1", "what": "content type"}]


# Clients.


def test_a_session_begins_with_the_handshake_and_ends_with_delete() -> None:
    site = Site()
    status, _, headers = site.ask("POST", "/mcp", INITIALIZE)
    assert (status, headers) == (200, {"Mcp-Session-Id": "e3e70682c2094cac629f6fbed82c07cd"})
    own = {"mcp_session_id": headers["Mcp-Session-Id"]}
    opened = site.connection
    assert site.ask("POST", "/mcp", LIST, Link(), **own)[2] == {}
    assert site.connection is opened
    assert site.ask("POST", "/mcp", INITIALIZE, **own)[2] == {}, "it has one already"
    notified = {**INITIALIZED, "method": "initialize"}
    assert site.ask("POST", "/mcp", notified)[2] == {}, "a notification begins nothing"
    assert site.ask("DELETE", "/mcp", **own) == (200, None, {})
    assert site.traced("gone") == [{"t": 0, "conn": "c1", "by": "client"}]
    assert site.ask("DELETE", "/mcp", **own)[0] == 404


def test_without_a_session_the_link_is_the_client() -> None:
    site = Site()
    other = Link()
    names = []
    for link in (site.link, site.link, other):
        site.take("POST", "/mcp", LIST, link)
        assert site.connection is not None
        names.append(site.connection.name)
    assert names == ["c1", "c1", "c2"]
    other.close(graceful=True)
    for link in (site.link, site.link, other):
        site.exchanges.forget_link(link)
    assert [(each["conn"], each["by"]) for each in site.traced("gone")] == [
        ("c1", "client"),
        ("c2", "server"),
    ]
    site.take("POST", "/mcp", LIST)
    assert site.connection is not None
    assert site.connection.name == "c3"


def test_sessions_that_nobody_uses_make_room() -> None:
    site = Site(caps=Caps(sessions=2))

    def opened() -> int:
        return site.ask("POST", "/mcp", INITIALIZE)[0]

    first = site.ask("POST", "/mcp", INITIALIZE)[2]["Mcp-Session-Id"]
    site.engine.advance(1)
    assert [opened(), opened()] == [200, 503]
    refused = site.ask("POST", "/mcp", INITIALIZE)
    assert refused == (503, error(-32603, "too many sessions"), {})
    site.engine.advance(600_000)
    assert opened() == 503, "not a moment longer than ten minutes"
    site.engine.advance(600_001)
    assert [opened(), opened()] == [200, 503]
    assert site.traced("gone") == [{"t": 600_001, "conn": "c1", "by": "server"}]
    assert site.ask("GET", mcp_session_id=first)[0] == 404


def test_a_session_that_waits_for_an_answer_is_used() -> None:
    slow = {"delivery": {"type": "response_delay", "delay_ms": 600_000}}
    config = simple(tools=[{**simple()["tools"][0], "behavior": slow}])
    site = Site(config, caps=Caps(sessions=1, delay_ms=10**9))
    own = {"mcp_session_id": site.ask("POST", "/mcp", INITIALIZE)[2]["Mcp-Session-Id"]}
    site.engine.advance(2)
    site.take("POST", "/mcp", call(), **own)
    assert site.connection is not None
    site.connection.used = -1
    site.engine.advance(600_001)
    assert site.ask("POST", "/mcp", INITIALIZE)[0] == 503


def test_paths_are_clients_of_the_newer_revision_and_count_as_sessions() -> None:
    site = Site(era="26", caps=Caps(sessions=2))
    asked = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/list"}
    names = []
    for path in ("/mcp", "/mcp/a", "/mcp", "/mcp/a?x"):
        assert site.ask("POST", path, modern(LIST), **asked)[0] == 200
        assert site.connection is not None
        names.append(site.connection.name)
    assert names == ["c1", "c2", "c1", "c2"]
    assert site.ask("POST", "/mcp/b", modern(LIST), **asked)[0] == 503


# Headers of the newer revision.

VERSION = {"mcp_protocol_version": "2026-07-28"}
CALLED = {**VERSION, "mcp_method": "tools/call"}
NAMED = "é"
#: A message, its headers, and the header that contradicts it.
HEADERS: list[tuple[dict[str, Any], dict[str, str], str | None]] = [
    (call(), {**CALLED, "mcp_name": "t"}, None),
    (call(), {**CALLED, "mcp_name": "=?base64?dA==?="}, None),
    (call(name=NAMED), {**CALLED, "mcp_name": "=?base64?w6k=?="}, None),
    (call(name="name?="), {**CALLED, "mcp_name": "name?="}, None),
    (call(), {**CALLED, "mcp_name": "=?base64?d A==?="}, "mcp-name"),
    (call(), CALLED, "mcp-name"),
    (call(), {**CALLED, "mcp_name": "T"}, "mcp-name"),
    (call(), {**CALLED, "mcp_name": "=?base64?dA=?="}, "mcp-name"),
    (call(), {**CALLED, "mcp_name": "=?base64?/w==?="}, "mcp-name"),
    (call(), {**CALLED, "mcp_name": "=?base64?dA=="}, "mcp-name"),
    (request("tools/call"), {**CALLED, "mcp_name": "t"}, "mcp-name"),
    (call(), {**CALLED, "mcp_method": "tools/list", "mcp_name": "t"}, "mcp-method"),
    (call(), {**VERSION, "mcp_name": "t"}, "mcp-method"),
    (LIST, {"mcp_method": "tools/list"}, "mcp-protocol-version"),
    (LIST, {**VERSION, "mcp_method": "tools/list"}, None),
    (LIST, {**VERSION, "mcp_method": "tools/list", "mcp_name": "x"}, None),
    (request("resources/read", uri="u"), {**VERSION, "mcp_method": "resources/read"}, "mcp-name"),
    (request("prompts/get", name="p"), {**VERSION, "mcp_method": "prompts/get"}, "mcp-name"),
]


@pytest.mark.parametrize(("message", "headers", "wrong"), HEADERS, ids=range(len(HEADERS)))
def test_headers_repeat_what_the_body_says(
    message: dict[str, Any], headers: dict[str, str], wrong: str | None
) -> None:
    site = Site(era="auto")
    status, body, _ = site.ask("POST", "/mcp", modern(message), **headers)
    if wrong is None:
        assert status == 200
        assert not site.traced("violation")
        return
    says = f"the header {wrong} is missing or contradicts the body"
    assert (status, body) == (400, error(-32020, says, message["id"]))
    assert site.traced("violation") == [
        {"t": 0, "conn": "c1", "what": "header mismatch", "header": wrong}
    ]


def test_the_header_alone_says_which_revision_it_is() -> None:
    site = Site(era="auto")
    status, body, headers = site.ask("POST", "/mcp", INITIALIZE, **VERSION)
    assert (status, body["error"]["code"], headers) == (400, -32022, {})
    assert site.ask("POST", "/mcp", LIST, **VERSION)[0] == 400
    assert site.ask("POST", "/mcp", INITIALIZED, **VERSION)[0] == 202
    assert site.ask("POST", "/mcp", LIST)[0] == 200, "without it, it is the older one"
    assert [each["conn"] for each in site.traced("recv")] == ["c1", "c1", "c1", "c2"]
    older = Site(era="25")
    assert older.ask("POST", "/mcp", modern(LIST))[0] == 200


@pytest.mark.parametrize(("era", "status"), [("25", 200), ("26", 404)])
def test_the_status_of_an_unknown_method(era: str, status: int) -> None:
    message = request("odd")
    headers = {**VERSION, "mcp_method": "odd"} if era == "26" else {}
    found = Site(era=era).ask(
        "POST", "/mcp", modern(message) if era == "26" else message, **headers
    )
    assert found[:2] == (status, error(-32601, "unknown method: odd", 1))


# Deliveries.


def delayed(milliseconds: int, **parameters: Any) -> dict[str, Any]:
    return {"delivery": {"type": "response_delay", "delay_ms": milliseconds}, **parameters}


def extended(**parameters: Any) -> dict[str, Any]:
    return {"x-equipage": parameters}


WRONG = R3.replace(b":3,", b":null,")
#: A behaviour, the length that the head announces, the body, and when the answer ends.
DELIVERED: list[tuple[dict[str, Any], int | None, bytes, int]] = [
    ({}, 75, R3, 0),
    ({"delivery": {"type": "normal"}}, 75, R3, 0),
    (delayed(5), 75, R3, 5),
    ({"delivery": {"type": "slow_loris", "byte_delay_ms": 1, "chunk_size": 25}}, None, R3, 2),
    ({"delivery": {"type": "nested_json", "depth": 1}}, None, b'{"a":' + R3 + b"}", 0),
    ({"delivery": {"type": "unbounded_line", "target_bytes": 77}}, None, R3 + b"AA", 50),
    (extended(type="wrong_id", id=None), 78, WRONG, 0),
    (extended(type="truncated", bytes=10), 10, R3[:10], 0),
    (extended(type="silent"), None, b"", 50),
    (delayed(5, **extended(type="silent")), None, b"", 55),
    (extended(type="repeated", count=2), None, R3 * 2, 0),
]


@pytest.mark.parametrize(
    ("behavior", "length", "body", "end"), DELIVERED, ids=range(len(DELIVERED))
)
def test_answers_of_http(
    behavior: dict[str, Any], length: int | None, body: bytes, end: int
) -> None:
    """A length is announced where it is known; what never ends is held to the cap."""
    site = Site(simple(behavior=behavior), caps=Caps(delay_ms=50))
    channel = site.take("POST", "/mcp", call(), accept=JSON)
    if end:
        site.engine.advance(end - 1)
        assert not channel.ended
        site.engine.advance(end)
    head, *items, last = channel.outbox
    assert (head, last) == (Head(200, JSON, length, ()), End())
    assert b"".join(each for each in items if isinstance(each, bytes)) == body


def test_a_payload_has_no_length_and_a_method_that_is_dropped_no_answer() -> None:
    payload = {"$generate": {"type": "nested_json", "depth": 2, "structure": "array"}}
    own = simple()["tools"][0]
    content = {"content": [{"type": "text", "text": payload}]}
    site = Site(simple(tools=[{**own, "response": content}]))
    assert site.take("POST", "/mcp", call()).outbox[0] == Head(200, JSON, None, ())
    site = Site(simple(unknown_methods="drop"), caps=Caps(delay_ms=50))
    channel = site.take("POST", "/mcp", request("odd"))
    site.engine.advance(50)
    assert list(channel.outbox) == [Head(200, JSON, None, ()), End()]


# Streams of events.

CHANGED = "notifications/tools/list_changed"
MESSAGE = "notifications/message"


def events(channel: AnswerChannel) -> list[Any]:
    """The frames of a stream; its end is None."""
    head, *items = channel.outbox
    assert head == Head(200, "text/event-stream", None, channel.headers)
    data = b"".join(each for each in items if isinstance(each, bytes))
    found = []
    for each in data.split(b"\n\n")[:-1]:
        assert each.startswith(b"event: message\ndata: ")
        found.append(json.loads(each.removeprefix(b"event: message\ndata: ")))
    return [*found, *(None for each in items if each == End())]


def entering(*actions: Any) -> dict[str, Any]:
    config = phased({"name": "a", "advance": {"on": "tools/call"}}, {"name": "b"})
    config["phases"][1]["on_enter"] = [{"send_notification": each} for each in actions]
    return config


def test_a_stream_needs_a_client_that_takes_it_and_room() -> None:
    site = Site(caps=Caps(streams=1))
    own = {"mcp_session_id": site.ask("POST", "/mcp", INITIALIZE)[2]["Mcp-Session-Id"]}
    no_events = error(-32600, "this stream is text/event-stream")
    assert site.ask("GET", **own, accept=JSON) == (406, no_events, {})
    channel = site.take("GET", **own)
    assert (events(channel), channel.ended, site.connection is not None) == ([], False, True)
    assert site.ask("GET", **own) == (503, error(-32603, "too many event streams"), {})
    assert site.connection is None


def test_changes_go_to_the_stream_of_the_session() -> None:
    site = Site(entering(CHANGED, MESSAGE))
    own = {"mcp_session_id": site.ask("POST", "/mcp", INITIALIZE)[2]["Mcp-Session-Id"]}
    first, second = site.take("GET", **own), site.take("GET", **own)
    site.take("POST", "/mcp", call(), **own)
    assert [each["method"] for each in events(first)] == [CHANGED, MESSAGE]
    assert events(second) == []
    assert site.connection is not None
    site.engine.drop_channel(site.connection, first)
    assert site.connection.streams == [second]


def test_what_finds_no_way_waits_and_the_oldest_give_way() -> None:
    names = [f"n/{each}" for each in range(5)]
    site = Site(entering(*names), caps=Caps(queue=3))
    site.take("POST", "/mcp", call())
    assert site.traced("unroutable") == [{"t": 0, "conn": "c1", "messages": 1}] * 2
    assert site.ask("POST", "/mcp", LIST, accept=JSON)[0] == 200, "who takes no events gets none"
    answer = site.take("POST", "/mcp", call())
    *frames, result, end = events(answer)
    assert [each["method"] for each in frames] == names[2:]
    assert (result["id"], end) == (3, None)
    assert site.ask("POST", "/mcp", LIST)[0] == 200, "it is told once"


def test_a_flood_without_a_way_keeps_only_what_fits() -> None:
    flood = {"type": "notification_flood", "rate_per_sec": 10, "duration_sec": 1}
    config = effect(**flood, trigger="on_connect")
    site = Site(config, caps=Caps(queue=4))
    site.take("POST", "/mcp", INITIALIZE)
    assert site.connection is not None
    site.engine.advance(2_000)
    assert len(site.connection.backlog) == 4
    assert site.traced("unroutable") == [{"t": 900, "conn": "c1", "messages": 6}]
    batch = Site(effect(type="batch_amplify", batch_size=2, trigger="on_connect"))
    batch.take("POST", "/mcp", INITIALIZE)
    assert batch.traced("unroutable") == [{"t": 0, "conn": "c1", "messages": 1}]


def test_effects_of_a_request_come_before_its_result() -> None:
    site = Site(effect(type="batch_amplify", batch_size=2, method="m"))
    frames = [{"jsonrpc": "2.0", "method": "m"}] * 2
    assert events(site.take("POST", "/mcp", call())) == [frames, json.loads(R3), None]


def test_effects_go_into_the_answer_that_they_belong_to() -> None:
    config = effect(type="batch_amplify", batch_size=1)
    config["behavior"]["side_effects"] += [{"type": "duplicate_request_ids", "count": 1}]
    config["behavior"]["delivery"] = {"type": "response_delay", "delay_ms": 5}
    site = Site(config)
    site.take("POST", "/mcp", INITIALIZE)
    own = {"mcp_session_id": next(iter(site.exchanges._sessions))}
    answers = [site.take("POST", "/mcp", call(), Link(), **own) for _ in range(2)]
    site.engine.advance(5)
    assert [len(events(each)) for each in answers] == [4, 4], (
        "a batch, a request, the result, the end"
    )


def test_listening_over_http() -> None:
    """Each stream gets what it asked for, and ends with a result."""
    updated = {"method": "notifications/resources/updated", "params": {"uri": "x://a"}}
    site = Site(entering(CHANGED, updated, MESSAGE), era="26")
    headers = {**VERSION, "mcp_method": "subscriptions/listen"}
    streams = [
        site.take(
            "POST",
            "/mcp",
            modern(request("subscriptions/listen", number, notifications=wanted)),
            Link(),
            **headers,
        )
        for number, wanted in enumerate(
            [
                {"toolsListChanged": True},
                {"resourceSubscriptions": ["x://a"]},
                {"resourceSubscriptions": ["x://b"], "toolsListChanged": False},
            ]
        )
    ]
    site.take("POST", "/mcp", modern(call()), **CALLED, mcp_name="t")
    frames = [[each["method"].rpartition("/")[2] for each in events(one)[1:]] for one in streams]
    assert frames == [["list_changed"], ["updated"], []], "the rest waits for the next answer"
    own = events(streams[1])[-1]["params"]
    assert own == {"uri": "x://a", "_meta": {"io.modelcontextprotocol/subscriptionId": 1}}
    site.engine.halt()
    for number, each in enumerate(streams):
        *_, result, end = events(each)
        assert (result["id"], result["result"]["resultType"], end) == (number, "complete", None)


@pytest.mark.parametrize(("era", "cancels"), [("25", {}), ("26", {"cancels": 3})])
def test_an_answer_whose_reader_is_gone(era: str, cancels: dict[str, Any]) -> None:
    config = simple(behavior={"delivery": {"type": "response_delay", "delay_ms": 50}})
    site = Site(config, era=era)
    message = modern(call()) if era == "26" else call()
    headers = {**CALLED, "mcp_name": "t"} if era == "26" else {}
    channel = site.take("POST", "/mcp", message, **headers)
    assert site.connection is not None
    site.engine.drop_channel(site.connection, channel)
    site.engine.drop_channel(site.connection, channel)
    site.engine.advance(100)
    assert not channel.outbox
    assert site.traced("lost") == [{"t": 0, "conn": "c1", "method": "tools/call", **cancels}]


def test_a_stream_that_is_lost_ends_its_subscriptions() -> None:
    config = phased({"name": "a", "advance": {"on": "resources/unsubscribe:x://a"}}, {"name": "b"})
    site = Site(config, era="26")
    listen = request("subscriptions/listen", notifications={"resourceSubscriptions": ["x://a"]})
    headers = {**VERSION, "mcp_method": "subscriptions/listen"}
    channel = site.take("POST", "/mcp", modern(listen), **headers)
    assert site.connection is not None
    site.engine.drop_channel(site.connection, channel)
    assert [each["to"] for each in site.traced("phase")] == ["b"]
    assert site.connection.subscriptions == []


def test_all_share_a_phase_that_belongs_to_nobody() -> None:
    """Of what is for all, each client gets its own; the trace names none."""
    config = entering("n/1")
    config["server"]["state_scope"] = "global"
    site = Site(config)
    for link in (Link(), Link()):
        site.take("POST", "/mcp", LIST, link)
    site.take("POST", "/mcp", call(), Link())
    assert site.traced("phase") == [{"t": 0, "from": "a", "to": "b", "by": "event", "count": 1}]
    assert [each["conn"] for each in site.traced("frame")] == ["c1", "c2", "c3"]


def test_effects_of_a_phase_over_http() -> None:
    """They wait for the next answer; a connection that is nobody's cannot be closed."""
    own = [
        {"type": "batch_amplify", "batch_size": 1, "trigger": "continuous"},
        {"type": "notification_flood", "rate_per_sec": 1, "duration_sec": 1, "trigger": "continuous"},
        {"type": "close_connection", "trigger": "continuous"},
    ]  # fmt: skip
    config = entering()
    config["phases"][1]["behavior"] = {"side_effects": own}
    site = Site(config)
    session = {"mcp_session_id": site.ask("POST", "/mcp", INITIALIZE)[2]["Mcp-Session-Id"]}
    assert site.ask("POST", "/mcp", call(), **session)[0] == 200
    ends = [(each["type"], each["end"]) for each in site.traced("effect")]
    assert ends == [
        ("batch_amplify", "done"),
        ("notification_flood", "done"),
        ("close_connection", "done"),
    ]
    assert site.link.closed is None
    assert site.connection is not None
    assert [each.method for each in site.connection.backlog] == [MESSAGE]


def test_a_session_that_ends_before_its_answer_was_never_open() -> None:
    own = {"type": "batch_amplify", "trigger": "on_connect"}
    config = simple(behavior={"side_effects": [own], "x-equipage": {"type": "silent"}})
    site = Site(config)
    opened = site.take("POST", "/mcp", INITIALIZE)
    assert site.ask("DELETE", mcp_session_id=dict(opened.headers)["Mcp-Session-Id"])[0] == 200
    assert site.traced("gone") == [{"t": 0, "conn": "c1", "by": "client", "unanswered": 1}]
    assert not site.traced("effect")


def test_each_client_has_timers_of_its_own() -> None:
    site = Site(phased(*({"name": each, "advance": {"after": "20ms"}} for each in "abc")))
    for time in (0, 0, 5):
        site.engine.advance(time)
        site.take("POST", "/mcp", LIST, Link())
    for time in (19, 30, 44, 70):
        site.engine.advance(time)
    assert site.engine.next_due is None
    assert [(each["t"], each["conn"], each["to"]) for each in site.traced("phase")] == [
        (20, "c1", "b"),
        (20, "c2", "b"),
        (25, "c3", "b"),
        (40, "c1", "c"),
        (40, "c2", "c"),
        (45, "c3", "c"),
    ]
    assert [(each["t"], each["conn"]) for each in site.traced("no_next")] == [
        (60, "c1"),
        (60, "c2"),
        (65, "c3"),
    ]


def test_an_option_decides_what_clients_share() -> None:
    site = Site(entering("n/1"), scope="global")
    site.take("POST", "/mcp", call(), Link())
    site.take("POST", "/mcp", call(), Link())
    assert len(site.traced("phase")) == 1
    assert "conn" not in site.traced("phase")[0]
