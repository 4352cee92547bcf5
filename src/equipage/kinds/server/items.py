"""Where things stand in a configuration as it is written.

Everything here takes plain values that may be pruned, holed or plain wrong, and skips what is not what it should
be: its type is reported elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.path import Path
from equipage.loading.tree import mapping


class Sort(msgspec.Struct, frozen=True):
    """A sort of item: how it is called, and which field of its definition tells one from another."""

    name: str
    plural: str
    identity: str

    def identify(self, item: Any) -> str | None:
        """What tells this item from others; None if it does not say."""
        found = mapping(mapping(item).get(self.name)).get(self.identity)
        return found if isinstance(found, str) else None

    @property
    def identity_path(self) -> Path:
        return (self.name, self.identity)


TOOL = Sort("tool", "tools", "name")
RESOURCE = Sort("resource", "resources", "uri")
PROMPT = Sort("prompt", "prompts", "name")
SORTS = (TOOL, RESOURCE, PROMPT)

Place = tuple[Path, Any]

#: What the object of a `default` may hold.
BRANCH_KEYS = (
    "content",
    "sequence",
    "on_exhausted",
    "onExhausted",
    "handler",
    "messages",
    "contents",
)

# The ways to data that is the author's own, any JSON value. Keys are steps; `_ANY` is an index, or a name the
# author chose, which may well be that of a key.
_ANY = None
_FREE: dict[Any, Any] = {}
_DEFAULT: dict[Any, Any] = {**dict.fromkeys(BRANCH_KEYS), _ANY: _FREE}
_BEHAVIOR = {"side_effects": {_ANY: {"params": _FREE, "id": _FREE}}}
_ITEM = {
    "tool": {"inputSchema": _FREE},
    "response": {"match": {_ANY: {"default": _DEFAULT}}},
    "behavior": _BEHAVIOR,
}
_BASE = {**{sort.plural: {_ANY: _ITEM} for sort in SORTS}, "behavior": _BEHAVIOR}
_PHASE = {
    **{f"{change}_{sort.plural}": {_ANY: _ITEM} for change in ("add", "replace") for sort in SORTS},
    "on_enter": {
        _ANY: {
            "send_notification": {"params": _FREE},
            "send_request": {"params": _FREE, "id": _FREE},
        }
    },
    "behavior": _BEHAVIOR,
}
_ROOT: dict[Any, Any] = {**_BASE, "baseline": _BASE, "phases": {_ANY: _PHASE}}


def is_free(path: Path) -> bool:
    """Whether data at `path` of a configuration is the author's own: any JSON value may stand there."""
    node: Any = _ROOT
    for step in path:
        node = node.get(step, node.get(_ANY))
        if node is None or node is _FREE:
            break
    return node is _FREE or node is _DEFAULT


def listing(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def entries(value: Any, path: Path, key: str) -> Iterator[Place]:
    """The entries of the list under `key`."""
    for number, each in enumerate(listing(mapping(value).get(key))):
        yield (*path, key, number), each


def bases(config: Any) -> Iterator[Place]:
    """The mappings that hold lists of items: the root and the baseline."""
    yield (), config
    yield ("baseline",), mapping(config).get("baseline")


def phases(config: Any) -> Iterator[Place]:
    return entries(config, (), "phases")


def base_items(config: Any, sort: Sort) -> Iterator[Place]:
    """The items that are there before any phase."""
    for path, base in bases(config):
        yield from entries(base, path, sort.plural)


def added_items(config: Any, sort: Sort) -> Iterator[Place]:
    for path, phase in phases(config):
        yield from entries(phase, path, f"add_{sort.plural}")


def replacing_items(config: Any, sort: Sort) -> Iterator[Place]:
    for path, phase in phases(config):
        key = f"replace_{sort.plural}"
        for name, item in mapping(mapping(phase).get(key)).items():
            yield (*path, key, name), item


def items(config: Any, sort: Sort) -> Iterator[Place]:
    """Every item of a sort, wherever it stands."""
    yield from base_items(config, sort)
    yield from added_items(config, sort)
    yield from replacing_items(config, sort)


def all_items(config: Any) -> Iterator[Place]:
    for sort in SORTS:
        yield from items(config, sort)


def responses(config: Any, sort: Sort) -> Iterator[Place]:
    """The response of every item that has one."""
    for item in items(config, sort):
        yield from _under(item, "response")


def all_responses(config: Any) -> Iterator[Place]:
    for sort in SORTS:
        yield from responses(config, sort)


def branches(response: Place) -> Iterator[Place]:
    return entries(response[1], response[0], "match")


def answers(response: Place) -> Iterator[Place]:
    """A response and everything in it that can answer in its place: branches, and entries of sequences."""
    path, value = response
    yield path, value
    yield from entries(value, path, "sequence")
    for branch_path, branch in branches(response):
        yield branch_path, branch
        yield from entries(branch, branch_path, "sequence")


def choosers(response: Place) -> Iterator[Place]:
    """A response and its branches: whatever can hold a sequence or a handler."""
    yield response
    yield from branches(response)


def behaviors(config: Any) -> Iterator[Place]:
    """Every behaviour: of the root, the baseline, the phases and the items."""
    for holder in (*bases(config), *phases(config), *all_items(config)):
        yield from _under(holder, "behavior")


def side_effects(config: Any) -> Iterator[Place]:
    for path, behavior in behaviors(config):
        yield from entries(behavior, path, "side_effects")


def capabilities(config: Any) -> Iterator[Place]:
    """Every mapping of capabilities."""
    for name in ("server", "baseline"):
        yield from _under(((name,), mapping(config).get(name)), "capabilities")
    for phase in phases(config):
        yield from _under(phase, "replace_capabilities")


def _under(place: Place, key: str) -> Iterator[Place]:
    """The mapping under a key, if there is one."""
    path, value = place
    found = mapping(value).get(key)
    if isinstance(found, dict):
        yield (*path, key), found


def triggers(config: Any) -> Iterator[Place]:
    for phase in phases(config):
        yield from _under(phase, "advance")


def implicit_includes(config: Any) -> Iterator[Path]:
    """Path strings where a phase may have an item: they are includes, too."""
    for sort in SORTS:
        for path, item in (*added_items(config, sort), *replacing_items(config, sort)):
            if isinstance(item, str):
                yield path


def content_items(answer: Place) -> Iterator[Place]:
    """The content items of an answer, those of its messages included."""
    path, value = answer
    yield from entries(value, path, "content")
    for message_path, message in entries(value, path, "messages"):
        yield (*message_path, "content"), mapping(message).get("content")


def handlers(config: Any) -> Iterator[Place]:
    for response in all_responses(config):
        for chooser in choosers(response):
            yield from _under(chooser, "handler")


def run_time_paths(config: Any) -> Iterator[tuple[Path, str]]:
    """Paths that a running server uses, as far as no template decides them."""
    places = [
        ((*path, "working_dir"), handler.get("working_dir")) for path, handler in handlers(config)
    ]
    output = mapping(mapping(config).get("logging")).get("output")
    if output not in ("stderr", "stdout"):
        places.append((("logging", "output"), output))
    for path, written in places:
        if isinstance(written, str) and written and "${" not in written:
            yield path, written
