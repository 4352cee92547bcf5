"""What editors send to the language server.

An input here is one message. Several go to the same server, because what a message does depends on
those before it; the number of an input is that of the whole conversation.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from equipage.lsp import Server, protocol
from equipage.lsp.protocol import uri_of
from fuzz.corpus import KINDS, seeds
from fuzz.mutating import mutated
from fuzz.shapes import odd, reshaped
from fuzz.surfaces import Surface
from lab import repository
from lsp.talking import EDITOR, PULLING

_AT_ONCE = 12


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def pieces_of(data: bytes, rng: random.Random) -> list[bytes]:
    """Bytes as a socket may give them."""
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 1, 3, 10))))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


# --- the language server -------------------------------------------------------------------------

#: Methods with parameters that make sense; places are filled in later.
_ASKED: dict[str, dict[str, Any]] = {
    "textDocument/hover": {"position": None},
    "textDocument/completion": {"position": None, "context": {"triggerKind": 1}},
    "textDocument/definition": {"position": None},
    "textDocument/references": {"position": None, "context": {"includeDeclaration": True}},
    "textDocument/prepareRename": {"position": None},
    "textDocument/rename": {"position": None, "newName": "other"},
    "textDocument/codeAction": {
        "range": None,
        "context": {"diagnostics": [], "only": ["quickfix"]},
    },
    "textDocument/documentLink": {},
    "textDocument/diagnostic": {},
    "workspace/symbol": {"query": "a"},
    "workspace/executeCommand": {"command": "equipage.explain", "arguments": ["unknown-field"]},
}
_TOLD: dict[str, dict[str, Any]] = {
    "textDocument/didChange": {"contentChanges": [{"range": None, "text": "x: y\n"}]},
    "textDocument/didSave": {},
    "textDocument/didClose": {},
    "workspace/didChangeWatchedFiles": {"changes": [{"uri": None, "type": 2}]},
    "workspace/didChangeConfiguration": {"settings": {"equipage": {"workspace": False}}},
    "$/cancelRequest": {"id": 3},
}


class _Conversation(msgspec.Struct):
    kind: str
    text: str
    pulls: bool
    messages: list[tuple[str, bool, Any]]  #: a method, whether it is a request, its parameters


def _lsp() -> Surface:
    folder = tempfile.TemporaryDirectory()
    _KEPT.append(folder)
    texts = seeds()
    root = repository(
        Path(folder.name) / "project",
        {
            **{name: texts[kind][0] for kind, name in KINDS.items()},
            "library/a.yaml": "tool: {name: t, description: d, inputSchema: {}}\n",
        },
    )

    def make(rng: random.Random) -> _Conversation:
        kind = rng.choice(list(KINDS))
        text = mutated(texts[kind], rng)
        uri = uri_of(str(root / KINDS[kind]))
        lines = text.split("\n")
        messages: list[tuple[str, bool, Any]] = []
        for _ in range(_AT_ONCE):
            asks = rng.random() < 0.75
            method = rng.choice(list(_ASKED if asks else _TOLD))
            params: Any = {"textDocument": {"uri": uri, "version": 2}}
            params |= {**_ASKED, **_TOLD}[method]
            params = _placed(params, uri, lines, rng)
            if rng.random() < 0.4:
                params = reshaped(params, rng)
            if rng.random() < 0.02:
                method = str(odd(rng))
            messages.append((method, asks, params))
        return _Conversation(kind, text, rng.random() < 0.3, messages)

    def run(value: _Conversation, _rng: random.Random) -> int:
        sent: list[Any] = []
        server = Server(sent.append, env={"A": "value"})
        uri = uri_of(str(root / KINDS[value.kind]))
        number = 0

        def tell(method: str, params: Any, *, asks: bool) -> None:
            nonlocal number
            number += 1
            raw = msgspec.Raw(dumped(params))
            # Over the wire, so that what cannot be read is refused as it would be.
            data = msgspec.json.encode(
                {"jsonrpc": "2.0", "method": method.encode("utf-8", "replace").decode(), "params": raw}
                | ({"id": number} if asks else {})
            )  # fmt: skip
            server.handle(_read(data))
            server.do_idle_work()
            _check_answers(sent, server)
            sent.clear()

        where = {"rootUri": uri_of(str(root)), "processId": None}
        options = {"workspace": False}
        about = PULLING if value.pulls else EDITOR
        tell("initialize", {**where, "capabilities": about, "initializationOptions": options}, asks=True)  # fmt: skip
        opened = {"uri": uri, "languageId": "x", "version": 1, "text": value.text}
        tell("textDocument/didOpen", {"textDocument": opened}, asks=False)
        for method, asks, params in value.messages:
            tell(method, params, asks=asks)
        return 2 + len(value.messages)

    return Surface(make, run, ("lsp/*.py",))


_KEPT: list[Any] = []


def _read(data: bytes) -> object:
    try:
        return protocol._MESSAGE_DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return protocol.UnreadableMessage(protocol.PARSE_ERROR, "no message")


def _placed(value: Any, uri: str, lines: list[str], rng: random.Random) -> Any:
    """Parameters with a place where there is none yet."""

    def position() -> dict[str, int]:
        line = rng.randrange(len(lines) + 1)
        length = len(lines[line]) if line < len(lines) else 3
        return {"line": line, "character": rng.randrange(length + 2)}

    if isinstance(value, list):
        return [_placed(each, uri, lines, rng) for each in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for key, each in value.items():
        if each is None:
            each = {"position": position(), "uri": uri}.get(key) or {
                "start": position(),
                "end": position(),
            }
        made[key] = _placed(each, uri, lines, rng)
    return made


def _check_answers(sent: list[Any], server: Server) -> None:
    for each in sent:
        msgspec.json.encode(each)
        error = each.get("error") or {}
        assert error.get("code") != protocol.INTERNAL_ERROR, error
        said = each.get("params") if each.get("method") == "window/logMessage" else None
        assert said is None or "a bug in equipage" not in said["message"], said
        if each.get("method") == "textDocument/publishDiagnostics":
            _check_ranges(each["params"]["uri"], each["params"]["diagnostics"], server)


def _check_ranges(uri: str, diagnostics: Any, server: Server) -> None:
    """Every range lies inside the text that the editor shows."""
    opened = server.workspace.open.get(uri)
    if opened is None:
        return
    lines = opened.text.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for each in msgspec.to_builtins(diagnostics):
        for place in (each["range"]["start"], each["range"]["end"]):
            assert 0 <= place["line"] < len(lines), (each, len(lines))
            length = len(lines[place["line"]].encode("utf-16-le", "surrogatepass")) // 2
            assert 0 <= place["character"] <= length, (each, length)


def surfaces() -> dict[str, Surface]:
    return {"lsp": _lsp()}
