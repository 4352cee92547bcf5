"""Templates, conditions, handlers and extensions: what a request gets, beyond the probes."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import equipage
from equipage.formats.server.model import CommandHandler, Condition, HttpHandler
from equipage_faults import answers, matching
from equipage_faults.handlers import make_asker
from equipage_faults.run import literal_texts
from faultlab import INITIALIZE, LIST, R3, Piped, call, extension, modern, request, simple, tool

# Templates. `$$` in a file is `$` after loading.


def filled(text: str, **arguments: Any) -> Any:
    config = simple(tools=[tool(text=text.replace("$", "$$"))])
    return Piped(config, env={"ALLOWED": "shown"}).say(call(**arguments)).texts[0]


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
        ("${ args.a }|${fn.upper( 'x,y' )}|${fn.upper( 'xy' )}", "x,y||XY"),
        ("${fn.lower(\"A\")}${fn.lower('B\")}${fn.lower(')}${fn.lower(C')}", "a'b\"'c'"),
        ("${fn.truncate(args.a, -1)}|${fn.truncate(args.a, 0)}|${fn.truncate(args.a, 9)}", "||x,y"),
        ("${fn.default(args.e, f)}${fn.default(args.none, g)}${fn.default(args.n, h)}", "fg1.5"),
        ("${fn.len('')}${fn.lower(XaX)}", "0xax"),
        ("${fn.json(args.missing)}${fn.json(args.none)}|${fn.upper(args.missing)}|", "nullnull||"),
        ("${fn.len(args.l)}${fn.len(args[0])}${fn.len(tool)}${fn.len(tools)}", "130275"),
        ("${fn.upper}${fn.upper()}${fn.upper( )}${fn.lower(a, b)}${fn.}${fn}${fnx.upper(a)}", ""),
        ("${phase.name} ${tool.none}${tool}", 'baseline {"name":"t","call_count":1}'),
        ("${args.l[0]}${args.l.k}${args.a.k}${args.a[0]}", '{"k":"v"}'),
        ("${env.ALLOWED}${env.OTHER}${env}", "shown"),
        ("${fn.default(env.OTHER, f)}${fn.lower(env.ALLOWED)}", "fshown"),
        ("${fn.uuid()}", "e3e70682-c209-4cac-a29f-6fbed82c07cd"),
    ],
    ids=str,
)
def test_templates(text: str, expected: str) -> None:
    given = {"a": "x,y", "none": None, "n": 1.5, "b": True, "l": [{"k": "v"}, 2], "t": "${args.a}"}
    given["e"] = ""
    if "unclosed" in text:  # the loader refuses it, so nothing but this test has such a text
        from equipage_faults.matching import Context

        context = Context({"args": given}, lambda _: None, str, lambda: (None, 0))  # type: ignore
        assert context.fill(text) == expected
        return
    assert filled(text, **given) == expected


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another time zone than UTC."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "Etc/GMT+5")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_the_clock_and_chance_of_templates_are_those_of_the_run() -> None:
    """The first is that of the run, in UTC; the second comes from its seed."""
    config = simple(tools=[tool(text="$${fn.timestamp()} $${fn.uuid()}")])
    epoch = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    client = Piped(config, epoch=epoch, seed=7).say(call(), at=1_500).say(call())
    first, second = (each.split() for each in client.texts)
    assert first[0] == second[0] == "2026-01-01T00:00:01.500Z"
    assert first[1] != second[1]
    assert Piped(config, epoch=epoch, seed=7).say(call()).texts[0].split()[1] == first[1]
    assert UUID(first[1]).version == 4


def test_texts_that_are_no_templates_stay() -> None:
    config = simple(tools=[tool(text="$${args.a}"), tool("u", "$${args.a}!")])
    client = Piped(config, literal=frozenset({"${args.a}"}))
    assert client.say(call(a=1), call(name="u", a=1)).texts == ["${args.a}", "1!"]


def test_a_variable_that_templates_may_not_see_is_traced() -> None:
    client = Piped(simple(tools=[tool(text="$${env.HOME}")]), env={"ALLOWED": "x"}).say(call())
    assert client.traced("env_refused") == [
        {"n": 4, "t": 0, "conn": "c1", "e": "env_refused", "name": "HOME"}
    ]


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
        (Condition(exists=True), None, False),
        (Condition(exists=False, contains="x"), None, False),
        (Condition(contains="x"), None, False),
        (Condition(contains="x"), "abc", False),
        (Condition(prefix="b"), "abc", False),
        (Condition(suffix="c", regex="b"), "abc", True),
        (Condition(suffix="c", regex="^b"), "abc", False),
        (Condition(any_of=("a*", "b"), prefix="x"), "b", False),
        (Condition(any_of=("a", "regex:^c")), "bc", False),
        (Condition(gt=3), "3", False),
        (Condition(lt=5), "5", False),
        (Condition(lt=5), "-7e3", True),
        (Condition(gt=-1), "1e3", True),
        (Condition(lt=5), "6", False),
        (("x", "y"), "z", False),
        ("*", None, False),
        ("*", "line\nline", True),
        ("a?c", "a\nc", True),
        ("a?c", "ac", False),
        ("a.c", "abc", False),
        ("a+(b)|{c}^$\\", "a+(b)|{c}^$\\", True),
        ("a/b", "xa/by", False),
        ("**/b", "b", True),
        ("**/b", "x/y/b", True),
        ("**/b", "xb", False),
        ("a/**", "a/x/y", True),
        ("a/**/b", "a/b", True),
        ("**", "x/y", True),
        ("a**b", "axxb", True),
        ("[abc]", "b", True),
        ("[!abc]", "b", False),
        ("[!abc]", "d", True),
        ("[a-c]x", "bx", True),
        ("[]a]", "]", True),
        ("[[]", "[", True),
        ("[\\]", "\\", True),
        ("[!]]", "]", False),
        ("[!]]", "x", True),
        ("[", "[", True),
        ("[a", "[a", True),
        ("[[x]", "X", False),
        ("[]b]", "X", False),
        ("[\\x]", "X", False),
        ("aX", "aX", True),
    ],
    ids=str,
)
def test_conditions(condition: matching.When, text: str | None, holds: bool) -> None:
    assert matching.condition_holds(condition, text) is holds


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
        ({"args.q": 1, "args.r": 1}, {"arguments": {"q": 1, "r": 2}}, False),
        ({"args.q": {"any_of": [1, "b"], "prefix": "c"}}, {"arguments": {"q": "b"}}, False),
        ({"args.q": {"any_of": [1], "prefix": "c"}}, {"arguments": {"q": 1}}, False),
        ({"args.q": {"any_of": [1, 2]}}, {"arguments": {"q": 2}}, True),
        ({"args.q": {"suffix": "b", "regex": "^a"}}, {"arguments": {"q": "ab"}}, True),
        ({"args.q": {}}, {"arguments": {"q": {}}}, True),
        ({"args.q": {}}, {"arguments": {"q": "x"}}, False),
        ({"args.q": {"prefix": "a", "x": 1}}, {"arguments": {"q": "ab"}}, False),
        ({"args.q": {"prefix": "a", "x": 1}}, {"arguments": {"q": {"prefix": "a", "x": 1}}}, True),
        ({"args.q": {"a": 1}}, {"arguments": {"q": {"a": 1, "b": 1}}}, False),
        ({"args.q": [1, 2]}, {"arguments": {"q": [1]}}, False),
        ({"args.q": [1]}, {"arguments": {"q": {"0": 1}}}, False),
        ({"args.q": [1]}, {"arguments": {"q": 1}}, False),
        (
            {
                "args.q": {
                    **dict.fromkeys(("contains", "prefix", "suffix", "regex"), "a"),
                    "any_of": ["a"],
                }
            },
            {"arguments": {"q": "a"}},
            True,
        ),
        ({"args.q": None}, {"arguments": {"q": None}}, True),
        ({"args.q": 1}, {"arguments": {"q": True}}, False),
        ({"args.q[-2].a": 1}, {"arguments": {"q": [{"a": 1}, 2]}}, True),
        ({"args.q[-3]": 1}, {"arguments": {"q": [1, 1]}}, False),
        ({"args.q[2]": 1}, {"arguments": {"q": [1, 1]}}, False),
        ({"args.q[0]": 1}, {"arguments": {"q": {"0": 1}}}, False),
        ({"args.q.0": 1}, {"arguments": {"q": [1]}}, False),
        ({"args.q[0][0].b": 1}, {"arguments": {"q": [[{"b": 1}]]}}, True),
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


def answered(config: dict[str, Any], *messages: dict[str, Any], **options: Any) -> list[Any]:
    """The results and errors that messages get."""
    client = Piped(config, **options).say(*messages)
    return [each.get("result", each.get("error")) for each in client.frames]


def resource(name: str, **response: Any) -> dict[str, Any]:
    return {"resource": {"uri": f"x://{name}", "name": name}, "response": response}


def prompt(name: str, **response: Any) -> dict[str, Any]:
    return {"prompt": {"name": name}, "response": response}


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": {"type": "text", "text": text}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def read(name: str) -> dict[str, Any]:
    return request("resources/read", uri=f"x://{name}")


def test_lists_have_all_that_the_author_wrote() -> None:
    described = {"uri": "x://b", "name": "b", "description": "d", "mimeType": "text/plain"}
    arguments = [{"name": "who", "description": "w", "required": True}, {"name": "how"}]
    asked = {"name": "q", "description": "d", "arguments": arguments}
    config = simple(
        resources=[resource("a", content=""), {"resource": described}],
        prompts=[
            prompt("p", messages=[said("hi")]),
            {**prompt("q", messages=[said("x")]), "prompt": asked},
        ],
    )
    lists = [request(f"{each}/list") for each in ("tools", "resources", "prompts")]
    assert answered(config, *lists) == [
        {"tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}]},
        {"resources": [{"uri": "x://a", "name": "a"}, described]},
        {"prompts": [{"name": "p"}, asked]},
    ]


def test_a_phase_changes_every_list() -> None:
    """It removes, then replaces, then adds; what it adds takes the place of its namesake."""
    config: dict[str, Any] = {
        "server": {"name": "s"},
        "baseline": {
            "tools": [tool(each, each) for each in "abc"],
            "resources": [resource(each, content=each) for each in "abc"],
            "prompts": [prompt(each, messages=[said(each)]) for each in "abc"],
        },
        "phases": [
            {
                "name": "p",
                "remove_tools": ["a"],
                "replace_tools": {"b": tool("b", "new")},
                "add_tools": [tool("d", "d"), tool("c", "added")],
                "remove_resources": ["x://a"],
                "replace_resources": {"x://b": resource("b", content="new")},
                "add_resources": [resource("d", content="d"), resource("c", content="added")],
                "remove_prompts": ["a"],
                "replace_prompts": {"b": prompt("b", messages=[said("new")])},
                "add_prompts": [
                    prompt("d", messages=[said("d")]),
                    prompt("c", messages=[said("added")]),
                ],
            }
        ],
    }
    expected = [("b", "new"), ("c", "added"), ("d", "d")]
    tools, resources, prompts = answered(
        config, *(request(f"{each}/list") for each in ("tools", "resources", "prompts"))
    )
    for found in (tools["tools"], resources["resources"], prompts["prompts"]):
        assert [each["name"] for each in found] == [name for name, _ in expected]
    config["phases"].insert(0, {"name": "first", "advance": {"on": "tools/list"}})
    config["phases"][1]["add_tools"].append(tool("i", "$${phase.name} $${phase.index}"))
    assert answered(config, LIST, call(name="i"))[1]["content"] == [text("p 1")]
    del config["phases"][0]
    for name, words in expected:
        called, got, had = answered(
            config, call(name=name), read(name), request("prompts/get", name=name)
        )
        assert called["content"][0]["text"] == words
        assert got["contents"][0]["text"] == words
        assert had["messages"][0]["content"]["text"] == words


def test_an_address_wins_over_patterns_and_the_first_pattern_over_others() -> None:
    config = simple(
        resources=[
            resource("a*", content="first"),
            resource("*", content="second"),
            resource("ab", content="address"),
        ]
    )
    found = answered(config, read("ab"), read("ac"), read("b"))
    assert [each["contents"][0]["text"] for each in found] == ["address", "first", "second"]


@pytest.mark.parametrize(
    ("own", "change", "found"),
    [
        ({"logging": {}}, None, {"logging": {}}),
        (None, {"logging": {}}, {"logging": {}}),
        (
            {"logging": {"a": 1}, "resources": {"subscribe": True}},
            {"resources": {"listChanged": True}, "prompts": {}},
            {"logging": {"a": 1}, "resources": {"listChanged": True}, "prompts": {}},
        ),
        (None, None, {"tools": {}}),
    ],
)
def test_capabilities(own: Any, change: Any, found: Any) -> None:
    server = {"name": "s", **({"capabilities": own} if own else {})}
    phase = {"name": "p", **({"replace_capabilities": change} if change else {})}
    config = {"server": server, "baseline": {"tools": [tool()]}, "phases": [phase]}
    assert answered(config, INITIALIZE)[0]["capabilities"] == found


IMAGE = {"type": "image", "mimeType": "image/png"}
GENERATED = {"$generate": {"type": "nested_json", "depth": 2, "structure": "array"}}
PARTS = [
    {"type": "resource", "resource": {"uri": "x://$${args.a}", "mimeType": "a/b", "text": "1"}},
    {"type": "resource", "resource": {"uri": "x://b", "blob": "$${args.a}", "text": "$${args.a}"}},
    {**IMAGE, "data": "AA=="},
]
TWICE = [{"content": [text("a")]}, {"content": [text("b")]}]
NULL = {"name": "t", "arguments": {"q": None}}
#: The item, what is asked of it some times, and the last result.
SOURCES: dict[str, tuple[dict[str, Any], dict[str, Any], int, Any]] = {
    "an error of a tool is a result": (
        tool(content=[text("no")], isError=True),
        call(),
        1,
        {"content": [text("no")], "isError": True},
    ),
    "a tool may say nothing": (tool(sequence=[{}]), call(), 1, {"content": []}),
    "parts of content": (
        tool(content=PARTS),
        call(a="v"),
        1,
        {
            "content": [
                {"type": "resource", "resource": {"uri": "x://v", "mimeType": "a/b", "text": "1"}},
                {
                    "type": "resource",
                    "resource": {"uri": "x://b", "text": "v", "blob": "$${args.a}"[1:]},
                },
                {**IMAGE, "data": "AA=="},
            ]
        },
    ),
    "an image may be a payload": (
        tool(content=[{**IMAGE, "data": GENERATED}]),
        call(),
        1,
        {"content": [{**IMAGE, "data": "[[null]]"}]},
    ),
    "the last of a sequence stays": (tool(sequence=TWICE), call(), 5, {"content": [text("b")]}),
    "a sequence may start over": (
        tool(sequence=TWICE, onExhausted="cycle"),
        call(),
        4,
        {"content": [text("b")]},
    ),
    "the sequence of a branch": (
        tool(match=[{"when": {"args.q": "x"}, "sequence": TWICE, "on_exhausted": "cycle"}]),
        call(q="x"),
        3,
        {"content": [text("a")]},
    ),
    "null does not exist": (
        tool(match=[{"when": {"args.q": {"exists": False}}, "content": [text("none")]}]),
        request("tools/call", **NULL),
        1,
        {"content": [text("none")]},
    ),
    "null fits no pattern": (
        tool(match=[{"when": {"args.q": "*"}, "content": [text("x")]}], content=[text("y")]),
        request("tools/call", **NULL),
        1,
        {"content": [text("y")]},
    ),
    "all conditions of a branch": (
        tool(
            match=[{"when": {"args.q": "1", "args.r": "1"}, "content": [text("x")]}],
            content=[text("y")],
        ),
        call(q=1, r=2),
        1,
        {"content": [text("y")]},
    ),
    "a text of a resource": (
        resource("a", content="at $${resource.uri}"),
        read("a"),
        1,
        {"contents": [{"uri": "x://a", "text": "at x://a"}]},
    ),
    "a payload of a resource": (
        resource("a", content=GENERATED),
        read("a"),
        1,
        {"contents": [{"uri": "x://a", "text": "[[null]]"}]},
    ),
    "a branch without content": (
        resource("a", match=[{"when": {"resource.name": "a"}}], content="x"),
        read("a"),
        1,
        {"contents": [{"uri": "x://a", "text": ""}]},
    ),
    "texts of a branch": (
        resource(
            "a", match=[{"when": {"resource.name": "a"}, "content": [text("1"), IMAGE, text("2")]}]
        ),
        read("a"),
        1,
        {"contents": [{"uri": "x://a", "text": "1"}, {"uri": "x://a", "text": "2"}]},
    ),
    "contents come before branches": (
        resource(
            "a",
            contents=[{"uri": "x://b", "text": "$${resource.name} $${resource.call_count}"}],
            match=[{"when": {"resource.name": "a"}, "content": "no"}],
        ),
        read("a"),
        2,
        {"contents": [{"uri": "x://b", "text": "a 2"}]},
    ),
    "a prompt that counts": (
        prompt("p", messages=[said("$${prompt.name} $${prompt.call_count} $${args.a}$${args}")]),
        request("prompts/get", name="p"),
        2,
        {"messages": [said("p 2 {}")]},
    ),
    "arguments of null are none": (
        prompt("p", messages=[said("$${args}")]),
        request("prompts/get", name="p", arguments=None),
        1,
        {"messages": [said("{}")]},
    ),
    "a prompt may say nothing": (
        prompt("p", match=[{"when": {"prompt.name": "p"}}], messages=[said("x")]),
        request("prompts/get", name="p"),
        1,
        {"messages": []},
    ),
    "what a resource is": (
        {
            "resource": {"uri": "x://*", "name": "a", "mimeType": "a/b"},
            "response": {
                "content": "$${resource.uri} $${resource.name} $${resource.mimeType} $${args}"
            },
        },
        read("1"),
        1,
        {"contents": [{"uri": "x://1", "text": "x://1 a a/b {}", "mimeType": "a/b"}]},
    ),
    "an address that no pattern fits": (
        {"resource": {"uri": "x://*", "name": "a"}},
        request("resources/read", uri="y://1"),
        1,
        {"code": -32002, "message": "unknown resource: y://1"},
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_of_answers(name: str) -> None:
    item, message, times, result = SOURCES[name]
    sort = next(each for each in ("tool", "resource", "prompt") if each in item)
    config = {"server": {"name": "s"}, "tools": [], f"{sort}s": [item]}
    found = answered(config, *[message] * times)
    assert (len(found), found[-1]) == (times, result)


SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
INFO = {
    "name": "s",
    "version": "0.0.0",
    "title": "test server, injects faults",
    "description": "Misbehaves on purpose, to test clients; run by equipage.",
}
META = {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}
KEPT = {"ttlMs": 0, "cacheScope": "private"}
NO_META = {**LIST, "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}


def unknown(name: str) -> dict[str, Any]:
    return {"code": -32601, "message": f"unknown method: {name}"}


def refused(asked: Any, *versions: str) -> dict[str, Any]:
    data = {"supported": list(versions), "requested": asked}
    return {"code": -32022, "message": "this revision is not supported", "data": data}


#: The revision a server speaks, a message, and the result or error.
ERAS: list[tuple[str, dict[str, Any], Any]] = [
    (
        "25",
        INITIALIZE,
        {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO},
    ),
    ("25", request("ping"), {}),
    ("25", request("logging/setLevel"), {}),
    ("25", request("resources/subscribe", uri="x://a"), {}),
    ("25", request("resources/unsubscribe", uri="x://a"), {}),
    ("25", request("server/discover"), unknown("server/discover")),
    ("25", modern(request("server/discover")), unknown("server/discover")),
    ("25", request("odd"), unknown("odd")),
    ("25", modern(call(), "1900-01-01"), {"content": [text("hi")]}),
    ("25", call(name="zz"), {"code": -32602, "message": "unknown name: zz"}),
    ("25", request("tools/call"), {"code": -32602, "message": "`tools/call` needs `name`"}),
    ("25", request("resources/read"), {"code": -32602, "message": "`resources/read` needs `uri`"}),
    ("25", read("a"), {"code": -32002, "message": "unknown resource: x://a"}),
    ("26", modern(read("a")), {"code": -32602, "message": "unknown resource: x://a"}),
    ("26", modern(request("ping")), unknown("ping")),
    ("26", modern(request("logging/setLevel")), unknown("logging/setLevel")),
    ("26", modern(request("resources/subscribe", uri="x")), unknown("resources/subscribe")),
    ("26", modern(call()), {"content": [text("hi")], **META}),
    ("26", modern(request("resources/list")), {"resources": [], **META, **KEPT}),
    (
        "26",
        modern(request("server/discover")),
        {"supportedVersions": SUPPORTED[:1], "capabilities": {"tools": {}}, **META, **KEPT},
    ),
    (
        "auto",
        modern(request("server/discover")),
        {"supportedVersions": SUPPORTED, "capabilities": {"tools": {}}, **META, **KEPT},
    ),
    ("26", INITIALIZE, refused("2025-11-25", *SUPPORTED[:1])),
    ("26", modern(INITIALIZE), unknown("initialize")),
    ("26", modern(INITIALIZE, "1900-01-01"), refused("1900-01-01", *SUPPORTED[:1])),
    ("auto", modern(LIST, "1900-01-01"), refused("1900-01-01", *SUPPORTED)),
    (
        "26",
        LIST,
        {"code": -32602, "message": "`_meta` needs `io.modelcontextprotocol/protocolVersion`"},
    ),
    (
        "auto",
        NO_META,
        {"code": -32602, "message": "`_meta` needs `io.modelcontextprotocol/clientCapabilities`"},
    ),
]


@pytest.mark.parametrize(("era", "message", "result"), ERAS, ids=range(len(ERAS)))
def test_answers_of_both_revisions(era: str, message: dict[str, Any], result: Any) -> None:
    assert answered(simple(unknown_methods="error"), message, era=era) == [result]


def test_a_client_that_leaves_out_metadata_violates_the_newer_revision() -> None:
    client = Piped(simple(), era="26").say(LIST, INITIALIZE, modern(LIST, "1900-01-01"))
    missing = "io.modelcontextprotocol/protocolVersion"
    (found,) = client.traced("violation")
    assert found == {
        "n": 3,
        "t": 0,
        "conn": "c1",
        "e": "violation",
        "what": "metadata",
        "missing": missing,
    }


def test_a_sequence_that_is_exhausted_says_so() -> None:
    own = simple(tools=[tool(sequence=TWICE[:1], onExhausted="error")])
    told = "the sequence of answers is exhausted"
    assert answered(own, call(), call())[1] == {"code": -32000, "message": told}
    newer = answered(own, modern(call()), modern(call()), era="26")
    assert newer[1] == {"code": -32603, "message": told}


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


def question(handler: Any) -> answers.HandlerCall:
    return answers.HandlerCall(handler, ABOUT, lambda reply: reply, lambda text: text + "!")


def script(code: str, timeout: int = 20_000) -> CommandHandler:
    return CommandHandler((sys.executable, "-c", code), timeout, {"WHO": "you"}, "/")


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
        ("print('[' * 100_000)", "the handler failed: RecursionError"),
        ("import os, json; print(json.dumps({'at': os.getcwd()}))", {"at": "/"}),
        ("import os, json; print(json.dumps({'at': os.environ['LANG']}))", {"at": "xx"}),
        ("import sys; sys.stderr.write('noise'); print('{}')", {}),
    ],
    ids=str,
)
def test_programs_as_handlers(code: str, reply: Any, capfd: pytest.CaptureFixture[str]) -> None:
    ask = make_asker({"SECRET": "s", "LANG": "xx"}, frozenset())
    assert ask(question(script(code))) == reply
    assert capfd.readouterr().err == "", "what it says besides is no matter of ours"


def test_a_reply_may_have_ten_mebibytes() -> None:
    code = "print('{\"a\":\"' + 'x' * %d + '\"}', end='')"
    ask = make_asker({}, frozenset())
    reply = ask(question(script(code % (10 * 1024 * 1024 - 8))))
    assert isinstance(reply, dict)
    longer = ask(question(script(code % (10 * 1024 * 1024 - 7))))
    assert longer == "the handler replied with too many bytes"


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    child = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert make_asker({}, frozenset())(question(script(code, 1_500))) == "the handler took too long"
    child_is = Path(f"/proc/{noted.read_text()}/stat")
    deadline = time.monotonic() + 60
    while child_is.exists() and " Z " not in child_is.read_text():
        assert time.monotonic() < deadline, "the child of the program goes on"
        time.sleep(0.01)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    assert make_asker({}, frozenset())(question(script(deaf, 300))) == "the handler took too long"
    assert make_asker({}, frozenset())(question(CommandHandler(("/nowhere",)))) == (
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
        if self.path == "/slow":
            time.sleep(0.4)
        self.send_response(200)
        self.end_headers()
        if self.path in ("/large", "/larger"):
            rest = 10 * 1024 * 1024 - 8 + (self.path == "/larger")
            self.wfile.write(b'{"a":"' + b"x" * rest + b'"}')
            return
        said = {name: self.headers[name] for name in ("X-Who", "Content-Type")}
        found = {**said, "path": self.path, "got": json.loads(body)}
        with suppress(ConnectionError):
            self.wfile.write(json.dumps(found).encode())

    def log_message(self, *_: Any) -> None:
        pass


def test_web_services_as_handlers() -> None:
    server = HTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        ask = make_asker({}, frozenset())
        found = ask(question(HttpHandler(f"{base}/ok?x=1", headers={"X-Who": "you"})))
        said = {"X-Who": "you!", "Content-Type": "application/json", "got": ABOUT}
        assert found == {**said, "path": "/ok?x=1"}
        headers = {"Content-Type": "text/plain"}
        found = ask(question(HttpHandler(base, headers=headers)))
        assert found == {**said, "X-Who": None, "path": "/", "Content-Type": "text/plain!"}
        assert ask(question(HttpHandler(f"{base}/moved"))) == "the handler failed: ValueError"
        assert ask(question(HttpHandler("http://example.org/"))) == "the handler failed: ValueError"
        slow = HttpHandler(f"{base}/slow", timeout_ms=100)
        assert ask(question(slow)) == "the handler took too long"
        assert isinstance(ask(question(HttpHandler(f"{base}/large"))), dict)
        larger = ask(question(HttpHandler(f"{base}/larger")))
        assert larger == "the handler replied with too many bytes"
        secure = HttpHandler(base.replace("http:", "https:"), timeout_ms=2_000)
        assert ask(question(secure)) == "the handler failed: SSLError"
        # Another name for this machine is one more host, which must be allowed.
        named = HttpHandler(base.replace("127.0.0.1", "127.1"))
        assert ask(question(named)) == "the handler failed: ValueError"
        allowed = make_asker({}, frozenset({"127.1"}))
        assert isinstance(allowed(question(named)), dict)
        assert isinstance(allowed(question(HttpHandler(base))), dict)
    finally:
        server.shutdown()
        server.server_close()


def asking(item: dict[str, Any], message: dict[str, Any], reply: Any, **options: Any) -> Any:
    """The question that the handler of an item gets, and what the client gets for its reply."""
    sort = next(each for each in ("tool", "resource", "prompt") if each in item)
    config = {"server": {"name": "s"}, "tools": [], f"{sort}s": [item]}
    client = Piped(config, **options).say(message)
    ((job, asked),) = client.engine.jobs.asked
    assert client.frames == []
    assert client.engine.jobs.are_blocked
    client.engine.jobs.answer(job, reply)
    (frame,) = client.wait(0).frames
    return asked, frame.get("result", frame.get("error"))


HANDLER = {"type": "command", "cmd": ["true"]}
ERROR = {"code": -5, "message": "no", "data": [1]}
LISTED = [text("a"), {"type": "image"}, 5]
PATTERN = {
    "resource": {"uri": "x://*", "name": "a", "mimeType": "a/b"},
    "response": {"handler": HANDLER},
}


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        ({"text": "$${args.q}"}, {"content": [text("$${args.q}")], "isError": True}),
        ({"text": 5}, {"content": [text("")], "isError": True}),
        ({"content": "x", "text": "y"}, {"content": [text("y")], "isError": True}),
        ({"content": LISTED}, {"content": LISTED, "isError": True}),
        ({"error": ERROR}, ERROR),
        ({"error": "no"}, {"code": -32603, "message": "no"}),
        ({"error": {"code": "5"}}, {"code": -32603, "message": ""}),
        ("the handler took too long", {"code": -32000, "message": "the handler took too long"}),
    ],
    ids=str,
)
def test_what_a_handler_replies_is_the_answer(reply: Any, result: Any) -> None:
    own = tool(handler=HANDLER, isError=True)
    asked, found = asking(own, call(q=1), reply)
    assert found == result
    assert asked.fill("${args.q}") == "1"
    assert asked.payload == {
        "tool": "t",
        "arguments": {"q": 1},
        "context": {
            "phase": "baseline",
            "phase_index": -1,
            "tool_call_count": 1,
            "connection_id": "c1",
            "request_id": 3,
        },
    }


def test_handlers_of_resources_and_prompts() -> None:
    asked, found = asking(PATTERN, read("1"), {"content": LISTED})
    own = {"uri": "x://1", "mimeType": "a/b"}
    assert found == {"contents": [{**own, "text": "a"}, {**own, "text": ""}]}
    assert asked.payload["resource"] == "x://1"
    assert asked.payload["context"]["resource_call_count"] == 1
    own = prompt("p", match=[{"default": True, "handler": HANDLER}], sequence=[{"messages": []}])
    asked, found = asking(own, request("prompts/get", name="p"), {"content": LISTED})
    assert found == {"messages": [{"role": "user", "content": each} for each in LISTED]}
    assert asked.payload["prompt"] == "p"
    assert asked.payload["context"]["prompt_call_count"] == 1


def test_a_handler_that_fails_has_another_code_in_the_newer_revision() -> None:
    _, found = asking(tool(handler=HANDLER), modern(call()), "why", era="26")
    assert found == {"code": -32603, "message": "why"}
