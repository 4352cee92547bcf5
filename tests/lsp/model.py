"""A model on this machine that says what a test tells it to, for agents that read findings.

Agents talk to it as to any other: each request gets the next of the answers, the last one is a
sentence. What the agent sent is kept, so that a test sees what a model would have seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Call = tuple[str, dict[str, Any]]


def _events(request: dict[str, Any], call: Call | None, number: int) -> Iterator[dict[str, Any]]:
    """An answer as a stream: one call of a tool, or one sentence."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    if call is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "done"}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if call is None else "tool_use"
    stop = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


@contextmanager
def model(*calls: Call) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a model that makes these calls of tools, and what it is sent."""
    seen: list[dict[str, Any]] = []
    left = list(calls)

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
            if "/messages" not in self.path or "count_tokens" in self.path:
                self._say(b'{"input_tokens": 1}', "application/json")
                return
            seen.append(request)
            # Side questions, such as one for a title, come without tools.
            call = left.pop(0) if left and request.get("tools") else None
            events = _events(request, call, len(seen))
            lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
            self._say("".join(lines).encode(), "text/event-stream")

        def _say(self, data: bytes, sort: str) -> None:
            self.send_response(200)
            self.send_header("content-type", sort)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def results(seen: list[dict[str, Any]]) -> list[str]:
    """What the tools answered, as the model was told last."""
    blocks = [
        block
        for message in seen[-1]["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]
    return [json.dumps(each["content"]) for each in blocks]
