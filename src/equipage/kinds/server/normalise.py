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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.directives.generate import Generated
from equipage.kinds.server import codes, items
from equipage.kinds.server.compose import Rewrite, rewritten
from equipage.kinds.server.items import BRANCH_KEYS, Place, entries, is_free
from equipage.kinds.server.model import LARGEST
from equipage.loading.session import Session
from equipage.loading.tree import (
    HOLE,
    MADE_ABSOLUTE,
    Hole,
    Origin,
    Origins,
    Tree,
    Via,
    attach,
    get,
    graft,
    mapping,
    move,
    put,
    put_all,
    remove,
    remove_all,
    walk,
)
from equipage.syntax.document import Document

# --- effects -----------------------------------------------------------------------------------
# Side effects whose parameters do not fit. A server runs on with the default, so these are warnings.

#: What each side effect takes, in words; `any value` takes anything.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "notification_flood": {
        "rate_per_sec": "a whole number",
        "duration_sec": "a whole number",
        "method": "text",
        "params": "any value",
    },
    "batch_amplify": {"batch_size": "a whole number", "method": "text"},
    "pipe_deadlock": {"fill_bytes": "a whole number"},
    "close_connection": {"graceful": "`true` or `false`", "delay_ms": "a whole number"},
    "duplicate_request_ids": {
        "count": "a whole number",
        "id": "any value",
        "method": "text",
        "params": "any value",
    },
}


def _fits(value: Any, expected: str) -> bool:
    if value is HOLE or value is None or expected == "any value":
        return True
    if expected == "a whole number":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    return isinstance(value, str if expected == "text" else bool)


def _misfits(effect: dict[str, Any]) -> list[str]:
    name = effect.get("type")
    parameters = PARAMETERS.get(name, {}) if isinstance(name, str) else {}
    return [
        name
        for name, expected in parameters.items()
        if name in effect and not _fits(effect[name], expected)
    ]


def side_effect_needs_settling(effect: Any) -> bool:
    if not isinstance(effect, dict):
        return False
    return ("trigger" in effect and effect["trigger"] is None) or bool(_misfits(effect))


