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
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.directives.generate import Generated
from equipage.kinds.server import items
from equipage.kinds.server.effects import settle_side_effect, side_effect_needs_settling
from equipage.kinds.server.items import BRANCH_KEYS, Place, entries, is_free
from equipage.kinds.server.matchers import flatten_matchers, matchers_need_flattening
from equipage.kinds.server.rewriting import Rewrite, rewritten
from equipage.path import Path
from equipage.session import Session
from equipage.syntax.document import Document
from equipage.tree import (
    HOLE,
    MADE_ABSOLUTE,
    Hole,
    Origin,
    Origins,
    Tree,
    Via,
    attach,
    graft,
    mapping,
    move,
    put,
    put_all,
    remove,
    walk,
)

#: The parameters that may stand beside a delivery written as a word.
DELIVERY_PARAMETERS = {
    "slow_loris": ("byte_delay_ms", "chunk_size"),
    "unbounded_line": ("target_bytes", "padding_char"),
    "nested_json": ("depth", "key"),
    "response_delay": ("delay_ms",),
}


def normalise(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The tree in the one form the model knows."""
    facts: list[Fact] = []
    for rewrite in _REWRITES:
        tree = rewritten(tree, rewrite, facts)
    if session.noted("not-finite"):
        tree = _without_infinities(tree, facts)
    return _with_absolute_paths(tree, session), facts


# -------------------------------------------------------------------------------------------------- spellings


def _renamed(part: Tree, path: Path, facts: list[Fact], old: str, new: str) -> Tree:
    """The mapping with `old` called `new`; both at once is an error."""
    if new in part.value:
        facts.append(fact("both-spellings", (*path, old), part="key", key=old, other=new))
        # The finding is still to be placed, so where the removed one came from stays known.
        return Tree(remove(part, (old,)).value, part.origins, part.moves)
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


def _is_default_object(branch: Any) -> bool:
    """Whether the `default` of a branch holds its answer; beside `when` it has no effect, whatever it holds."""
    return isinstance(mapping(branch).get("default"), dict) and branch.get("when") is None


def _hoisted_default(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """A `default` that holds what belongs beside it."""
    for key in part.value["default"]:
        place = (*path, "default", key)
        if key in BRANCH_KEYS and key in part.value:
            facts.append(fact("both-spellings", place, part="key", key=f"default: {{{key}: …}}", other=key))
        elif key in BRANCH_KEYS:
            part = move(part, ("default", key), (key,))
        elif not key.startswith("$"):
            facts.append(fact("unknown-field", place, part="key", field=Shown(key), owner="`match branch`"))
    return put(part, ("default",), True)


# --------------------------------------------------------------------------------------------------- messages


def _messages(config: Any) -> Iterator[Place]:
    for response in items.all_responses(config):
        for path, answer in items.answers(response):
            yield from entries(answer, path, "messages")


def _message_content(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """Text in place of a content item."""
    content = part.value.get("content", HOLE)
    if isinstance(content, str | Generated):
        return _as_text_item(part, ("content",))
    if content is HOLE:
        # The model would ask for a mapping, but what people write is text.
        facts.append(fact("missing-field", path, field="content", owner="`message`", expected="text"))
    else:
        expected = "text, a payload from `$generate`, or a content item"
        facts.append(fact("wrong-type", (*path, "content"), expected=expected, found=Shown(content, as_found=True)))
    return put(part, ("content",), HOLE)


def _is_no_item(message: Any) -> bool:
    """Whether a message has no content item; of a hole, that was told."""
    return isinstance(message, dict) and not isinstance(message.get("content"), dict | Hole)


def _resource_answers(config: Any) -> Iterator[Place]:
    for response in items.responses(config, items.RESOURCE):
        answers = items.answers(response)
        next(answers)  # the response itself takes text as it is
        yield from answers


def _as_list(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    """Text in place of a list of content items. Whatever is made around it stands where the text is written."""
    text = part.at(("content",))
    here = text.origins.here
    item = Origins(here, below={"text": text.origins, "type": Origins(here)})
    made = Tree([{"type": "text", "text": text.value}], Origins(here, (Via("normalised"),), {0: item}))
    wrapped = attach(part, ("content",), made)
    return Tree(wrapped.value, wrapped.origins, (*part.moves, (("content",), ("content", 0, "text"))))


def _as_text_item(part: Tree, path: Path) -> Tree:
    part = move(part, path, (*path, "text"))
    return put(part, (*path, "type"), "text", origin=(*path, "text"), how="")


# ----------------------------------------------------------------------------------------------- replacements


def _replacements(config: Any) -> Iterator[Place]:
    for path, phase in items.phases(config):
        for sort in items.SORTS:
            key = f"replace_{sort.plural}"
            yield (*path, key), mapping(phase).get(key)


def _listed_replacements(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """A list where it must be said which item each one replaces."""
    sort = next(each for each in items.SORTS if path[-1] == f"replace_{each.plural}")
    hint = f"write `{path[-1]}: {{{sort.identity.upper()}: …}}`, with the {sort.identity} of the {sort.name} to replace"
    found = Shown(part.value, as_found=True)
    facts.append(fact("wrong-type", path, expected="a mapping", found=found, hint=hint))
    return Tree(HOLE, part.origins)


# ---------------------------------------------------------------------------------------------------- numbers


def _without_infinities(tree: Tree, facts: list[Fact]) -> Tree:
    """JSON has no infinity: null with a warning where data is free, a hole and an error where a value has a type.

    What stands in a payload was judged when that was planned.
    """
    found = [path for path, value in walk(tree.value) if isinstance(value, float) and not math.isfinite(value)]
    origins = {path: tree.story(path).origin for path in found}
    texts = _texts(origins.values())
    parts: dict[Path, Tree] = {}
    for path, origin in origins.items():
        free = is_free(path)
        written = Shown(texts.get((id(origin.document), origin.path), "this"))
        facts.append(fact("not-finite", path, severity="warning" if free else "error", found=written))
        parts[path] = Tree(None if free else HOLE, Origins(origin, (Via("normalised"),)))
    return graft(tree, parts)


def _texts(origins: Iterable[Origin]) -> dict[tuple[int, Path], str]:
    """What the author wrote at many places; each document is searched once."""
    wanted: dict[int, tuple[Document, list[Path]]] = {}
    for origin in origins:
        wanted.setdefault(id(origin.document), (origin.document, []))[1].append(origin.path)
    return {
        (number, path): located.value.text()
        for number, (document, paths) in wanted.items()
        for path, located in document.locate(paths).items()
    }


# ------------------------------------------------------------------------------------------------------ paths


def _with_absolute_paths(tree: Tree, session: Session) -> Tree:
    """Paths a running server uses start at the file that writes them, wherever the server is started."""
    if session.embedded:
        return tree
    made: dict[Path, str] = {}
    for path, written in items.run_time_paths(tree.value):
        source = tree.story(path).origin.document.source
        folder = os.path.dirname(source.path) if source.path is not None else session.base
        absolute = os.path.normpath(os.path.join(folder, written))
        if absolute != written:
            made[path] = absolute
    return put_all(tree, made, how=MADE_ABSOLUTE)


_REWRITES: tuple[Rewrite, ...] = (
    _spelling("stateScope", "state_scope", _server),
    _spelling("list_changed", "listChanged", _capabilities),
    _spelling("on_exhausted", "onExhausted", items.all_responses),
    Rewrite(_branches, _is_default_object, _hoisted_default),
    _spelling("onExhausted", "on_exhausted", _branches),
    Rewrite(items.behaviors, lambda value: isinstance(value.get("delivery"), str), _delivery_object),
    Rewrite(items.side_effects, side_effect_needs_settling, settle_side_effect),
    Rewrite(_messages, _is_no_item, _message_content),
    Rewrite(_resource_answers, lambda value: isinstance(mapping(value).get("content"), str | Generated), _as_list),
    Rewrite(_replacements, lambda value: isinstance(value, list), _listed_replacements),
    Rewrite(items.triggers, matchers_need_flattening, flatten_matchers),
)
