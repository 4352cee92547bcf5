"""What the rules of a blueprint share, and the rules about its single values.

Rules see a value that may be incomplete: parts that do not fit the model were taken out, and a
reference that could not be followed left a hole. So every walk yields only what it recognises and
stays silent about the rest.

Programs that run blueprints report most of what the rules find when a flow starts, one problem at
a time. Here all of it is reported when the file loads, mostly as warnings, because it does load.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache
from typing import Any, Literal

import blake3
import msgspec
from msgspec import inspect as types

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Part
from equipage.core.text import lazy_regex
from equipage.formats.blueprint import codes
from equipage.formats.blueprint.model import Blueprint, Step
from equipage.loading.type_words import type_info
from equipage.plugin import (
    HOLE,
    Change,
    Fact,
    Path,
    Remedy,
    Session,
    Shown,
    get,
    mapping_or_empty,
    nearest,
    walk,
)

# Walks over lists and their names.


def enumerate_list(value: Any) -> list[tuple[int, Any]]:
    """The entries of a list with their numbers; of anything else, none."""
    return list(enumerate(value)) if isinstance(value, list) else []


def entries(config: Any, key: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The entries of a list such as `agents` with their paths; one of a wrong type is empty."""
    for number, each in enumerate_list(get(config, (key,))):
        yield (key, number), mapping_or_empty(each)


def has_holes(value: Any) -> bool:
    """Whether a reference below could not be followed: it may hold values that seem absent."""
    return any(node is HOLE for _, node in walk(value))


#: What the model reports where it cannot read a part.
_UNREAD_CODES = (
    core_codes.INVALID_VALUE, core_codes.MISSING_FIELD, core_codes.UNKNOWN_FIELD,
    core_codes.WRONG_TYPE,
)  # fmt: skip


def flow_is_known(config: Any, session: Session) -> bool:
    """Whether every part of the flow was read; if not, no value is surely absent."""
    unread = any(
        each.code in _UNREAD_CODES and each.path[:1] == ("flow",) for each in session.facts
    )
    return not unread and not has_holes(get(config, ("flow",)))


class Names(msgspec.Struct, frozen=True):
    """The names of the entries of one list."""

    key: str  #: the list, such as `agents`
    first: dict[str, Path]  #: each name and the first entry that has it
    complete: bool  #: whether the name of every entry is known

    def lack(self, name: Any) -> bool:
        """Whether no entry can have this name."""
        return isinstance(name, str) and self.complete and name not in self.first


def names_in(config: Any, key: str) -> Names:
    """The names in a list of the blueprint such as `agents`."""
    first: dict[str, Path] = {}
    complete = get(config, (key,)) is not HOLE
    for path, entry in entries(config, key):
        name = entry.get("name")
        if isinstance(name, str):
            first.setdefault(name, path)
        else:
            complete = False
    return Names(key, first, complete)


def correction(path: Path, guess: str | None, part: Part = "value") -> Remedy | None:
    """The fix that writes the name that was probably meant. It is a guess, so never a safe one."""
    if guess is None:
        return None
    verb = "rename" if part == "key" else "change"
    return Remedy(f"{verb} to `{guess}`", (Change(path, guess, part),), safe=False)


# Walks over the flow.

#: The field that says what a mapping of a flow is: nodes have a `kind`, expressions an `op`.
Tag = Literal["kind", "op"]


class FlowPart(msgspec.Struct, frozen=True):
    """A node or an expression of the flow."""

    path: Path
    tag: Tag
    value: dict[str, Any]

    @property
    def name(self) -> str:
        """The kind of a node, the operator of an expression."""
        return str(self.value[self.tag])


def nodes(config: Any, kinds: Container[str]) -> Iterator[FlowPart]:
    """The nodes of these kinds, parents first, in document order."""
    return (part for part in _flow_parts(config) if part.tag == "kind" and part.name in kinds)


def expressions(config: Any, operators: Container[str]) -> Iterator[FlowPart]:
    """The expressions with these operators, parents first, in document order."""
    return (part for part in _flow_parts(config) if part.tag == "op" and part.name in operators)


