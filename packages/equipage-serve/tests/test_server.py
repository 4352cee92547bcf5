"""A whole server over pipes, in a copy of this process: what clients of both revisions get."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

from clock import HANGS
from equipage import __version__
from equipage.core.diagnostics import Diagnostic, LoadError, UsageError
from equipage.loading.session import Request
from equipage_serve.children import mark_done
from equipage_serve.outcome import Result, Stats
from equipage_serve.snapshot import Snapshot, take_snapshot
from equipage_serve.tools import Settings
from equipage_serve.wire.catalogue import catalogue_of, page
from forked import fork_supervisors
from lab import Later, needs, write
from packs import COUNT, TEXT, WORDS, pack, write_packs
from talk import META
from test_engine import HERE

needs("mcp", "the extra `serve` is not installed")

run = Later("equipage_serve.wire.run")
server = Later("equipage_serve.wire.server")
http = Later("equipage_serve.wire.http")

TOOLS = """
import os, sys, time
def count(p): return {"words": len(p["text"].split())}
def echo(p): return p
def steps(p):
    for line in p["lines"]:
        print(line, file=sys.stderr, flush=True)
        time.sleep(p.get("pause", 0))
    return {}
"""
SKILL = "---\nname: {}\ndescription: Writes.\n---\nDo it.\n"
SETTINGS = Settings(allow=frozenset({"python"}), isolation="best")


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """Before this process is copied, or each copy would import them."""
    assert run.serve
    assert server.build


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    async def unasked(paths: Any) -> Any:
        note(f"watches {paths}")
        yield None

    fork_supervisors(monkeypatch)
    monkeypatch.setattr("equipage_serve.wire.run._watch_paths", unasked)
    packs = [
        pack("t.count", "tools:count", inputSchema=TEXT, outputSchema=COUNT),
        pack("t.echo", "tools:echo", deterministic=True),
        pack("t.list", "list.py", outputSchema={"type": "array"}),
        pack("t.steps", "tools:steps"),
    ]
    files = {
        "tools.py": TOOLS,
        "list.py": "print('[1, \"ü\"]')",
        "skills/notes/SKILL.md": SKILL.format("notes"),
        "skills/notes/a b/c.txt": "text",
        "skills/notes/x.bin": b"\xff",
        "skills/more/SKILL.md": SKILL.format("more"),
    }
    return write_packs(tmp_path, packs, files)


def taken(folder: Path) -> Snapshot:
    return take_snapshot([str(folder)], Request(env={}), SETTINGS, HERE)


class Client:
    """A client of a server that is a copy of this process."""

    def __init__(
        self,
        folder: Path,
        *,
        modern: bool = True,
        again: Callable[[], Snapshot] | None = None,
        changes: int | None = None,
        **plan: Any,
    ) -> None:
        self.modern, self.number, self.read = modern, 0, b""
        self.other: list[dict[str, Any]] = []
        catalogue = catalogue_of(taken(folder), "dotted")
        given, self.input = os.pipe()
        self.output, written = os.pipe()
        self.errors, noise = os.pipe()
        self.child = os.fork()
        if not self.child:
            code = 99
            try:
                for descriptor, target in ((given, 0), (written, 1), (noise, 2)):
                    os.dup2(descriptor, target)
                for descriptor in (self.input, self.output, self.errors):
                    os.close(descriptor)
                sys.stderr = os.fdopen(2, "w", closefd=False)
                made = run.Plan(SETTINGS, HERE, **plan)
                code = run.serve(catalogue, made, again or (lambda: taken(folder)), note)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        for descriptor in (given, written, noise):
            os.close(descriptor)
        if not modern:
            client = {"name": "test", "version": "1"}
            opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            self.opened = self.ask("initialize", **opening)["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: Any) -> None:
        os.write(self.input, json.dumps(message).encode() + b"\n")

    def start(self, method: str, meta: dict[str, Any] | None = None, **params: Any) -> int:
        self.number += 1
        own = {**(META if self.modern else {}), **(meta or {})}
        if own:
            params["_meta"] = own
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def line(self) -> dict[str, Any]:
        while b"\n" not in self.read:
            assert select.select([self.output], [], [], 8)[0], self.read
            more = os.read(self.output, 1 << 16)
            assert more, self.end()
            self.read += more
        line, _, self.read = self.read.partition(b"\n")
        return json.loads(line)  # type: ignore[no-any-return]

    def answer(self, number: int) -> Any:
        while True:
            found = self.line()
            if found.get("id") == number and "method" not in found:
                return found
            self.other.append(found)

    def ask(self, method: str, meta: dict[str, Any] | None = None, **params: Any) -> Any:
        return self.answer(self.start(method, meta, **params))

    def noted(self) -> str:
        """What the server says next beside the protocol."""
        assert select.select([self.errors], [], [], 8)[0]
        return os.read(self.errors, 1 << 16).decode()

    def end(self, number: int = 0) -> tuple[int, str]:
        """The exit code, and what was said; with a signal, or by the end of the input."""
        if number:
            os.kill(self.child, number)
        else:
            os.close(self.input)
        _, status = os.waitpid(self.child, 0)
        if number:
            os.close(self.input)
        os.close(self.output)
        with os.fdopen(self.errors, "rb") as errors:
            return os.waitstatus_to_exitcode(status), errors.read().decode()


def note(line: str) -> None:
    os.write(2, line.encode() + b"\n")


BOTH = pytest.mark.parametrize("modern", [False, True], ids=["2025-11-25", "2026-07-28"])


def complete(modern: bool, **result: Any) -> dict[str, Any]:
    return {"resultType": "complete", **result} if modern else result


@BOTH
def test_tools(modern: bool, folder: Path) -> None:
    client = Client(folder, modern=modern)
    listed = client.ask("tools/list")["result"]
    catalogue = catalogue_of(taken(folder), "dotted")
    assert listed["tools"] == [
        each.modern if modern else each.legacy for each in catalogue.entries.values()
    ]
    assert ("resultType" in listed, "ttlMs" in listed) == (modern, modern)
    called = client.ask("tools/call", name="t.count", arguments=WORDS)["result"]
    stats = called["_meta"]["equipage/execution"]
    assert called["content"] == [{"type": "text", "text": '{"words": 3}'}]
    assert called["structuredContent"] == {"words": 3}
    assert not called.get("isError")
    assert (stats["outputBytes"], stats["cacheHit"]) == (11, False)
    array = client.ask("tools/call", name="t.list")["result"]
    assert array["content"] == [{"type": "text", "text": '[1, "ü"]'}]
    assert array.get("structuredContent") == ([1, "ü"] if modern else None)
    wrong = client.ask("tools/call", name="t.count", arguments={"text": 5})["result"]
    assert wrong["isError"] is True
    assert wrong["_meta"]["equipage/code"] == "INVALID_INPUT"
    assert wrong["_meta"]["equipage/execution"]["outputBytes"] == 0
    assert wrong["content"] == [
        {
            "type": "text",
            "text": 'INVALID_INPUT: the arguments do not fit the input schema at `/text`: type: "string"',
        }
    ]
    assert "structuredContent" not in wrong
    unknown = client.ask("tools/call", name="x" * 200)["error"]
    assert (unknown["code"], unknown["message"]) == (-32602, f"Unknown tool: {'x' * 128}")
    cursor = client.ask("tools/list", cursor="x")["error"]
    assert (cursor["code"], cursor["message"]) == (-32602, "This server did not make the cursor")
    assert client.end() == (0, "")


@BOTH
def test_skills(modern: bool, folder: Path) -> None:
    client = Client(folder, modern=modern)
    if modern:
        said = client.ask("server/discover")["result"]
        assert said["ttlMs"] == 300_000
        extensions = said["capabilities"]["extensions"]
        assert extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    else:
        said = client.opened
        assert said["serverInfo"] == {
            "name": "equipage",
            "title": "equipage",
            "version": __version__,
        }
        assert said["capabilities"]["tools"] == {"listChanged": True}
        assert said["capabilities"]["resources"]["listChanged"] is True
    assert said["instructions"] == (
        "Skills are offered as resources (skill://NAME/SKILL.md): more, notes."
    )
    snapshot = taken(folder)
    hints = {"ttlMs": 300_000, "cacheScope": "public"} if modern else {}
    listed = client.ask("skills/list")["result"]
    listed.pop("_meta", None)  # who we are, by the package
    assert listed == complete(modern, skills=[each.entry() for each in snapshot.skills], **hints)
    uris = [file.uri for each in snapshot.skills for file in each.files]
    resources = client.ask("resources/list")["result"]
    assert [each["uri"] for each in resources["resources"]] == sorted(uris)
    assert (resources.get("cacheScope"), resources.get("resultType")) == (
        ("public", "complete") if modern else (None, None)
    )
    templates = client.ask("resources/templates/list")["result"]
    assert templates["resourceTemplates"] == []
    # Addresses may be escaped as clients like it.
    for uri in ("skill://notes/a%20b/c.txt", "skill://notes/a b/c.txt"):
        read = client.ask("resources/read", uri=uri)["result"]
        assert read["contents"] == [
            {"uri": "skill://notes/a%20b/c.txt", "mimeType": "text/plain", "text": "text"}
        ]
    binary = client.ask("resources/read", uri="skill://notes/x.bin")["result"]["contents"][0]
    assert (binary["blob"], "text" in binary) == ("/w==", False)
    missing = client.ask("resources/read", uri="skill://notes/none")["error"]
    assert missing == {
        "code": -32602 if modern else -32002,
        "message": "Resource not found",
        "data": {"uri": "skill://notes/none"},
    }
    for uri in ("skill://notes", "skill://notes/"):
        inside = client.ask("resources/directory/read", uri=uri)["result"]
        assert [each["name"] for each in inside["resources"]] == ["notes", "a b", "x.bin"]
        assert inside.get("ttlMs") == hints.get("ttlMs")
    below = client.ask("resources/directory/read", uri="skill://notes/a b")["result"]
    assert [each["uri"] for each in below["resources"]] == ["skill://notes/a%20b/c.txt"]
    one = client.ask("skills/get", uri="skill://notes/SKILL.md")["result"]
    assert one["skill"] == snapshot.skills[1].entry()
    assert one.get("cacheScope") == hints.get("cacheScope")
    for method, words in (("skills/get", "skill"), ("resources/directory/read", "folder")):
        assert client.ask(method, uri="skill://no")["error"] == {
            "code": -32602,
            "message": f"There is no such {words}",
            "data": {"uri": "skill://no"},
        }
    assert client.end() == (0, "")


def test_without_skills_there_are_no_instructions(tmp_path: Path) -> None:
    write_packs(tmp_path, [pack("t.echo", "tools:echo")], {"tools.py": TOOLS})
    client = Client(tmp_path, modern=False)
    assert "instructions" not in client.opened
    client.end()


@BOTH
def test_progress(modern: bool, folder: Path) -> None:
    client = Client(folder, modern=modern)
    lines = ["progress 1/3 one", "noise", "progress 1/3", "progress 0.5", " progress 2.5 "]
    call = {"name": "t.steps", "arguments": {"lines": lines, "pause": 0.11}}
    client.ask("tools/call", meta={"progressToken": "p"}, **call)
    told = [each["params"] for each in client.other]
    assert {each["method"] for each in client.other} == {"notifications/progress"}
    shown = [
        (each["progressToken"], each["progress"], each.get("total"), each.get("message"))
        for each in told
    ]
    assert shown == [("p", 1, 3, "one"), ("p", 2.5, None, None)]
    client.other.clear()
    # A flood is not passed on, and nothing to those who did not ask.
    flood = {"name": "t.steps", "arguments": {"lines": [f"progress {n}" for n in range(50)]}}
    client.ask("tools/call", meta={"progressToken": 7}, **flood)
    assert 1 <= len(client.other) <= 5
    client.other.clear()
    client.ask("tools/call", **flood)
    assert client.other == []
    assert client.end() == (0, "")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_the_server(name: str, folder: Path) -> None:
    client = Client(folder)
    client.ask("tools/list")
    number = getattr(signal, name)
    assert client.end(number) == (128 + number, "")


def test_calls_are_observed(folder: Path) -> None:
    def observer(name: str, tool: Any, arguments: Any, result: Result) -> None:
        note(f"{name} {tool.pack.id} {arguments} {result.ok}")

    client = Client(folder, observer=observer)
    client.ask("tools/call", name="t.echo", arguments={"a": 1})
    assert client.end() == (0, "t.echo t.echo {'a': 1} True\n")


# Changes.


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Says to the server that files changed."""
    reader, writer = os.pipe()

    async def told(paths: Any) -> Any:
        assert list(paths) == ["watched"]
        loop = asyncio.get_running_loop()
        while True:
            change = loop.create_future()
            loop.add_reader(reader, mark_done, change)
            await change
            loop.remove_reader(reader)
            os.read(reader, 1)
            yield None

    monkeypatch.setattr("equipage_serve.wire.run._watch_paths", told)
    yield lambda: os.write(writer, b"x") and None
    os.close(writer)
    os.close(reader)


