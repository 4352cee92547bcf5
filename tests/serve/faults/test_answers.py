"""Templates, conditions, handlers and extensions: what a request gets, beyond the probes."""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.kinds.server.model import CommandHandler, Condition, HttpHandler
from equipage.serve.faults import answers, matching
from equipage.serve.faults.handlers import asker
from equipage.serve.faults.run import literal_texts
from serve.faults.faultlab import (
    INITIALIZE,
    R3,
    Piped,
    call,
    extension,
    modern,
    request,
    simple,
    tool,
)

# Templates. `$$` in a file is `$` after loading.


def filled(text: str, **arguments: Any) -> Any:
    return Piped(simple(tools=[tool(text=text.replace("$", "$$"))])).say(call(**arguments)).texts[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${args.a}", "x,y"),
        ("${args.none}|${args.missing}|${args.n}|${args.b}", "null||1.5|true"),
        ("${args.l[0].k} ${args.l[-1]} ${args.l[9]}", "v 2 "),
        ("${fn.upper(args.a)} ${fn.lower(ABC)}", "X,Y abc"),
        ("${fn.base64(args.a)} ${fn.len(äöü)}", "eCx5 3"),
        ("${fn.truncate(args.a, 2)} ${fn.truncate(args.a, many)}", "x, "),
        ('${fn.default(args.missing, "or this")}', "or this"),
        ("${fn.json(args.a)} ${fn.json(args.l)}", '"x,y" [{"k":"v"},2]'),
        ("${fn.timestamp()}", "1970-01-01T00:00:00.000Z"),
        ("${fn.nothing(x)}${nobody.knows}", ""),
        ("${request.id} ${request.method} ${connection.id}", "3 tools/call c1"),
        ("$${args.a} $$ ${} ${unclosed", "${args.a} $$ ${} ${unclosed"),
        ("${tool.name} ${tool.call_count} ${phase.index}", "t 1 -1"),
        ("${args.t}", "${args.a}"),
    ],
    ids=str,
)
def test_templates(text: str, expected: str) -> None:
    given = {"a": "x,y", "none": None, "n": 1.5, "b": True, "l": [{"k": "v"}, 2], "t": "${args.a}"}
    if "unclosed" in text:  # the loader refuses it, so nothing but this test has such a text
        from equipage.serve.faults.templates import Context

        context = Context({"args": given}, lambda _: None, str, lambda: (None, 0))  # type: ignore
        assert context.fill(text) == expected
        return
    assert filled(text, **given) == expected


def test_text_of_a_file_is_no_template(tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text("costs ${args.a}")
    file = tmp_path / "server.yaml"
    own = tool(content=[{"type": "text", "text": {"$file": "said.txt"}}])
    file.write_text(json.dumps(simple(tools=[own, tool("u", "$${args.a}")])))
    loaded = equipage.load(file, kind="server", env={})
    assert set(literal_texts(loaded)) == {"costs ${args.a}"}


# Conditions.


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        ("*.txt", "a/b.txt", True),
        ("a?[0-9]", "ab7", True),
        ("[!a]*", "abc", False),
        ("a/**/b", "a/x/y/b", True),
        ("regex:^a+$", "aaa", True),
        (("x", "regex:y"), "xyz", True),
        (Condition(contains="b", prefix="a"), "abc", True),
        (Condition(suffix="d"), "abc", False),
        (Condition(regex="(a+)+$"), "a" * 50_000 + "b", False),
        (Condition(gt=3, lt=5), "4", True),
        (Condition(gt=3), "many", False),
        (Condition(any_of=("a*", "b")), "b", True),
        (Condition(exists=True), "", True),
        (Condition(exists=False), "x", False),
        (Condition(exists=False), None, True),
        (Condition(contains="x"), None, False),
        ("*", None, False),
    ],
    ids=str,
)
def test_conditions(condition: matching.When, text: str | None, holds: bool) -> None:
    assert matching.holds(condition, text) is holds


