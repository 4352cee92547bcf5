"""Other ways to write the same thing, brought to one.

| written | becomes |
|---|---|
| `delivery: slow_loris` with its parameters beside it | `delivery: {type: slow_loris, …}` |
| `list_changed`, `stateScope` | `listChanged`, `state_scope` |
| `on_exhausted` in a response, `onExhausted` in a branch | the other way round |
| `default: {content: […]}` in a branch | `default: true` with `content` beside it |
| `match: {args: {path: X}}` in a trigger | `match: {args.path: X}` |
| `starts_with`, `ends_with` in a trigger | `prefix`, `suffix` |
| text as the content of a message | a content item |
| text as the content of a resource's branch | a list of one content item |

Whatever moves remembers where it was written, so findings speak of the author's text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

from lading.diagnostics import Fact, Severity, Shown, fact
from lading.directives.generate import Generated
from lading.kinds.server import items
from lading.kinds.server.effects import settle_side_effect, side_effect_needs_settling
from lading.kinds.server.items import FREE_FORM, Place, entries, mapping
from lading.kinds.server.matchers import flatten_matchers, matchers_need_flattening
from lading.kinds.server.rewriting import Rewrite, rewritten
from lading.path import Path
from lading.session import Session
from lading.tree import HOLE, MADE_ABSOLUTE, Tree, move, put, remove, walk

#: The parameters that may stand beside a delivery written as a word.
DELIVERY_PARAMETERS = {
    "slow_loris": ("byte_delay_ms", "chunk_size"),
    "unbounded_line": ("target_bytes", "padding_char"),
    "nested_json": ("depth", "key"),
    "response_delay": ("delay_ms",),
}
#: What the object of a `default` may hold.
BRANCH_KEYS = ("content", "sequence", "on_exhausted", "onExhausted", "handler", "messages", "contents")


def normalise(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The tree in the one form the model knows."""
    facts: list[Fact] = []
    for rewrite in _REWRITES:
        tree = rewritten(tree, rewrite, facts)
    if session.noted("not-finite"):
        tree = _without_infinities(tree)
    return _with_absolute_paths(tree, session), facts


# -------------------------------------------------------------------------------------------------- spellings


def _renamed(part: Tree, path: Path, facts: list[Fact], old: str, new: str) -> Tree:
    """The mapping with `old` called `new`; both at once is an error."""
    if new in part.value:
        facts.append(fact("both-spellings", (*path, old), part="key", key=old, other=new))
        return remove(part, (old,))
    return move(part, (old,), (new,))


def _spelling(old: str, new: str, where: Any) -> Rewrite:
    return Rewrite(
        where=where,
        needed=lambda value: isinstance(value, dict) and old in value,
        change=lambda part, path, facts: _renamed(part, path, facts, old, new),
    )


def _server(config: Any) -> Iterator[Place]:
    yield ("server",), mapping(config).get("server")


def _capabilities(config: Any) -> Iterator[Place]:
    for path, value in items.capabilities(config):
        for name in ("tools", "resources", "prompts"):
            yield (*path, name), value.get(name)


def _branches(config: Any) -> Iterator[Place]:
    for response in items.all_responses(config):
        yield from items.branches(response)


# --------------------------------------------------------------------------------------------------- delivery


def _delivery_object(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    """A delivery written as a word, with its parameters beside it."""
    name = part.value["delivery"]
    part = move(part, ("delivery",), ("delivery", "type"))
    for parameter in DELIVERY_PARAMETERS.get(name, ()):
        if parameter in part.value:
            part = move(part, (parameter,), ("delivery", parameter))
    return part


# --------------------------------------------------------------------------------------------------- branches


def _hoisted_default(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """A `default` that holds what belongs beside it."""
    for key in part.value["default"]:
        if key in BRANCH_KEYS and key not in part.value:
            part = move(part, ("default", key), (key,))
        elif not key.startswith("$"):
            place = (*path, "default", key)
            facts.append(fact("unknown-field", place, part="key", field=Shown(key), owner="`match branch`"))
    return put(part, ("default",), True)


# --------------------------------------------------------------------------------------------------- messages


def _messages(config: Any) -> Iterator[Place]:
    for response in items.all_responses(config):
        for path, answer in items.answers(response):
            yield from entries(answer, path, "messages")


def _message_content(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """Text in place of a content item."""
    content = part.value["content"]
    if isinstance(content, str | Generated):
        return _as_text_item(part, ("content",))
    expected = "text, a payload from `$generate`, or a content item"
    facts.append(fact("wrong-type", (*path, "content"), expected=expected, found=Shown(content, as_found=True)))
    return put(part, ("content",), HOLE)


def _is_no_item(message: Any) -> bool:
    content = mapping(message).get("content", HOLE)
    return content is not HOLE and not isinstance(content, dict)


def _resource_answers(config: Any) -> Iterator[Place]:
    for response in items.responses(config, items.RESOURCE):
        answers = items.answers(response)
        next(answers)  # the response itself takes text as it is
        yield from answers


def _as_list(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    """Text in place of a list of content items."""
    text = part.at(("content",))
    item = put(Tree({"text": text.value}, text.origins), ("type",), "text", origin=())
    wrapped = put(part, ("content",), [item.value])
    return Tree(wrapped.value, wrapped.origins, (*part.moves, (("content",), ("content", 0, "text"))))


def _as_text_item(part: Tree, path: Path) -> Tree:
    part = move(part, path, (*path, "text"))
    return put(part, (*path, "type"), "text", origin=(*path, "text"), how="")


# ---------------------------------------------------------------------------------------------------- numbers


def not_finite(each: Fact) -> Severity | None:
    """JSON has no infinity: an error where a value has a type, null with a warning where data is free.

    A payload says so itself.
    """
    if "$generate" in each.path:
        return None
    return "warning" if FREE_FORM.intersection(each.path) else "error"


def _without_infinities(tree: Tree) -> Tree:
    """Null where data is free, a hole elsewhere: its error was told when the text was read."""
    for path, value in walk(tree.value):
        if isinstance(value, float) and not math.isfinite(value):
            tree = put(tree, path, None if FREE_FORM.intersection(path) else HOLE)
    return tree


# ------------------------------------------------------------------------------------------------------ paths


def _with_absolute_paths(tree: Tree, session: Session) -> Tree:
    """Paths a running server uses start at the file that writes them, wherever the server is started."""
    if session.embedded:
        return tree
    for path, written in items.run_time_paths(tree.value):
        source = tree.story(path).origin.document.source
        folder = os.path.dirname(source.path) if source.path is not None else session.base
        absolute = os.path.normpath(os.path.join(folder, written))
        if absolute != written:
            tree = put(tree, path, absolute, how=MADE_ABSOLUTE)
    return tree


_REWRITES: tuple[Rewrite, ...] = (
    _spelling("stateScope", "state_scope", _server),
    _spelling("list_changed", "listChanged", _capabilities),
    _spelling("on_exhausted", "onExhausted", items.all_responses),
    Rewrite(_branches, lambda value: isinstance(mapping(value).get("default"), dict), _hoisted_default),
    _spelling("onExhausted", "on_exhausted", _branches),
    Rewrite(items.behaviors, lambda value: isinstance(value.get("delivery"), str), _delivery_object),
    Rewrite(items.side_effects, side_effect_needs_settling, settle_side_effect),
    Rewrite(_messages, _is_no_item, _message_content),
    Rewrite(_resource_answers, lambda value: isinstance(mapping(value).get("content"), str | Generated), _as_list),
    Rewrite(items.triggers, matchers_need_flattening, flatten_matchers),
)
