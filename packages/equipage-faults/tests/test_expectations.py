"""Expectations, the command from end to end, and the fixture for tests of clients."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import equipage
from clock import HANGS
from equipage import cli
from equipage.core.diagnostics import UsageError
from equipage_faults import testing, trace
from equipage_faults.run import Settings, caps_of, serve
from faultlab import INITIALIZE, INITIALIZED, LIST, call, phased, request, simple, tool
from lab import environment

#: What `pytest_plugins` in a `conftest.py` does.
misbehaving_server = testing.misbehaving_server

RECORDS: list[dict[str, Any]] = [
    {"n": 1, "t": 0, "e": "open", "era": "25"},
    {"n": 2, "t": 0, "e": "recv", "kind": "request", "method": "initialize", "id": 0},
    {"n": 3, "t": 5, "e": "recv", "kind": "request", "method": "tools/list", "id": 1},
    {
        "n": 4,
        "t": 10,
        "e": "recv",
        "kind": "request",
        "method": "tools/call",
        "id": 2,
        "target": "a",
        "phase": "p",
        "body": {"params": {"arguments": {"q": 1}}},
    },
    {"n": 5, "t": 20, "e": "answer", "id": "srv-1", "ok": False, "code": -32601, "ms": 7},
    {"n": 6, "t": 30, "e": "violation", "what": "batch"},
    {
        "n": 7,
        "t": 60,
        "e": "recv",
        "kind": "notification",
        "method": "notifications/cancelled",
        "cancels": 2,
    },
    {"n": 8, "t": 70, "e": "gone", "by": "server"},
    {"n": 9, "t": 90, "e": "open", "era": "25"},
    {"n": 10, "t": 95, "e": "recv", "kind": "request", "method": "tools/call", "id": 3},
    {"n": 11, "t": 99, "e": "gone", "by": "client"},
    {"n": 12, "t": 99, "e": "recv", "kind": "request", "method": "ping", "id": 4},
    {"n": 13, "t": 99, "e": "answer", "id": 3, "ok": True},
    {"n": 14, "t": 99, "e": "recv", "kind": "response", "method": "tools/call", "id": 3},
]


#: An expectation, what is found, and the number of the record that decides; `!` if it is not met.
JUDGED = [
    ("sees: {method: tools/list}", "seen once", 3),
    ("sees: {method: tools/call, target: a, phase: p, args: {q: 1}}", "seen once", 4),
    ("sees: {method: tools/call, args: {}}", "seen 2 times", 10),
    ("sees: {method: tools/call, args: {q: 1.0}}", "!seen 0 times", None),
    ("sees: {method: tools/call, max: 2}", "seen 2 times", 10),
    ("sees: {method: tools/call, max: 1}", "!seen 2 times", 10),
    ("sees: {method: tools/call, max: 0}", "!seen 2 times", 4),
    ("sees: {method: tools/call, min: 2, within: 95ms}", "seen 2 times", 10),
    ("sees: {method: tools/call, min: 2, within: 94ms}", "!seen once", 4),
    ("sees: {method: initialize, within: 0ms}", "seen once", 2),
    ("sees: {method: tools/list, within: 0ms}", "!seen 0 times", None),
    ("never: {method: tools/call, target: b}", "seen", None),
    ("never: {method: tools/call}", "!seen", 4),
    ("order: [initialize, 'tools/call:a', tools/call]", "", 10),
    ("order: [tools/call, initialize]", "!initialize did not follow", 4),
    ("order: [prompts/get]", "!prompts/get did not follow", None),
    ("answers: {id: srv-1, within: 7ms, code: -32601}", "answered after 7 ms with code -32601", 5),
    ("answers: {id: srv-1, within: 6ms}", "!answered after 7 ms with code -32601", 5),
    ("answers: {id: srv-1, code: -1}", "!answered after 7 ms with code -32601", 5),
    ("answers: {id: srv-1}", "answered after 7 ms with code -32601", 5),
    ("answers: {id: srv-2}", "!no answer", None),
    ("answers: {id: 3, within: 0ms}", "answered after None ms with code None", 13),
    ("cancels: {method: tools/call, within: 50ms}", "after 50 ms", 7),
    ("cancels: {method: tools/call, within: 49ms}", "!after 50 ms", 7),
    ("cancels: {method: tools/list}", "!not cancelled", None),
    ("closes: {after: tools/call, within: 4ms}", "after 4 ms", 11),
    ("closes: {after: tools/call, within: 3ms}", "!after 4 ms", 11),
    ("closes: {after: tools/list, within: 94ms}", "after 94 ms", 11),
    ("closes: {after: prompts/get, within: 1s}", "!prompts/get was never seen", None),
    ("closes: {after: ping, within: 1s}", "!the client did not close the connection", None),
    ("retries: {method: tools/call, max: 1}", "asked again once", 10),
    ("retries: {method: tools/call, max: 0}", "!asked again once", 10),
    ("retries: {method: tools/list, max: 0}", "asked again 0 times", 3),
    ("retries: {method: prompts/get, max: 0}", "asked again 0 times", None),
    ("reopens: {within: 20ms}", "after 20 ms", 9),
    ("reopens: {within: 19ms}", "!after 20 ms", 9),
    ("violations: 1", "1: batch", 6),
    ("violations: 0", "!1: batch", 6),
]


@pytest.mark.parametrize(("written", "found", "record"), JUDGED, ids=str)
def test_expectations(written: str, found: str, record: int | None, tmp_path: Path) -> None:
    file = tmp_path / "expect.yaml"
    file.write_text(f"- {written}\n")
    wanted = trace.read_expectations(str(file))
    (verdict,) = trace.judge(wanted, RECORDS)
    met, said = not found.startswith("!"), found.removeprefix("!")
    assert verdict == trace.Verdict(wanted[0], met, said, record)
    place = "" if record is None else f" (record {record})"
    assert str(verdict).startswith("met: {" if met else "not met: {")
    assert str(verdict).endswith(f"}}{place}" if met else f"}}: {said}{place}")


@pytest.mark.parametrize(
    ("count", "written", "found", "record"),
    [
        (8, "reopens: {within: 1s}", "the client did not connect again", 8),
        (7, "reopens: {within: 1s}", "the server never closed the connection", None),
        (5, "violations: 1", "0: none", None),
    ],
)
def test_expectations_of_a_trace_that_ends_early(
    count: int, written: str, found: str, record: int | None, tmp_path: Path
) -> None:
    (tmp_path / "expect.yaml").write_text(f"- {written}\n")
    wanted = trace.read_expectations(str(tmp_path / "expect.yaml"))
    assert trace.judge(wanted, RECORDS[:count]) == [trace.Verdict(wanted[0], False, found, record)]


def test_the_first_request_too_many_and_five_violations_are_named() -> None:
    calls: list[dict[str, Any]] = [{**RECORDS[9], "n": number, "t": 1_000} for number in range(5)]
    odd: list[dict[str, Any]] = [
        {"n": number, "t": 0, "e": "violation", "what": f"v{number}"} for number in range(7)
    ]
    many = trace.Expectation(sees=trace.Sees("tools/call", max=2))
    none = trace.Expectation(violations=0)
    assert trace.judge([many, none], [*calls, *odd]) == [
        trace.Verdict(many, False, "seen 5 times", 2),
        trace.Verdict(none, False, "7: v0, v1, v2, v3, v4", 6),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {sees: {metod: x}}", "expect.yaml is not a list of expectations"),
        (
            "- {violations: 0}\n- {order: [a], violations: 0}",
            "expect.yaml, entry 2 must have exactly one of these keys: sees, never, order, .*, violations$",
        ),
        ("- {reopens: {within: soon}}", "entry 1: `within: soon` is not a whole number and a unit"),
        ("- [", "expect.yaml is not YAML in UTF-8"),
        ("\ufeff- {}", "exactly one"),
    ],
)
def test_a_file_of_expectations_that_cannot_be_read(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "expect.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        trace.read_expectations(str(file))
    with pytest.raises(UsageError, match=r"cannot read .*/missing$"):
        trace.read_expectations(str(tmp_path / "missing"))


# A whole run in this process.


def run(
    folder: Path, config: dict[str, Any], *messages: dict[str, Any], **settings: Any
) -> tuple[int, list[Any], list[str]]:
    """The exit code, the frames and the notes of a run on a virtual clock."""
    (folder / "in").write_text("".join(json.dumps(each) + "\n" for each in messages))
    loaded = equipage.loads(json.dumps(config), kind="server", env={})
    reads = os.open(folder / "in", os.O_RDONLY)
    writes = os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    notes: list[str] = []
    try:
        wanted = Settings(
            **{"seed": 1, "virtual": True, "descriptors": (reads, writes), **settings}
        )
        env = {"SHOWN": "yes", "HIDDEN": "no", "PATH": os.environ["PATH"]}
        code = serve(loaded.config, loaded.digest, wanted, notes.append, environment=env)
    finally:
        os.close(reads)
        os.close(writes)
    out = (folder / "out").read_bytes()
    return code, [json.loads(each) for each in out.splitlines()], notes


def test_arguments_decide_an_expectation_without_being_traced(tmp_path: Path) -> None:
    (tmp_path / "expect.yaml").write_text("- sees: {method: tools/call, args: {q: secret}}\n")
    code, _, notes = run(
        tmp_path,
        simple(),
        call(q="secret"),
        expect=str(tmp_path / "expect.yaml"),
        trace=str(tmp_path / "trace.jsonl"),
    )
    assert code == 0
    assert any(each.startswith("met: ") for each in notes)
    assert "secret" not in (tmp_path / "trace.jsonl").read_text()


@pytest.mark.parametrize(("bodies", "shown"), [("redacted", '"…"'), ("full", '"secret"')])
def test_bodies_are_traced_as_far_as_asked(bodies: str, shown: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    run(tmp_path, simple(), call(q="secret"), bodies=bodies, trace=str(trace))
    assert shown in trace.read_text()


# A trace that was stored.


def expected(folder: Path, wanted: str, *, bodies: str = "none") -> int:
    """Run a server with a trace, then judge it by the command; the exit code."""
    run(folder, simple(), INITIALIZE, call(q="x"), bodies=bodies, trace=str(folder / "trace.jsonl"))
    (folder / "expect.yaml").write_text(wanted)
    return cli.main(["expect", str(folder / "trace.jsonl"), str(folder / "expect.yaml")])


def test_a_stored_trace_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = "- sees: {method: tools/call, target: t}\n- never: {method: initialize}\n"
    assert expected(tmp_path, wanted) == 1
    assert capsys.readouterr().out.splitlines() == [
        'met: {"sees":{"method":"tools/call","target":"t"}} (record 5)',
        'not met: {"never":{"method":"initialize"}}: seen (record 2)',
    ]
    assert expected(tmp_path, "- violations: 0\n") == 0


ODD_MESSAGES = [
    {"jsonrpc": "2.0", "id": "srv-1", "result": {}},
    {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": [1]},
    {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"arguments": ["q"]}},
]


def test_answers_of_a_client_and_odd_parameters_are_judged(tmp_path: Path) -> None:
    """In the run itself, and in the trace that it stored."""
    (tmp_path / "expect.yaml").write_text("- sees: {method: tools/call, args: {q: x}, max: 1}\n")
    files = {name: str(tmp_path / name) for name in ("trace", "expect.yaml")}
    code, _, _ = run(
        tmp_path,
        simple(),
        *(*ODD_MESSAGES, call(q="x")),
        bodies="full",
        trace=files["trace"],
        expect=files["expect.yaml"],
    )
    assert code == 0
    assert cli.main(["expect", *files.values()]) == 0


@pytest.mark.parametrize(("bodies", "code"), [("none", 2), ("redacted", 2), ("full", 0)])
def test_a_stored_trace_must_have_what_is_asked_for(
    bodies: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = "- sees: {method: tools/call, args: {q: x}}\n"
    assert expected(tmp_path, wanted, bodies=bodies) == code
    says = "expectation asks for; write it with `--trace-bodies full`\n"
    assert capsys.readouterr().err.endswith(says) is (code == 2)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"n": 1}',
        '{"n": 1, "t": 0, "e": "recv"}',
        '{"n": "1", "t": 0, "e": "open"}',
        '{"n": -1, "t": 0, "e": "open"}',
        '{"n": 1, "t": -1, "e": "open"}',
        "[" * 100000,
        "ÿ",
    ],
    ids=range(9),
)
def test_a_file_that_is_not_a_trace(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trace").write_bytes(b'{"n": 0, "t": 0, "e": "open"}\n' + text.encode("latin-1"))
    (tmp_path / "expect").write_text("- violations: 0\n")
    assert cli.main(["expect", str(tmp_path / "trace"), str(tmp_path / "expect")]) == 2
    assert "line 2 is not a record of a trace" in capsys.readouterr().err
    assert cli.main(["expect", str(tmp_path / "none"), str(tmp_path / "expect")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_templates_see_the_variables_that_the_command_names(tmp_path: Path) -> None:
    config = simple(tools=[tool(text="$${env.SHOWN}$${env.HIDDEN}")])
    _, frames, _ = run(tmp_path, config, call(), env=("SHOWN",))
    assert frames[0]["result"]["content"][0]["text"] == "yes"


def test_a_handler_answers_in_a_run(tmp_path: Path) -> None:
    config = simple(tools=[tool(handler={"type": "command", "cmd": ["cat"]})])
    code, frames, _ = run(tmp_path, config, call(), LIST)
    assert code == 0
    assert [each["id"] for each in frames] == [3, 2]


def test_notes_say_what_is_clamped_and_what_never_happens(tmp_path: Path) -> None:
    config = simple(
        behavior={
            "delivery": {"type": "nested_json", "depth": 9_000_000},
            "side_effects": [{"type": "notification_flood", "duration_sec": 600}],
        },
        logging={"level": "warn", "on_request": True},
    )
    never = {"side_effects": [{"type": "close_connection", "trigger": "on_connect"}]}
    config["tools"] = [{**tool(), "behavior": never}]
    _, _, notes = run(tmp_path, config)
    assert notes[1:4] == [
        "nested_json: depth 9000000 is above the cap; 100000 is used",
        "notification_flood: duration_sec 600 is above the cap; 60 is used",
        "close_connection: on_connect never fires for one item",
    ]
    assert notes[-1] == "test server, injects faults: completed; requests: none"


def test_a_run_has_a_cap_on_its_bytes(tmp_path: Path) -> None:
    config = simple(behavior={"side_effects": [{"type": "batch_amplify", "batch_size": 1_000}]})
    code, _, notes = run(tmp_path, config, call(), LIST, caps=caps_of(None, None, "20kb"))
    assert code == 1
    assert "capped" in notes[-1]


def test_an_abort_is_an_exit_code(tmp_path: Path) -> None:
    trigger = {"on": "tools/list", "timeout": "1ms", "on_timeout": "abort"}
    delivery = {"delivery": {"type": "response_delay", "delay_ms": 100}}
    config = phased({"name": "a", "advance": trigger}, {"name": "b"}, behavior=delivery)
    code, _, notes = run(tmp_path, config, call())
    assert code == 1
    assert "error: phase a: the event did not come in time" in notes


def test_a_log_may_be_a_file_and_never_standard_output(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    config = simple(logging={"output": str(log), "on_request": True})
    run(tmp_path, config, request("odd\x07\tname" + "x" * 300))
    assert log.read_text() == "info: request odd\ufffd\tname" + "x" * (200 - 17) + "\n"
    with pytest.raises(UsageError, match="mix with the messages"):
        run(tmp_path, simple(logging={"output": "stdout"}))


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        run(tmp_path, simple(), transport="http", host="203.0.113.1", port=1)
    trace = str(tmp_path / "lost" / "trace")
    with pytest.raises(UsageError) as caught:
        run(tmp_path, simple(), trace=trace)
    assert str(caught.value) == f"cannot write {trace}: No such file or directory"


# The fixture.


def test_the_fixture_over_stdio_and_http(
    misbehaving_server: Callable[..., testing.MisbehavingServer], tmp_path: Path
) -> None:
    (tmp_path / "server.yaml").write_text(json.dumps(simple()))
    piped = misbehaving_server(tmp_path / "server.yaml", "--seed", "1")
    sent = "".join(json.dumps(each) + "\n" for each in (INITIALIZE, INITIALIZED, call(q=1)))
    done = subprocess.run(
        piped.command, input=sent.encode(), capture_output=True, env=environment(), check=True
    )
    assert len(done.stdout.splitlines()) == 2
    assert piped.wait_for("recv", method="tools/call")["target"] == "t"
    piped.expect({"order": ["initialize", "tools/call:t"]}, {"violations": 0})
    with pytest.raises(pytest.fail.Exception, match="not met"):
        piped.expect({"sees": {"method": "tools/call", "args": {"q": 2}}})

    web = misbehaving_server(tmp_path / "server.yaml")
    asked = urllib.request.Request(web.url, json.dumps(call()).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked, timeout=HANGS) as answer:
        assert json.load(answer)["id"] == 3
    web.expect({"sees": {"method": "tools/call"}})
    with pytest.raises(pytest.fail.Exception, match="no record"):
        web.wait_for("phase", timeout=0.05)
    web.close()
    assert [each["reason"] for each in web.trace if each["e"] == "stop"] == ["terminated"]


def test_a_server_that_does_not_start_says_why(
    misbehaving_server: Callable[..., testing.MisbehavingServer], tmp_path: Path
) -> None:
    (tmp_path / "server.yaml").write_text("server: {name: ''}\ntools: []\n")
    with pytest.raises(AssertionError, match="did not start"):
        print(misbehaving_server(tmp_path / "server.yaml").url)