def names(client: Client) -> list[str]:
    return [each["name"] for each in client.ask("tools/list")["result"]["tools"]]


@BOTH
def test_a_changed_set_is_served(modern: bool, folder: Path, changes: Callable[[], None]) -> None:
    client = Client(folder, modern=modern, watched=("watched",), token="x")
    listening = 0
    if modern:
        listening = client.start(
            "subscriptions/listen",
            notifications={"toolsListChanged": True, "resourcesListChanged": True},
        )
        client.other.append(client.line())
        hints = client.ask("skills/list")["result"]
        assert (hints["ttlMs"], hints["cacheScope"]) == (5_000, "private")
    assert "t.more" not in names(client)
    write_packs(folder, [pack("t.more", "tools:echo"), pack("t.none", "none.py")], {})
    client.other.clear()
    changes()
    said = client.noted()
    assert said.startswith("t.none is not served: cannot run `none.py`: ")
    assert said.count("\n") == 1
    assert client.line()["method"] == "notifications/tools/list_changed"
    assert "t.more" in names(client)
    assert client.ask("tools/call", name="t.more", arguments={"a": 1})["result"][
        "structuredContent"
    ] == {"a": 1}
    write(folder, {"skills/more/new.txt": "x"})
    changes()
    assert client.line()["method"] == "notifications/resources/list_changed"
    assert "skill://more/new.txt" in json.dumps(client.ask("resources/list"))
    # What means the same is no news, and what is broken changes nothing.
    write(folder, {"broken.tool.yaml": "id: x\n"})
    changes()
    said = client.noted()
    assert said.startswith("not reloaded, ")
    assert "broken.tool.yaml" in said
    (folder / "broken.tool.yaml").unlink()
    (folder / "t.more.tool.yaml").unlink()
    changes()
    assert client.line()["method"] == "notifications/tools/list_changed"
    assert "t.more" not in names(client)
    if modern:
        client.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": listening, "_meta": META},
            }
        )
    assert client.end(signal.SIGTERM) == (143, "")


