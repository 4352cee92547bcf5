"""Rewrite alternative spellings into the one form that the model knows.

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

A value that moves remembers where it was written, so that findings refer to the author's text.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, get_args

from equipage.core import codes as core_codes
from equipage.formats.server import codes, grammar
from equipage.formats.server.compose import Rewrite, apply_rewrite
from equipage.formats.server.grammar import BRANCH_KEYS, Place, find_places, follow, is_free_data
from equipage.formats.server.model import MAX_UINT64, Delivery, SideEffect, Unsigned
from equipage.formats.server.payloads import Generated
from equipage.loading.tree import MADE_ABSOLUTE, attach, put_all, remove_all
from equipage.plugin import (
    HOLE,
    Document,
    Fact,
    Origins,
    Path,
    Session,
    Severity,
    Shown,
    Tree,
    Via,
    get,
    graft,
    mapping_or_empty,
    move,
    nearest,
    put,
    remove,
    walk,
)


def normalise(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The tree in the one form that the model knows."""
    facts: list[Fact] = []
    for rewrite in _REWRITES:
        tree = apply_rewrite(tree, rewrite, facts)
    if session.has_oddity(core_codes.NOT_FINITE):
        tree = _replace_infinities(tree, facts)
    return _make_paths_absolute(tree, session), facts


# Keys that have two spellings.

_CAPABILITIES = ("server.capabilities", "baseline.capabilities", "phases[].replace_capabilities")
_ITEM_LISTS = tuple(sort.plural for sort in grammar.ITEM_KINDS)
#: By class of the model: another spelling of one of its keys, and the model's own.
SPELLINGS = {
    "Server": ("stateScope", "state_scope"),
    "ListCapability": ("list_changed", "listChanged"),
    "ResourceCapability": ("list_changed", "listChanged"),
    "ToolResponse": ("on_exhausted", "onExhausted"),
    "ResourceResponse": ("on_exhausted", "onExhausted"),
    "PromptResponse": ("on_exhausted", "onExhausted"),
    "MatchBranch": ("onExhausted", "on_exhausted"),
}


def _spelling_rewrite(cls: str, where: Callable[[Any], list[Place]]) -> Rewrite:
    old, new = SPELLINGS[cls]
    return Rewrite(
        where,
        needed=lambda value: isinstance(value, dict) and old in value,
        change=lambda part, path, facts: _rename_key(part, path, facts, old, new),
    )


def _rename_key(
    part: Tree, path: Path, facts: list[Fact], old: str, new: str, inside: Path = ()
) -> Tree:
    """The part with the key `old` called `new`; both at once is an error."""
    place = (*inside, old)
    if new not in get(part.value, inside):
        return move(part, place, (*inside, new))
    facts.append(codes.BOTH_SPELLINGS.at((*path, *place), part="key", key=old, other=new))
    # The finding is placed later, so the origin of what is removed must stay known.
    return Tree(remove(part, place).value, part.origins, part.moves)


# Delivery and side effects.

#: The parameters of each delivery, which an author may also write beside its name.
DELIVERY_PARAMETERS: dict[Any, tuple[str, ...]] = {
    cls.__struct_config__.tag: cls.__struct_fields__ for cls in get_args(Delivery)
}
#: What a parameter of a side effect takes, in words.
_EXPECTED_WORDS = {Unsigned: "a whole number", str: "text", bool: "`true` or `false`"}
#: The parameters of each side effect, without those that take anything.
_EFFECT_PARAMETERS = {
    cls.__struct_config__.tag: {
        name: kind for name, kind in cls.__annotations__.items() if kind in _EXPECTED_WORDS
    }
    for cls in get_args(SideEffect)
}