@pytest.mark.parametrize(
    ("match", "params", "fits"),
    [
        ({"uri": "x://a"}, {"uri": "x://a"}, True),
        ({"args.q[1]": 2}, {"arguments": {"q": [1, 2]}}, True),
        ({"args.q": {"a": [1]}}, {"arguments": {"q": {"a": [1]}}}, True),
        ({"args.q": {"a": [1]}}, {"arguments": {"q": {"a": [1.0]}}}, False),
        ({"args.q": {"contains": "b"}}, {"arguments": {"q": "abc"}}, True),
        ({"args.q": {"contains": "1"}}, {"arguments": {"q": 1}}, False),
        ({"args.q": {"any_of": [1, "b"]}}, {"arguments": {"q": True}}, False),
        ({"args.q": {"any_of": [1, "b"], "prefix": "b"}}, {"arguments": {"q": "b"}}, True),
        ({"args.q": 1}, {}, False),
        ({"args": "own"}, {"args": "own", "arguments": {}}, True),
    ],
    ids=str,
)
def test_triggers(match: dict[str, Any], params: dict[str, Any], fits: bool) -> None:
    assert matching.event_fits(match, params) is fits


# Resources and prompts.


def test_resources_and_prompts_answer_from_every_source() -> None:
    branch = {"when": {"resource.uri": "*/1"}, "content": "one of $${resource.name}"}
    own = [
        {"resource": {"uri": "x://plain", "name": "p"}},
        {"resource": {"uri": "x://many/*", "name": "m"}, "response": {"match": [branch]}},
        {
            "resource": {"uri": "x://raw", "name": "r"},
            "response": {"contents": [{"uri": "x://$${resource.call_count}", "blob": "AA=="}]},
        },
        {
            "resource": {"uri": "x://turn", "name": "t", "mimeType": "text/plain"},
            "response": {
                "sequence": [{"content": "a"}, {"contents": [{"uri": "x://b", "text": "b"}]}],
                "onExhausted": "cycle",
            },
        },
    ]
    image = {"role": "assistant", "content": {"type": "image", "mimeType": "image/png"}}
    prompt = {
        "prompt": {"name": "p", "arguments": [{"name": "who", "required": True}]},
        "response": {
            "description": "d",
            "messages": [{"role": "user", "content": "Hi $${args.who}"}, image],
        },
    }
    client = Piped(simple(resources=own, prompts=[prompt])).say(INITIALIZE)
    assert set(client.frames[0]["result"]["capabilities"]) == {"tools", "resources", "prompts"}
    uris = ["x://plain", "x://many/1", "x://many/2", "x://raw", *["x://turn"] * 3, "x://no"]
    client.say(*(request("resources/read", 1, uri=uri) for uri in uris))
    client.say(request("prompts/get", name="p", arguments={"who": "Ada"}))
    client.say(request("resources/list"), request("prompts/list"))
    results = [each.get("result", each.get("error")) for each in client.frames[1:]]
    texts = [each["contents"][0] for each in results[:7]]
    assert texts == [
        {"uri": "x://plain", "text": ""},
        {"uri": "x://many/1", "text": "one of m"},
        {"uri": "x://many/2", "text": ""},
        {"uri": "x://1", "blob": "AA=="},
        {"uri": "x://turn", "text": "a", "mimeType": "text/plain"},
        {"uri": "x://b", "text": "b"},
        {"uri": "x://turn", "text": "a", "mimeType": "text/plain"},
    ]
    assert results[7]["code"] == -32002
    assert results[8] == {
        "description": "d",
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "Hi Ada"}},
            {
                "role": "assistant",
                "content": {"type": "image", "data": "", "mimeType": "image/png"},
            },
        ],
    }
    assert results[9]["resources"][3] == {"uri": "x://turn", "name": "t", "mimeType": "text/plain"}
    assert results[10]["prompts"][0]["arguments"] == [{"name": "who", "required": True}]


def test_an_unknown_resource_has_another_code_in_the_newer_revision() -> None:
    client = Piped(simple(), era="26").say(modern(request("resources/read", uri="x://no")))
    assert client.texts == [-32602]