def test_a_reload_that_cannot_be_done_is_said(folder: Path, changes: Callable[[], None]) -> None:
    problems = [
        UsageError("no such folder"),
        LoadError([Diagnostic("x", "error", "one"), Diagnostic("x", "error", "two")]),
    ]

    def again() -> Snapshot:
        raise problems.pop(0)

    client = Client(folder, again=again, watched=("watched",))
    client.ask("tools/list")
    changes()
    assert client.noted() == "not reloaded: no such folder\n"
    changes()
    assert client.noted() == "not reloaded, 2 errors: equipage: error[x] one\n"
    assert "t.count" in names(client)
    assert client.end() == (0, "")


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (OSError("the limit of watches is reached"), "the limit of watches is reached"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_the_end_of_watching_is_said_when_it_comes(
    problem: Exception, why: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def changes(_: Any) -> Any:
        yield None
        raise problem

    monkeypatch.setattr("equipage_serve.wire.run._watch_paths", changes)
    client = Client(folder, watched=("watched",))
    said = f"not reloaded any more: {why}; start the server again to serve changes\n"
    assert client.noted() == said
    assert "t.count" in names(client)
    assert client.end() == (0, "")


def test_an_end_of_watching_that_was_asked_for_is_not_said() -> None:
    notes: list[str] = []

    async def main() -> None:
        watching = asyncio.ensure_future(asyncio.sleep(60))
        watching.cancel()
        await asyncio.wait([watching])
        run._note_watch_end(watching, notes.append)

    asyncio.run(main())
    assert notes == []


def test_what_is_loaded_again_has_the_names_and_reasons_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes: list[str] = []
    replaced: list[Any] = []
    refused = [{"a": ("x", "y"), "b": ("z",)}] * 2

    async def changes(_: Any) -> Any:
        yield None
        yield None

    def catalogue_of(*given: Any) -> Any:
        return SimpleNamespace(given=given, refused=refused.pop())

    class Served:
        catalogue = SimpleNamespace(refused={})

        async def replace(self, catalogue: Any) -> None:
            replaced.append(catalogue.given)
            self.catalogue = catalogue

    monkeypatch.setattr("equipage_serve.wire.run._watch_paths", changes)
    monkeypatch.setattr("equipage_serve.wire.run.catalogue_of", catalogue_of)
    plan = run.Plan(SETTINGS, HERE, names="plain", watched=("x",))
    asyncio.run(run._watch(Served(), plan, lambda: "snapshot", notes.append))
    assert replaced == [("snapshot", "plain")] * 2
    assert notes == ["a is not served: x; y", "b is not served: z"]  # once


def test_over_http_the_server_knows_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    async def serve_http(*how: Any) -> None:
        given.append(how)

    monkeypatch.setattr("equipage_serve.wire.run.build", lambda *how: how)
    monkeypatch.setattr("equipage_serve.wire.run.serve_http", serve_http)
    address, served = http.Address(), object()
    plan = run.Plan(SETTINGS, HERE, address=address, token="x")
    asyncio.run(run._run_transport(served, plan, None, lambda _: None))
    ((built, *where, token),) = given
    assert built == (served, http.principal_of)
    assert (where[0], token) == (address, "x")


def test_files_are_looked_at_once_they_are_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    async def awatch(*paths: str, **how: Any) -> Any:
        given.append((paths, how))
        yield {("modified", "a/x")}

    monkeypatch.setitem(sys.modules, "watchfiles", SimpleNamespace(awatch=awatch))

    async def main() -> list[Any]:
        return [each async for each in run._watch_paths(["a", "b"])]

    assert asyncio.run(main()) == [None]
    assert given == [(("a", "b"), {"debounce": 400, "step": 100, "recursive": True})]


def test_an_error_of_ours_is_not_hidden(folder: Path) -> None:
    client = Client(folder, address=http.Address("192.0.2.1", 1))
    _, status = os.waitpid(client.child, 0)
    assert os.waitstatus_to_exitcode(status) == 99
    with os.fdopen(client.errors, "rb") as errors:
        assert b"OSError" in errors.read()
    os.close(client.input)
    os.close(client.output)


def test_over_http(folder: Path) -> None:
    import http.client

    address = Later("equipage_serve.wire.http").Address()
    client = Client(folder, address=address, token="secret")
    said = client.noted()
    assert said.startswith("listening on http://127.0.0.1:")
    port = int(said.rpartition(":")[2].removesuffix("/mcp\n"))
    found = []
    for token in ("secret", "wrong"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        params = {"name": "t.echo", "arguments": {"a": 1}, "_meta": META}
        headers = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "t.echo",
        }
        connection.request("POST", "/mcp", json.dumps({**body, "params": params}), headers)
        answer = connection.getresponse()
        found.append((answer.status, b'"structuredContent":{"a":1}' in answer.read()))
        connection.close()
    assert found == [(200, True), (401, False)]
    assert client.end(signal.SIGINT) == (130, "")


# Parts.


class Engine:
    """Remembers what it is given."""

    def __init__(self) -> None:
        self.replaced: list[Any] = []

    async def replace(self, tools: Any) -> None:
        self.replaced.append(tools)


def test_clients_that_are_gone_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    class Session:
        def __init__(self, name: str) -> None:
            self.name = name

        async def send_tool_list_changed(self) -> None:
            if self.name == "gone":
                raise RuntimeError
            if self.name == "stuck":
                await asyncio.Future()
            sent.append(self.name)

        async def send_resource_list_changed(self) -> None:
            raise AssertionError

    old = catalogue_of(taken(folder), "dotted")
    write_packs(folder, [pack("t.more", "tools:echo")], {})
    new = catalogue_of(taken(folder), "dotted")
    engine = Engine()
    served = server.ServedCatalogue(old, engine, watched=False, private=False)
    served.sessions += [Session("a"), Session("gone"), Session("stuck"), Session("b")]
    given: list[float] = []
    real = asyncio.wait_for

    def sooner(work: Any, seconds: float) -> Any:
        given.append(seconds)
        return real(work, 0.2)

    monkeypatch.setattr(asyncio, "wait_for", sooner)

    async def main() -> None:
        await served.replace(new)
        await served.replace(new)

    asyncio.run(main())
    assert sent == ["a", "b"]
    assert given == [5] * 4
    assert [each.name for each in served.sessions] == ["a", "b"]
    assert engine.replaced == [new.snapshot.tools] * 2
    assert served.catalogue is new


def test_progress_ends_before_the_result() -> None:
    sent: list[Any] = []

    class Session:
        slow = False

        async def report_progress(self, *given: Any) -> None:
            await asyncio.sleep(30 if self.slow else 0.01)
            sent.append(given)

    async def main() -> None:
        session = Session()
        ctx = SimpleNamespace(session=session, meta={"progress_token": 0})
        progress = server._Progress(ctx)
        assert progress.wanted
        progress.forward_line("progress 1")
        progress.forward_line("progress 2")  # too soon
        await progress.end()
        assert sent == [(1.0, None, None)]
        assert not progress._tasks
        progress = server._Progress(ctx)
        session.slow = True
        progress.forward_line("progress 0 " + "x" * 200)
        progress.forward_line("progress 3 " + "x" * 201)
        (task,) = progress._tasks
        with pytest.MonkeyPatch.context() as patch:
            real = asyncio.wait
            waits: list[float] = []

            def sooner(tasks: Any, timeout: float) -> Any:
                waits.append(timeout)
                return real(tasks, timeout=0.02)

            patch.setattr(asyncio, "wait", sooner)
            await progress.end()
            assert waits == [1]
        await asyncio.sleep(0)
        assert task.cancelled() or task.done()
        for meta in (None, {}, {"other": 1}):
            assert not server._Progress(SimpleNamespace(session=session, meta=meta)).wanted

    asyncio.run(main())


def test_progress_comes_ten_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = [
        (0.5, "progress 0", True),
        (0.55, "progress 1/4", False),
        (0.6, "progress 2/4 on", True),
        (0.7, "progress 2/4", False),  # which is not more than before
        (0.7, "progress 3", True),
    ]
    sent: list[Any] = []

    class Session:
        async def report_progress(self, *given: Any) -> None:
            sent.append(given)

    async def main() -> None:
        progress = server._Progress(SimpleNamespace(session=Session(), meta={}))
        loop = asyncio.get_running_loop()
        for now, line, is_sent in heard:
            with monkeypatch.context() as during:
                during.setattr(loop, "time", lambda now=now: now)
                before = len(progress._tasks)
                progress.forward_line(line)
                assert len(progress._tasks) == before + is_sent
        await progress.end()

    asyncio.run(main())
    assert sent == [(0.0, None, None), (2.0, 4.0, "on"), (3.0, None, None)]


def test_what_the_package_asks_of_the_server(folder: Path) -> None:
    served = server.ServedCatalogue(
        catalogue_of(taken(folder), "dotted"), Engine(), watched=False, private=False
    )
    built = server.build(served)
    assert built.get_tool_input_schema("t.count") == TEXT
    assert built.get_tool_input_schema("none") is None
    for options in (
        built.create_initialization_options(None, {"x": {}}),
        built.create_initialization_options(experimental_capabilities={"x": {}}),
    ):
        assert options.capabilities.experimental == {"x": {}}
        assert options.capabilities.tools.list_changed
    assert built.get_request_handler("subscriptions/listen").handler._max_subscriptions == 64


def test_results_of_older_clients_are_mappings() -> None:
    stats = Stats(1.0, 2, 3)
    for modern, has_mapping, data, is_there in (
        (True, False, [1], True),
        (False, False, [1], False),
        (False, True, [1], True),
        (False, False, {"a": 1}, True),
    ):
        entry = SimpleNamespace(has_mapping=has_mapping)
        found = server._call_result(Result(True, stats, data=data), entry, modern=modern)
        assert ("structuredContent" in found) is is_there


@BOTH
def test_handlers_pass_on_what_they_are_asked(
    modern: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = catalogue_of(taken(folder), "dotted")
    given: list[Any] = []

    class Recording(Engine):
        async def call(self, *arguments: Any, **named: Any) -> Result:
            given.append((arguments, named))
            return Result(True, Stats(1.0, 2, 3), data={})

    served = server.ServedCatalogue(catalogue, Recording(), watched=False, private=False)
    handlers = server._Handlers(served, lambda ctx: f"who asks {ctx.method}")
    ctx = SimpleNamespace(
        protocol_version="2026-07-28" if modern else "2025-11-25",
        session=object(),
        meta={},
        method="tools/call",
    )

    async def called(meta: Any) -> tuple[Any, Any]:
        ctx.meta = meta
        await handlers.call_tool(ctx, SimpleNamespace(name="t.echo", arguments={"a": 1}))
        return given.pop()  # type: ignore[no-any-return]

    async def pages(handler: Any, field: str, **params: Any) -> list[Any]:
        found, cursor = [], None
        while True:
            result = await handler(ctx, SimpleNamespace(cursor=cursor, **params))
            found.append([each.get("name") or each["uri"] for each in result[field]])
            assert ("resultType" in result) is modern
            cursor = result.get("nextCursor")
            if cursor is None:
                return found

    async def main() -> None:
        tool = catalogue.entries["t.echo"].tool
        arguments, named = await called({})
        assert arguments == ("t.echo", {"a": 1})
        assert named == {"tool": tool, "principal": "who asks tools/call", "heard": None}
        _, named = await called({"progressToken": 1})
        assert named["heard"] is not None
        # Lists come in pages.
        monkeypatch.setattr("equipage_serve.wire.server.page", partial(page, size=3))
        assert list(map(len, await pages(handlers.list_tools, "tools"))) == [3, 1]
        assert list(map(len, await pages(handlers.list_resources, "resources"))) == [3, 1]
        monkeypatch.setattr("equipage_serve.wire.server.page", partial(page, size=1))
        assert await pages(handlers.list_skills, "skills") == [
            ["skill://more/SKILL.md"],
            ["skill://notes/SKILL.md"],
        ]
        uri = "skill://notes//"
        inside = await pages(handlers.read_folder, "resources", uri=uri)
        assert inside == [["notes"], ["a b"], ["x.bin"]]
        for handler in (handlers.list_tools, handlers.list_resources):
            assert (await handler(ctx, None))["nextCursor"]
        # Only clients of the older revision say that they are ready, and each is told once.
        for method in ("ping", "notifications/initialized", "notifications/initialized"):
            ctx.method = method
            assert await handlers.remember_session(ctx, answered) is ctx
        assert served.sessions == [ctx.session]

    async def answered(each: Any) -> Any:
        return each

    asyncio.run(main())


def test_instructions_name_some_skills() -> None:
    skills = [SimpleNamespace(name=f"s{number}") for number in range(25)]
    given = SimpleNamespace(skills={"x": 1}, snapshot=SimpleNamespace(skills=skills))
    names = ", ".join(f"s{number}" for number in range(20))
    assert server._instructions(given) == (
        f"Skills are offered as resources (skill://NAME/SKILL.md): {names}."
    )