def _flow_parts(config: Any) -> Iterator[FlowPart]:
    """Every node and expression of the flow. The value of a literal is data, whatever it holds."""
    stack: list[tuple[Path, Any, Tag]] = [(("flow",), get(config, ("flow",)), "kind")]
    while stack:
        path, value, tag = stack.pop()
        fields = _child_fields(tag).get(str(value.get(tag))) if isinstance(value, dict) else None
        if fields is None:
            continue
        yield FlowPart(path, tag, value)
        children: list[tuple[Path, Any, Tag]] = []
        for key, child in value.items():
            if key in fields:
                inner, is_list = fields[key]
                if is_list:
                    children += [
                        ((*path, key, at), each, inner) for at, each in enumerate_list(child)
                    ]
                else:
                    children.append(((*path, key), child, inner))
        stack.extend(reversed(children))


def _structs(owner: types.Type, name: str) -> list[types.StructType]:
    """The Structs that a field of a Struct may hold."""
    assert isinstance(owner, types.StructType)
    union = next(field.type for field in owner.fields if field.name == name)
    assert isinstance(union, types.UnionType)
    return [each for each in union.types if isinstance(each, types.StructType)]


@cache
def _child_fields(tag: Tag) -> dict[str, dict[str, tuple[Tag, bool]]]:
    """Node or operator → its fields that hold nodes or expressions, and whether they are lists.

    The table is read off the model, so a new node or operator needs no change here.
    """
    structs = _structs(type_info(Blueprint), "flow")
    if tag == "op":
        structs = _structs(next(each for each in structs if each.cls is Step), "out")
    table: dict[str, dict[str, tuple[Tag, bool]]] = {}
    for each in structs:
        found = ((field.encode_name, _child_tag(field.type)) for field in each.fields)
        table[str(each.tag)] = {name: holds for name, holds in found if holds is not None}
    return table


def _child_tag(kind: types.Type) -> tuple[Tag, bool] | None:
    """Whether a field holds nodes or expressions, and whether it is a list; None if neither."""
    is_list = isinstance(kind, types.VarTupleType)
    inner = kind.item_type if isinstance(kind, types.VarTupleType) else kind
    for each in inner.types if isinstance(inner, types.UnionType) else ():
        if isinstance(each, types.StructType):
            return ("kind" if each.tag_field == "kind" else "op"), is_list
    return None


# Paths, which name places in the context of a flow.

#: One step of a path: `["key"]`, also after a dot, or `.key`.
_SEGMENT = lazy_regex(r"""\.?\["(?P<quoted>[^"]+)"\]|\.(?P<plain>[^.\[]+)""")


def canonical_path(at: str) -> str | None:
    """The path as current programs print it; None if they cannot read it.

    A key is written in brackets only if it needs them: `$.a["b"]["c.d"]` becomes `$.a.b["c.d"]`.
    """
    if not at.startswith("$"):
        return None
    offset, steps = 1, ["$"]
    while offset < len(at):
        match = _SEGMENT.match(at, offset)
        if match is None:
            return None
        key = match["plain"] or match["quoted"]
        steps.append(f'["{key}"]' if re.search(r"[.\[\]]", key) else f".{key}")
        offset = match.end()
    return "".join(steps)


def canonical_path_of(expression: Any) -> str | None:
    """The canonical path of an expression of the operator `path`; None for any other value."""
    at = get(expression, ("at",)) if get(expression, ("op",)) == "path" else None
    return canonical_path(at) if isinstance(at, str) else None


# Lint levels. A program takes the level of a finding from the `lints` of the agent, else from those
# of the blueprint; the first of the two that mentions the finding decides. In each of them the kind
# of the finding counts before its category, and that before `all`.