def settle_side_effect(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The side effect without what does not fit."""
    effect = part.value
    for name in _misfits(effect):
        expected = PARAMETERS[effect["type"]][name]
        found = Shown(effect[name], as_found=True)
        said: dict[str, Any] = {
            "parameter": name,
            "type": effect["type"],
            "expected": expected,
            "found": found,
        }
        facts.append(codes.EFFECT_PARAMETER_TYPE.at((*path, name), **said))
        part = remove(part, (name,))
    if effect.get("trigger", HOLE) is None:
        facts.append(
            core_codes.WRONG_TYPE.at(
                (*path, "trigger"), expected="a word", found=Shown(None, as_found=True)
            )
        )
        part = put(part, ("trigger",), HOLE)
    return part


# --- matchers ----------------------------------------------------------------------------------
# The `match` of a trigger: fields of a request, and what their values must be.
#
# A value is compared as it is, or a mapping of operators says more. Nested mappings stand for dotted fields.

#: Other names of operators.
ALIASES = {"starts_with": "prefix", "ends_with": "suffix"}
TEXT_OPERATORS = ("contains", "prefix", "suffix", "regex")
OPERATORS = (*TEXT_OPERATORS, "any_of")
_KNOWN = frozenset({*OPERATORS, *ALIASES})


def _is_nested(value: Any) -> bool:
    """Whether a mapping holds further fields rather than operators."""
    return isinstance(value, dict) and any(key not in _KNOWN for key in value)


def matchers_need_flattening(trigger: Any) -> bool:
    matchers = mapping(mapping(trigger).get("match")).values()
    return any(
        isinstance(value, dict) and (_is_nested(value) or not ALIASES.keys().isdisjoint(value))
        for value in matchers
    )


def _fields(matchers: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The way to every field, through mappings that only hold further fields."""
    stack: list[tuple[str, ...]] = [(key,) for key in reversed(matchers)]
    while stack:
        steps = stack.pop()
        value = get(matchers, steps)
        if _is_nested(value):
            stack.extend((*steps, key) for key in reversed(value))
        else:
            yield steps


def flatten_matchers(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The trigger with every field at the top of `match`, and operators by their own names."""
    matchers = part.value["match"]
    nested = [key for key, value in matchers.items() if _is_nested(value)]
    known: dict[str, tuple[str, ...]] = {
        key: (key,) for key, value in matchers.items() if not _is_nested(value)
    }
    for steps in list(_fields(matchers)):
        facts += _doubts(matchers, steps, (*path, "match"))
        field = ".".join(steps)
        other = known.setdefault(field, steps)
        if other != steps:
            said: dict[str, Any] = {
                "key": Shown(_as_written(steps)),
                "other": Shown(_as_written(other)),
            }
            facts.append(codes.BOTH_SPELLINGS.at((*path, "match", *steps), part="key", **said))
            continue
        if len(steps) > 1:
            part = move(part, ("match", *steps), ("match", field))
        for alias, name in ALIASES.items():
            value = get(part.value, ("match", field))
            if isinstance(value, dict) and alias in value:
                part = _renamed(part, ("match", field), alias, path, facts, name)
    return remove_all(part, [("match", key) for key in nested])


def _as_written(steps: tuple[str, ...]) -> str:
    """A field the way its author spelt it: `a.b`, or `a: {b: …}`."""
    return steps[0] if len(steps) == 1 else f"{': {'.join(steps)}: …{'}' * (len(steps) - 1)}"


def _renamed(part: Tree, at: Path, alias: str, path: Path, facts: list[Fact], name: str) -> Tree:
    if name in get(part.value, at):
        facts.append(
            codes.BOTH_SPELLINGS.at((*path, *at, alias), part="key", key=alias, other=name)
        )
        return remove(part, (*at, alias))
    return move(part, (*at, alias), (*at, name))


def _doubts(matchers: dict[str, Any], steps: tuple[str, ...], path: Path) -> Iterator[Fact]:
    """A field below others that looks like an operator."""
    if len(steps) < 2:
        return
    name = steps[-1]
    guess = name if name in _KNOWN else nearest(name, OPERATORS)
    if guess is not None:
        said: dict[str, Any] = {
            "key": Shown(name),
            "operator": guess,
            "field": Shown(".".join(steps)),
        }
        yield codes.MATCHER_OPERATOR_AS_FIELD.at((*path, *steps), part="key", **said)


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
    if session.noted(core_codes.NOT_FINITE):
        tree = _without_infinities(tree, facts)
    return _with_absolute_paths(tree, session), facts


# -------------------------------------------------------------------------------------------------- spellings


def _normalise_renamed(part: Tree, path: Path, facts: list[Fact], old: str, new: str) -> Tree:
    """The mapping with `old` called `new`; both at once is an error."""
    if new in part.value:
        facts.append(codes.BOTH_SPELLINGS.at((*path, old), part="key", key=old, other=new))
        # The finding is still to be placed, so where the removed one came from stays known.
        return Tree(remove(part, (old,)).value, part.origins, part.moves)
    return move(part, (old,), (new,))


def _spelling(old: str, new: str, where: Any) -> Rewrite:
    return Rewrite(
        where=where,
        needed=lambda value: isinstance(value, dict) and old in value,
        change=lambda part, path, facts: _normalise_renamed(part, path, facts, old, new),
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
            facts.append(
                codes.BOTH_SPELLINGS.at(place, part="key", key=f"default: {{{key}: …}}", other=key)
            )
        elif key in BRANCH_KEYS:
            part = move(part, ("default", key), (key,))
        elif not key.startswith("$"):
            facts.append(
                core_codes.UNKNOWN_FIELD.at(
                    place, part="key", field=Shown(key), owner="`match branch`"
                )
            )
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
        facts.append(
            core_codes.MISSING_FIELD.at(path, field="content", owner="`message`", expected="text")
        )
    else:
        expected = "text, a payload from `$generate`, or a content item"
        facts.append(
            core_codes.WRONG_TYPE.at(
                (*path, "content"), expected=expected, found=Shown(content, as_found=True)
            )
        )
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
    made = Tree(
        [{"type": "text", "text": text.value}], Origins(here, (Via("normalised"),), {0: item})
    )
    wrapped = attach(part, ("content",), made)
    return Tree(
        wrapped.value, wrapped.origins, (*part.moves, (("content",), ("content", 0, "text")))
    )


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
    facts.append(core_codes.WRONG_TYPE.at(path, expected="a mapping", found=found, hint=hint))
    return Tree(HOLE, part.origins)


# ---------------------------------------------------------------------------------------------------- numbers


def _without_infinities(tree: Tree, facts: list[Fact]) -> Tree:
    """JSON has no infinity: null with a warning where data is free, a hole and an error where a value has a type.

    What stands in a payload was judged when that was planned.
    """
    found = [
        path
        for path, value in walk(tree.value)
        if isinstance(value, float) and not math.isfinite(value)
    ]
    origins = {path: tree.story(path).origin for path in found}
    texts = _texts(origins.values())
    parts: dict[Path, Tree] = {}
    for path, origin in origins.items():
        free = is_free(path)
        written = Shown(texts.get((id(origin.document), origin.path), "this"))
        facts.append(
            core_codes.NOT_FINITE.at(path, severity="warning" if free else "error", found=written)
        )
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
    Rewrite(
        items.behaviors, lambda value: isinstance(value.get("delivery"), str), _delivery_object
    ),
    Rewrite(items.side_effects, side_effect_needs_settling, settle_side_effect),
    Rewrite(_messages, _is_no_item, _message_content),
    Rewrite(
        _resource_answers,
        lambda value: isinstance(mapping(value).get("content"), str | Generated),
        _as_list,
    ),
    Rewrite(_replacements, lambda value: isinstance(value, list), _listed_replacements),
    Rewrite(items.triggers, matchers_need_flattening, flatten_matchers),
)
