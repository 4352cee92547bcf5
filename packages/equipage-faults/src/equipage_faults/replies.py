"""The answer to a request, before anything decides how it is delivered."""

from __future__ import annotations

import uuid
from collections.abc import Generator
from typing import Any

from equipage_faults import answers, eras, wire
from equipage_faults.answers import Answer, Failure, HandlerCall, SequenceExhausted
from equipage_faults.exchange import Exchange, Run
from equipage_faults.jobs import Ask, Step
from equipage_faults.routes import Connection
from equipage_faults.templates import Context
from equipage_faults.views import TARGETS, Item, identity, target_of

_EMPTY_ANSWERS = frozenset({"ping", "logging/setLevel"})
SUBSCRIBING = frozenset({"resources/subscribe", "resources/unsubscribe"})


class Replies:
    """Answers requests from the snapshot that their exchange holds."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def answer(self, exchange: Exchange) -> tuple[Answer, bool]:
        """The answer to a request, and whether it is dropped instead."""
        message, view, era = exchange.message, exchange.view, exchange.era
        method, params = message.method, message.params
        refused = self._revision_failure(exchange)
        if refused is not None:
            return refused, False
        if method == "initialize" and era == "25":
            asked, offered = params.get("protocolVersion"), answers.capabilities(view)
            return eras.handshake(asked, self._run.config.server, offered), False
        if method == "server/discover" and era == "26":
            versions, offered = (
                eras.supported_versions(self._run.options.era),
                answers.capabilities(view),
            )
            return {"supportedVersions": versions, "capabilities": offered}, False
        if method in answers.LISTS:
            return answers.LISTS[method](view), False
        if method in TARGETS and not (era == "26" and method in eras.REMOVED_METHODS):
            return self._item_answer(exchange), False
        if method in _EMPTY_ANSWERS and era == "25":
            return {}, False
        return self._answer_unknown_method(exchange)

    def _revision_failure(self, exchange: Exchange) -> Failure | None:
        """The error of a request that the newer revision does not allow."""
        message = exchange.message
        meta = eras.meta_of(message.params)
        requested, missing = meta.get(eras.VERSION_KEY), eras.missing_meta(meta)
        if exchange.era == "25" or (requested == eras.MODERN and missing is None):
            return None
        exchange.status = 400
        if message.method == "initialize" and requested is None:
            requested = message.params.get("protocolVersion")
        elif missing is not None:
            self._run.trace(exchange.connection, "violation", what="metadata", missing=missing)
            return Failure(wire.INVALID_PARAMS, f"`_meta` needs `{missing}`")
        data = {"supported": eras.supported_versions(self._run.options.era), "requested": requested}
        return Failure(eras.VERSION_REFUSED, "this revision is not supported", data)

    def _answer_unknown_method(self, exchange: Exchange) -> tuple[Answer, bool]:
        policy, method = self._run.config.unknown_methods, exchange.message.method
        # Clients ask this before anything else, and hang on an odd answer; it has no policy.
        if policy == "error" or method == "server/discover":
            exchange.status = 404 if exchange.era == "26" else 200
            return Failure(wire.UNKNOWN_METHOD, f"unknown method: {method}"), False
        return None, policy == "drop"

    def _item_answer(self, exchange: Exchange) -> Answer:
        message, item = exchange.message, exchange.item
        method, params, key = message.method, message.params, TARGETS[message.method]
        target = target_of(method, params)
        if target is None:
            return Failure(wire.INVALID_PARAMS, f"`{method}` needs `{key}`")
        if method in SUBSCRIBING:
            return {}
        if item is None:
            code = -32002 if key == "uri" and exchange.era == "25" else wire.INVALID_PARAMS
            return Failure(code, f"unknown {'resource' if key == 'uri' else key}: {target}")
        calls = exchange.connection.state.calls
        counted = (method, identity(item))
        calls[counted] += 1
        context = self._context(exchange, item, calls[counted])
        question = self._question(exchange, context)
        try:
            return answers.answer_of(item, calls[counted], context, question)
        except SequenceExhausted:
            return self.server_failure(exchange, "the sequence of answers is exhausted")

    def _context(self, exchange: Exchange, item: Item, calls: int) -> Context:
        message, view = exchange.message, exchange.view
        variables = {
            **answers.variables_of(item, calls, message.params),
            "phase": {"name": view.name, "index": view.index},
            "request": {"id": message.raw_id.decode(), "method": message.method},
            "connection": {"id": exchange.connection.name},
        }
        return Context(
            variables,
            lambda name: self._variable(exchange.connection, name),
            lambda: str(uuid.UUID(int=self._run.random.getrandbits(128), version=4)),
            lambda: (self._run.options.epoch, self._run.now),
            self._run.options.literal,
        )

    def _variable(self, connection: Connection, name: str) -> str | None:
        if name not in self._run.options.env:
            self._run.trace(connection, "env_refused", name=name)
        return self._run.options.env.get(name)

    def _question(self, exchange: Exchange, context: Context) -> dict[str, Any]:
        """What a handler is asked."""
        sort = next(name for name in ("tool", "resource", "prompt") if name in context.variables)
        own = context.variables[sort]
        return {
            sort: own["uri" if sort == "resource" else "name"],
            "arguments": context.variables["args"],
            "context": {
                "phase": exchange.view.name,
                "phase_index": exchange.view.index,
                f"{sort}_call_count": own["call_count"],
                "connection_id": exchange.connection.name,
                "request_id": exchange.message.id,
            },
        }

    def server_failure(self, exchange: Exchange, reason: str) -> Failure:
        # -32000 to -32019 are closed in the newer revision.
        return Failure(-32000 if exchange.era == "25" else wire.INTERNAL_ERROR, reason)

    def ask(self, exchange: Exchange, wanted: HandlerCall) -> Generator[Step, Any, Answer]:
        """Let a handler make the answer; the value is the answer."""
        reply = yield Ask(wanted)
        if isinstance(reply, str):  # what went wrong
            return self.server_failure(exchange, reply)
        error = reply.get("error")
        if error is not None:
            shown = error if isinstance(error, dict) else {"message": str(error)}
            code = shown.get("code")
            code = code if isinstance(code, int) else wire.INTERNAL_ERROR
            return Failure(code, str(shown.get("message", "")), shown.get("data"))
        return wanted.finish(reply)