_CATEGORY = "category:"
_CATEGORIES = ("correctness", "suspicious", "style", "contract", "migration")
_CATEGORY_KEYS = tuple(_CATEGORY + each for each in _CATEGORIES)
#: Findings that programs always refuse, whatever `lints` say.
_REFUSED_LINTS = (
    "bound-agent-resolution", "duplicate-agent-name", "invalid-agent-spec",
    "invalid-projection-placement", "unknown-agent-kind", "unresolved-agent-ref",
    "unresolved-audit-agent", "unresolved-meta-ref", "unresolved-operator-ref",
    "verdict-channel-mismatch", "verdict-value-not-in-contract",
)  # fmt: skip
#: Every finding whose level `lints` may mention.
_KNOWN_LINTS = (
    *_REFUSED_LINTS, "agent-md-size", "binding-requirements-info", "binding-resolution-error",
    "context-policy-strips-projection-roots", "halted-at-missing", "legacy-worker-binding",
    "non-suppressible-lint", "output-contract-missing", "projection-root-seed-missing",
    "removed-spawner-hint", "skip-on-declared-but-no-matching-verdict-value",
    "skip-on-missing-for-skip-like-verdict-value", "skip-on-pattern-conflicts-with-halt-on",
    "step-naming-collision", "strict-binding-without-runners", "tool-unknown-mcp-ref",
    "unknown-lint-kind", "verdict-contract-never-read", "verdict-value-unhandled",
    "worker-binding-missing", "wrapper-only-drift",
)  # fmt: skip


def lint_level(kind: str, category: str, *layers: Any) -> str | None:
    """The level of a finding in the first of these `lints` that mentions it; None if none does."""
    for lints in map(mapping_or_empty, layers):
        categories = (key for key in lints if key.casefold() == _CATEGORY + category)
        key = next((key for key in (kind, *categories, "all") if key in lints), None)
        if key is not None:
            return lints[key] if isinstance(lints[key], str) else None
    return None


def lints_have_an_effect(config: Any, _session: Session) -> Iterator[Fact]:
    """Every key of `lints` names a finding whose level can be set."""
    owners: list[Path] = [("metadata",), *(path for path, _ in entries(config, "agents"))]
    for path in ((*owner, "lints") for owner in owners):
        lints = mapping_or_empty(get(config, path))
        for key, level in lints.items():
            if key in _REFUSED_LINTS and level in ("allow", "warn"):
                yield codes.LINT_WITHOUT_EFFECT.at((*path, key), part="key", lint=key, level=level)
            elif key != "all" and key not in _KNOWN_LINTS and key.casefold() not in _CATEGORY_KEYS:
                yield from _unknown_lint((*path, key), key, lints)


def _unknown_lint(path: Path, key: str, lints: dict[str, Any]) -> Iterator[Fact]:
    """A lint that does not exist. There are five categories, but programs may have more kinds than
    are known here, so an unknown kind is reported only if it nearly spells a known one."""
    known = None
    if key.casefold().startswith(_CATEGORY):
        name = nearest(key[len(_CATEGORY) :].casefold(), _CATEGORIES)
        guess = name and _CATEGORY + name
        known = None if guess else _CATEGORIES
    elif (guess := nearest(key, ("all", *_KNOWN_LINTS, *_CATEGORY_KEYS))) is None:
        return
    # Renaming would make two keys of one if the right one is there as well.
    remedy = correction(path, guess, "key") if guess not in lints else None
    yield codes.UNKNOWN_LINT.at(
        path, part="key", remedy=remedy, lint=Shown(key), nearest=guess, known=known
    )


# Versions, limits and folders.

#: As semver.org gives it: numbers without leading zeros, `-` and a pre-release, `+` and a build.
_SEMVER = lazy_regex(
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)
_KNOWN_SCHEMA_VERSION = "0.1.0"
_MAX_UINT64 = 2**64 - 1
_ORIGIN_FIELDS = {"inline": ("kind",), "file": ("kind", "path"), "algo": ("kind", "session_id")}


def schema_version_is_semver(config: Any, _session: Session) -> Iterator[Fact]:
    """`schema_version` is a semantic version; only one has ever been published."""
    version = get(config, ("schema_version",))
    if not isinstance(version, str):
        return
    numbers = re.findall(r"\d+", re.split("[-+]", version)[0])
    # Length first: Python refuses to read a number of thousands of digits.
    too_large = any(len(each) > 20 or int(each) > _MAX_UINT64 for each in numbers)
    path, found = ("schema_version",), Shown(version)
    if too_large or not _SEMVER.fullmatch(version):
        yield codes.NOT_SEMVER.at(path, found=found)
    elif version != _KNOWN_SCHEMA_VERSION:
        yield codes.UNKNOWN_SCHEMA_VERSION.at(path, found=found, known=_KNOWN_SCHEMA_VERSION)


