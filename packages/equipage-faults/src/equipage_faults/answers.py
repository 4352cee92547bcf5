"""From a request to the result it gets: lists, canned, matched, sequenced and templated answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from equipage.core.frozen import plain_data
from equipage.formats.server.model import (
    ContentItem,
    ContentValue,
    EmbeddedResource,
    Handler,
    ImageContent,
    MatchBranch,
    Prompt,
    Resource,
    ResourceResponse,
    SequenceEntry,
    TextContent,
    Tool,
)
from equipage.formats.server.payloads import Generated
from equipage_faults.matching import Context, condition_holds
from equipage_faults.phases import Item, View, identity
from equipage_faults.wire import TextPayload, error_body

JSON = dict[str, Any]


class Failure(msgspec.Struct, frozen=True):
    """A JSON-RPC error."""

    code: int
    message: str
    data: Any = None

    @property
    def body(self) -> JSON:
        return error_body(self.code, self.message, self.data)


class HandlerCall(msgspec.Struct, frozen=True):
    """An answer that a program or a web service makes."""

    handler: Handler
    payload: JSON  #: what it is asked
    finish: Callable[[JSON], JSON]  #: its reply as the result
    fill: Callable[[str], str]  #: fills the templates of its headers and variables


class SequenceExhausted(Exception):
    """A sequence has no further answer."""


Answer = JSON | None | Failure | HandlerCall

# Lists.


def capabilities(view: View) -> JSON:
    """What is configured, else one entry for each list that has members."""
    if view.capabilities is not None:
        found: JSON = plain_data(view.capabilities)
        return found
    lists = {"tools": view.tools, "resources": view.resources, "prompts": view.prompts}
    return {name: {} for name, items in lists.items() if items}


LISTS: dict[str, Callable[[View], JSON]] = {
    "tools/list": lambda view: {"tools": [plain_data(each.tool) for each in view.tools]},
    "resources/list": lambda view: {
        "resources": [plain_data(each.resource) for each in view.resources]
    },
    "prompts/list": lambda view: {"prompts": [plain_data(each.prompt) for each in view.prompts]},
    "resources/templates/list": lambda _: {"resourceTemplates": []},
    "completion/complete": lambda _: {"completion": {"values": [], "hasMore": False}},
}


def _drop_none(**members: Any) -> JSON:
    return {name: value for name, value in members.items() if value is not None}


# One item.


def answer_of(item: Item, calls: int, context: Context, about: JSON) -> Answer:
    """What an item answers; `calls` counts this one. Raises `SequenceExhausted`."""
    # Only a resource may have none.
    response = item.response if item.response is not None else ResourceResponse()
    # A list of contents is complete by itself; there is nothing to choose from.
    if isinstance(response, ResourceResponse) and response.contents is not None:
        return _result(item, response, context)
    # Branches come first, then a handler, then a sequence, as the format orders them.
    source: Any = _matching_branch(response.match, context) or response
    if source.handler is not None:
        return HandlerCall(
            source.handler,
            about,
            lambda reply: _result_from_reply(item, reply, context),
            context.fill,
        )
    if source.sequence:
        source = _sequence_entry(source.sequence, source.on_exhausted, calls)
    return _result(item, source, context)


def _matching_branch(
    branches: Sequence[MatchBranch] | None, context: Context
) -> MatchBranch | None:
    """The first branch whose conditions hold, or the fallback."""
    for branch in branches or ():
        if branch.is_fallback or all(
            condition_holds(condition, context.text(field) if context.exists(field) else None)
            for field, condition in (branch.when or {}).items()
        ):
            return branch
    return None


def _sequence_entry(
    entries: Sequence[SequenceEntry], exhausted: str | None, calls: int
) -> SequenceEntry:
    index = calls - 1
    if index >= len(entries):
        if exhausted == "error":
            raise SequenceExhausted
        # `cycle` starts over, anything else repeats the last entry.
        index = index % len(entries) if exhausted == "cycle" else len(entries) - 1
    return entries[index]


def _result(item: Item, source: Any, context: Context) -> JSON:
    """The result that a response, a branch or an entry of a sequence gives."""
    if isinstance(item, Tool):
        content = [_content(each, context) for each in source.content or ()]
        return _drop_none(content=content, isError=item.response.is_error)
    if isinstance(item, Prompt):
        messages = [
            {"role": each.role, "content": _content(each.content, context)}
            for each in source.messages or ()
        ]
        return _drop_none(description=item.response.description, messages=messages)
    if source.contents is not None:
        return {"contents": [_embedded_resource(each, context) for each in source.contents]}
    content = source.content
    if isinstance(content, tuple):  # a branch has content items, the response itself has text
        parts = [each for each in content if isinstance(each, TextContent)]
    else:
        parts = [TextContent(content if content is not None else "")]
    texts = [_text(each.text, context) for each in parts]
    return {"contents": [_one_content(item, text, context) for text in texts]}


def _one_content(item: Resource, text: str | TextPayload, context: Context) -> JSON:
    # The address that was asked for: the item's own may be a pattern.
    uri = context.variables["resource"]["uri"]
    return _drop_none(uri=uri, text=text, mimeType=item.resource.mime_type)


def _text(value: ContentValue, context: Context) -> str | TextPayload:
    # A generated text may be larger than memory: it is written piece by piece.
    return TextPayload(value) if isinstance(value, Generated) else context.fill(value)


def _content(item: ContentItem, context: Context) -> JSON:
    if isinstance(item, TextContent):
        return {"type": "text", "text": _text(item.text, context)}
    if isinstance(item, ImageContent):
        data = item.data if item.data is not None else ""
        value = TextPayload(data) if isinstance(data, Generated) else data
        return {"type": "image", "data": value, "mimeType": item.mime_type}
    return {"type": "resource", "resource": _embedded_resource(item.resource, context)}


def _embedded_resource(resource: EmbeddedResource, context: Context) -> JSON:
    return _drop_none(
        uri=context.fill(resource.uri),
        mimeType=resource.mime_type,
        text=None if resource.text is None else context.fill(resource.text),
        blob=resource.blob,
    )


# What can be known before anybody asks.

_EPOCH = datetime.fromtimestamp(0, UTC)


def canned_answers(view: View) -> Iterator[tuple[str, JSON]]:
    """Every answer that needs no handler, under the method or item, as for an empty request."""
    for method, make in LISTS.items():
        yield method, make(view)
    for item in view.items:
        uri = identity(item)
        variables = variables_of(item, 1, {"uri": uri})
        context = Context(variables, lambda _: None, str, lambda: (_EPOCH, 0))
        for source in _sources(item.response):
            yield uri, _result(item, source, context)


def _sources(response: Any) -> Iterator[Any]:
    """A response, its branches, and the entries of all their sequences."""
    for each in () if response is None else (response, *(response.match or ())):
        yield each
        yield from each.sequence or ()


# Replies of handlers: `{content: […]}`, `{text}` or `{error}`.


def _result_from_reply(item: Item, reply: JSON, context: Context) -> JSON:
    text = reply.get("text")
    content = reply.get("content")
    if not isinstance(content, list):
        # A handler that only has something to say need not know the types of content.
        content = [{"type": "text", "text": text if isinstance(text, str) else ""}]
    if isinstance(item, Tool):
        return _drop_none(content=content, isError=item.response.is_error)
    if isinstance(item, Prompt):
        return {"messages": [{"role": "user", "content": each} for each in content]}
    texts = [each.get("text", "") for each in content if isinstance(each, Mapping)]
    return {"contents": [_one_content(item, text, context) for text in texts]}


def variables_of(item: Item, calls: int, params: Mapping[str, Any]) -> JSON:
    """What templates may say about the item of a request."""
    if isinstance(item, Resource):
        own = _drop_none(
            uri=params.get("uri"), name=item.resource.name, mimeType=item.resource.mime_type
        )
        return {"args": {}, "resource": {**own, "call_count": calls}}
    name = item.tool.name if isinstance(item, Tool) else item.prompt.name
    sort = "tool" if isinstance(item, Tool) else "prompt"
    arguments = params.get("arguments")
    # Absent and `null` are equal for templates, though not for a trace.
    return {
        "args": {} if arguments is None else arguments,
        sort: {"name": name, "call_count": calls},
    }