def test_a_schema_may_be_a_payload() -> None:
    own = tool()
    own["tool"]["inputSchema"] = {"$generate": {"type": "nested_json", "depth": 50}}
    client = Piped(simple(tools=[own])).say(request("tools/list"))
    assert client.sent.count(b"{") > 50
    assert "inputSchema" in client.frames[0]["result"]["tools"][0]


# Extensions.


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"type": "silent"}, b""),
        ({"type": "invalid_utf8"}, b"\xff\xfe\n" + R3 + b"\n"),
        ({"type": "invalid_utf8", "place": "inside"}, R3[:-1] + b',"x":"\xff\xfe"}\n'),
        ({"type": "wrong_id", "id": [1]}, R3.replace(b":3,", b":[1],") + b"\n"),
        ({"type": "repeated", "count": 3}, (R3 + b"\n") * 3),
        ({"type": "truncated", "bytes": 10}, R3[:10] + b"\n"),
    ],
    ids=str,
)
def test_extensions(parameters: dict[str, Any], sent: bytes) -> None:
    assert Piped(extension(**parameters)).say(call()).sent == sent


# Handlers.

ABOUT = {"tool": "t", "arguments": {"q": 1}}


def question(handler: Any) -> answers.FromHandler:
    return answers.FromHandler(handler, ABOUT, lambda reply: reply, lambda text: text + "!")


def script(code: str, timeout: int = 20_000) -> CommandHandler:
    return CommandHandler((sys.executable, "-c", code), timeout, {"WHO": "you"})


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        ("import sys; print(sys.stdin.read())", ABOUT),
        ("import os, json; print(json.dumps({'text': os.environ['WHO']}))", {"text": "you!"}),
        ("import os; print('{\"n\":%d}' % ('SECRET' in os.environ))", {"n": 0}),
        ("print('no json')", "the handler replied with something else than JSON"),
        ("print('[]')", "the handler replied with no JSON object"),
        ("raise SystemExit(3)", "the handler failed: ValueError"),
        ("print('x' * 11_000_000)", "the handler replied with too many bytes"),
    ],
    ids=str,
)
def test_programs_as_handlers(code: str, reply: Any) -> None:
    ask = asker({"SECRET": "s"}, frozenset())
    assert ask(question(script(code))) == reply


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    child = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert asker({}, frozenset())(question(script(code, 1_500))) == "the handler took too long"
    child_is = Path(f"/proc/{noted.read_text()}/stat")
    deadline = time.monotonic() + 5
    while child_is.exists() and " Z " not in child_is.read_text():
        assert time.monotonic() < deadline, "the child of the program goes on"
        time.sleep(0.01)
    assert asker({}, frozenset())(question(CommandHandler(("/nowhere",)))) == (
        "the handler failed: FileNotFoundError"
    )


class Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"text": self.headers["X-Who"], "got": len(body)}).encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_web_services_as_handlers() -> None:
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        ask = asker({}, frozenset())
        found = ask(question(HttpHandler(f"{base}/ok?x=1", headers={"X-Who": "you"})))
        assert found == {"text": "you!", "got": len(json.dumps(ABOUT, separators=(",", ":")))}
        assert ask(question(HttpHandler(f"{base}/moved"))) == "the handler failed: ValueError"
        assert ask(question(HttpHandler("http://example.org/"))) == "the handler failed: ValueError"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"text": "made"}, "made"),
        ({"content": [{"type": "text", "text": "listed"}]}, "listed"),
        ({"error": {"code": -5, "message": "no"}}, -5),
        ({"error": "no"}, -32603),
        ("the handler took too long", -32000),
    ],
    ids=str,
)
def test_what_a_handler_replies_is_the_answer(reply: Any, said: Any) -> None:
    own = tool(handler={"type": "command", "cmd": ["true"]})
    client = Piped(simple(tools=[own])).say(call(q=1))
    ((job, asked),) = client.engine.jobs.asked
    assert asked.payload["context"]["tool_call_count"] == 1
    assert client.frames == []
    client.engine.jobs.answer(job, reply)
    assert client.wait(0).texts == [said]