def time_to_live_fits(config: Any, _session: Session) -> Iterator[Fact]:
    """`default_run_ttl_secs` fits into 64 bits, a bound that msgspec cannot express."""
    path = ("metadata", "default_run_ttl_secs")
    seconds = get(config, path)
    if isinstance(seconds, int) and seconds > _MAX_UINT64:
        yield core_codes.OUT_OF_RANGE.at(
            path, found=Shown(seconds), expected=f"at most {_MAX_UINT64}"
        )


def origin_has_no_further_keys(config: Any, _session: Session) -> Iterator[Fact]:
    """`metadata.origin` accepts further keys and drops them."""
    path = ("metadata", "origin")
    origin = mapping_or_empty(get(config, path))
    known = _ORIGIN_FIELDS.get(str(origin.get("kind")), origin)
    for key in (key for key in origin if key not in known):
        owner = "`metadata.origin`"
        yield core_codes.UNKNOWN_FIELD.at(
            (*path, key), part="key", severity="warning", field=Shown(key), owner=owner
        )


def layers_are_not_withdrawn(config: Any, _session: Session) -> Iterator[Fact]:
    """Programs skip layers they do not know, but refuse the one that was withdrawn."""
    path = ("spawner_hints", "layers")
    for number, layer in enumerate_list(get(config, path)):
        if layer == "operator_delegate":
            yield codes.WITHDRAWN_LAYER.at((*path, number), layer=layer)


def document_names_no_folders(config: Any, _session: Session) -> Iterator[Fact]:
    """The caller decides which folders may be read, never the document."""
    if enumerate_list(get(config, ("blueprint_ref_includes",))):
        yield codes.INCLUDES_NOT_FOLLOWED.at(("blueprint_ref_includes",), part="key")


def placement_is_usable(config: Any, _session: Session) -> Iterator[Fact]:
    """Results go below a known root, into a folder that differs from task to task."""
    for field in ("root", "dir_template"):
        path = ("projection_placement", field)
        found = get(config, path)
        expected = _placement_expected(field, found) if isinstance(found, str) else None
        if expected is not None:
            yield codes.PLACEMENT.at(path, found=Shown(found), expected=expected)


def _placement_expected(field: str, found: str) -> str | None:
    """What a field of the placement takes instead of what it holds; None if that is right."""
    if field == "root":
        is_known = found in ("work_dir", "project_root")
        return None if is_known else "`work_dir` or `project_root`"
    if "{task_id}" not in found:
        return "a path with `{task_id}`"
    is_inside = not found.startswith("/") and ".." not in found.split("/")
    return None if is_inside else "a relative path without `..`"


def hashes_match_prompts(config: Any, _session: Session) -> Iterator[Fact]:
    """`version_hash` tells versions of a prompt apart, so it must change with the prompt."""
    for key in ("agents", "operators"):
        for path, each in entries(config, key):
            profile = mapping_or_empty(each.get("profile"))
            found, prompt = profile.get("version_hash"), profile.get("system_prompt", "")
            if not isinstance(found, str) or not isinstance(prompt, str):
                continue
            computed = blake3.blake3(prompt.encode("utf-8", "surrogatepass")).hexdigest()
            if found != computed:
                place = (*path, "profile", "version_hash")
                change = Change(place, computed)
                remedy = Remedy("write the hash of the prompt", (change,), safe=False)
                yield codes.STALE_HASH.at(place, remedy=remedy, computed=computed)


RULES = (
    schema_version_is_semver,
    time_to_live_fits,
    origin_has_no_further_keys,
    layers_are_not_withdrawn,
    document_names_no_folders,
    placement_is_usable,
    hashes_match_prompts,
    lints_have_an_effect,
)