def _expand_delivery(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    """A delivery written as a word, with its parameters beside it, becomes a mapping."""
    name = part.value["delivery"]
    part = move(part, ("delivery",), ("delivery", "type"))
    for parameter in DELIVERY_PARAMETERS.get(name, ()):
        if parameter in part.value:
            part = move(part, (parameter,), ("delivery", parameter))
    return part


def _misfit_parameters(effect: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The parameters of a side effect that do not fit, and what they should be."""
    for name, kind in _EFFECT_PARAMETERS.get(str(effect.get("type")), {}).items():
        value = effect.get(name)
        if kind is Unsigned:
            fits = type(value) is int and 0 <= value <= MAX_UINT64
        else:
            fits = isinstance(value, kind)
        if not fits and value is not None and value is not HOLE:
            yield name, _EXPECTED_WORDS[kind]


def _needs_repair(effect: dict[str, Any]) -> bool:
    return effect.get("trigger", HOLE) is None or any(_misfit_parameters(effect))


def _repair_side_effect(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The side effect without what does not fit. A server goes on with the defaults."""
    effect = part.value
    for name, expected in _misfit_parameters(effect):
        found = Shown(effect[name], as_found=True)
        facts.append(
            codes.EFFECT_PARAMETER_TYPE.at(
                (*path, name), parameter=name, type=effect["type"], expected=expected, found=found
            )
        )
        part = remove(part, (name,))
    if effect.get("trigger", HOLE) is None:
        facts.append(_wrong_type((*path, "trigger"), "a word", None))
        part = put(part, ("trigger",), HOLE)
    return part


def _wrong_type(path: Path, expected: str, value: Any, hint: str | None = None) -> Fact:
    found = Shown(value, as_found=True)
    return core_codes.WRONG_TYPE.at(path, expected=expected, found=found, hint=hint)


# The `default` of a branch.


def _is_default_object(branch: Any) -> bool:
    """Whether the `default` of a branch holds its answer. Beside `when`, it has no effect."""
    return isinstance(mapping_or_empty(branch).get("default"), dict) and branch.get("when") is None


def _hoist_default(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """Move the content of a `default` beside it."""
    for key in part.value["default"]:
        place = (*path, "default", key)
        if key in BRANCH_KEYS and key in part.value:
            written = f"default: {{{key}: …}}"
            facts.append(codes.BOTH_SPELLINGS.at(place, part="key", key=written, other=key))
        elif key in BRANCH_KEYS:
            part = move(part, ("default", key), (key,))
        else:
            owner = "`match branch`"
            facts.append(
                core_codes.UNKNOWN_FIELD.at(place, part="key", field=Shown(key), owner=owner)
            )
    return put(part, ("default",), True)


# Text in place of content items.


def _lacks_content_item(message: Any) -> bool:
    """Whether a message has no content item. The reason for a hole was reported before."""
    content = mapping_or_empty(message).get("content")
    return isinstance(message, dict) and content is not HOLE and not isinstance(content, dict)


def _wrap_message_text(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """Text as the content of a message becomes a content item."""
    content = part.value.get("content", HOLE)
    if isinstance(content, str | Generated):
        part = move(part, ("content",), ("content", "text"))
        # Not that of the text: no variable in it went into this word.
        return put(part, ("content", "type"), "text", origin=(), how="")
    if content is HOLE:
        # The model would ask for a mapping, but what people write is text.
        facts.append(
            core_codes.MISSING_FIELD.at(path, field="content", owner="`message`", expected="text")
        )
    else:
        expected = "text, a payload from `$generate`, or a content item"
        facts.append(_wrong_type((*path, "content"), expected, content))
    return put(part, ("content",), HOLE)


def _wrap_branch_text(part: Tree, _path: Path, _facts: list[Fact]) -> Tree:
    """Text as the content of a resource's branch becomes a list of one content item.

    All that is made around the text has the origin of the text, but for the word `text`, which no
    variable went into.
    """
    text = part.subtree(("content",))
    here = text.origins.here
    item = Origins(here, below={"text": text.origins, "type": Origins(part.origins.here)})
    origins = Origins(here, (Via("normalised"),), {0: item})
    made = Tree([{"type": "text", "text": text.value}], origins)
    wrapped = attach(part, ("content",), made)
    moves = (*part.moves, (("content",), ("content", 0, "text")))
    return Tree(wrapped.value, wrapped.origins, moves)


def _refuse_replacement_list(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """Refuse a list, which cannot say which item each of its entries replaces."""
    sort = next(each for each in grammar.ITEM_KINDS if path[-1] == f"replace_{each.plural}")
    hint = (
        f"write `{path[-1]}: {{{sort.identity.upper()}: …}}`, "
        f"with the {sort.identity} of the {sort.name} to replace"
    )
    facts.append(_wrong_type(path, "a mapping", part.value, hint))
    return Tree(HOLE, part.origins)


# The `match` of a trigger: fields of a request, and what their values must be. A mapping holds
# either operators or, if any of its keys is not an operator, further fields.

#: Other names of operators.
ALIASES = {"starts_with": "prefix", "ends_with": "suffix"}
TEXT_OPERATORS = ("contains", "prefix", "suffix", "regex")
OPERATORS = (*TEXT_OPERATORS, "any_of")
_KNOWN_OPERATORS = frozenset({*OPERATORS, *ALIASES})


def _is_nested(value: Any) -> bool:
    """Whether a mapping holds further fields rather than operators."""
    return isinstance(value, dict) and not _KNOWN_OPERATORS.issuperset(value)


def _needs_flattening(trigger: dict[str, Any]) -> bool:
    matchers = mapping_or_empty(trigger.get("match")).values()
    return any(
        _is_nested(each) or not ALIASES.keys().isdisjoint(mapping_or_empty(each))
        for each in matchers
    )


def _field_paths(matchers: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The path of every field, through mappings that only hold further fields."""
    stack: list[tuple[str, ...]] = [(key,) for key in reversed(matchers)]
    while stack:
        steps = stack.pop()
        value = get(matchers, steps)
        if _is_nested(value):
            stack.extend((*steps, key) for key in reversed(value))
        else:
            yield steps


def _flatten_matchers(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The trigger with every field at the top of `match`, and operators by their own names."""
    matchers, place = part.value["match"], (*path, "match")
    nested = {key for key, value in matchers.items() if _is_nested(value)}
    # A field at the top counts before a nested one of the same name, wherever it is written.
    known: dict[str, tuple[str, ...]] = {key: (key,) for key in matchers.keys() - nested}
    for steps in list(_field_paths(matchers)):
        facts += _check_operator_like_field(steps, place)
        field = ".".join(steps)
        other = known.setdefault(field, steps)
        if other != steps:
            key, rival = Shown(_format_field(steps)), Shown(_format_field(other))
            fact = codes.BOTH_SPELLINGS.at((*place, *steps), part="key", key=key, other=rival)
            facts.append(fact)
            continue
        inside = ("match", field)
        if len(steps) > 1:
            part = move(part, ("match", *steps), inside)
        for alias, name in ALIASES.items():
            if alias in mapping_or_empty(get(part.value, inside)):
                part = _rename_key(part, path, facts, alias, name, inside)
    return remove_all(part, [("match", key) for key in nested])


def _check_operator_like_field(steps: tuple[str, ...], path: Path) -> Iterator[Fact]:
    """Report a nested field whose name looks like an operator."""
    if len(steps) < 2:
        return
    name = steps[-1]
    guess = name if name in _KNOWN_OPERATORS else nearest(name, OPERATORS)
    if guess is not None:
        field = Shown(".".join(steps))
        yield codes.MATCHER_OPERATOR_AS_FIELD.at(
            (*path, *steps), part="key", key=Shown(name), operator=guess, field=field
        )


def _format_field(steps: tuple[str, ...]) -> str:
    """A field as its author wrote it: `a.b`, or `a: {b: …}`."""
    return steps[0] if len(steps) == 1 else f"{': {'.join(steps)}: …{'}' * (len(steps) - 1)}"


# Numbers that JSON cannot express, and paths that a running server uses.


def _replace_infinities(tree: Tree, facts: list[Fact]) -> Tree:
    """JSON has no infinity: it becomes null with a warning in free data, elsewhere an error.

    Payloads are left alone, since `$generate` judged what they hold.
    """
    origins = {
        path: tree.provenance(path).origin
        for path, value in walk(tree.value)
        if isinstance(value, float) and not math.isfinite(value)
    }
    documents: dict[int, tuple[Document, list[Path]]] = {}
    for origin in origins.values():
        documents.setdefault(id(origin.document), (origin.document, []))[1].append(origin.path)
    # Each document is searched once for all that its author wrote.
    texts = {
        (number, path): located.value.text()
        for number, (document, paths) in documents.items()
        for path, located in document.locate(paths).items()
    }
    parts: dict[Path, Tree] = {}
    for path, origin in origins.items():
        free = is_free_data(path)
        found = Shown(texts.get((id(origin.document), origin.path), "this"))
        severity: Severity = "warning" if free else "error"
        facts.append(core_codes.NOT_FINITE.at(path, severity=severity, found=found))
        parts[path] = Tree(None if free else HOLE, Origins(origin, (Via("normalised"),)))
    return graft(tree, parts)


def _make_paths_absolute(tree: Tree, session: Session) -> Tree:
    """Make paths that a running server uses absolute, from the file that names them."""
    made: dict[Path, str] = {}
    places = follow(grammar.handlers(tree.value), "working_dir")
    outputs = find_places(tree.value, "logging.output")
    places += [each for each in outputs if each[1] not in ("stderr", "stdout")]
    for path, written in places if not session.embedded else ():
        # With a template in it, only a running server knows the path.
        if not isinstance(written, str) or not written or "${" in written:
            continue
        source = tree.provenance(path).origin.document.source
        folder = os.path.dirname(source.filename) if source.filename is not None else session.base
        absolute = os.path.normpath(os.path.join(folder, written))
        if absolute != written:
            made[path] = absolute
    return put_all(tree, made, how=MADE_ABSOLUTE)


_REWRITES: tuple[Rewrite, ...] = (
    # What a `default` holds may have another spelling, so it is moved first.
    Rewrite(grammar.branches, _is_default_object, _hoist_default),
    _spelling_rewrite("Server", lambda config: find_places(config, "server")),
    _spelling_rewrite(
        "ListCapability", lambda config: follow(find_places(config, *_CAPABILITIES), *_ITEM_LISTS)
    ),
    _spelling_rewrite("ToolResponse", grammar.responses),
    _spelling_rewrite("MatchBranch", grammar.branches),
    Rewrite(
        grammar.behaviors, lambda value: isinstance(value.get("delivery"), str), _expand_delivery
    ),
    Rewrite(grammar.side_effects, _needs_repair, _repair_side_effect),
    Rewrite(
        lambda config: follow(grammar.answers(config), "messages[]"),
        _lacks_content_item,
        _wrap_message_text,
    ),
    # The response of a resource itself takes text as it is.
    Rewrite(
        lambda config: grammar.alternatives(grammar.responses(config, grammar.RESOURCE)),
        lambda value: isinstance(mapping_or_empty(value).get("content"), str | Generated),
        _wrap_branch_text,
    ),
    Rewrite(
        lambda config: find_places(
            config, *(f"phases[].replace_{sort.plural}" for sort in grammar.ITEM_KINDS)
        ),
        lambda value: isinstance(value, list),
        _refuse_replacement_list,
    ),
    Rewrite(grammar.triggers, _needs_flattening, _flatten_matchers),
)
