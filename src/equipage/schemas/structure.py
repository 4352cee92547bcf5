"""What the fragment of a reference points to.

A fragment is a JSON Pointer (RFC 6901, percent-decoded) or the name of an anchor. Two spellings of older loaders
are understood too: `#/` for the whole document, and a pointer without its first slash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote

import msgspec

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import ROOT, Path
from equipage.core.text import nearest
from equipage.loading.tree import get
from equipage.schemas import codes

# --- drafts ------------------------------------------------------------------------------------
# The drafts of JSON Schema and how a schema says which one it is written in.


class Draft(msgspec.Struct, frozen=True):
    """One version of JSON Schema."""

    name: str
    uri: str  #: of its meta-schema, without a final `#`
    validator: (
        str | None
    )  #: the class of jsonschema-rs; None: the draft is known but cannot be checked
    #: whether `$ref` hides the keywords beside it
    ref_stands_alone: bool = False
    #: the keyword for named subschemas
    definitions: str = "$defs"
    #: the keyword that gives a schema an address
    address: str = "$id"

    @property
    def named(self) -> str:
        """The draft as `$schema` usually names it: older ones with an empty fragment."""
        return f"{self.uri}#" if self.ref_stands_alone else self.uri


DRAFTS: tuple[Draft, ...] = (
    Draft("draft-03", "http://json-schema.org/draft-03/schema", None, True, "definitions", "id"),
    Draft(
        "draft-04",
        "http://json-schema.org/draft-04/schema",
        "Draft4Validator",
        True,
        "definitions",
        "id",
    ),
    Draft(
        "draft-06", "http://json-schema.org/draft-06/schema", "Draft6Validator", True, "definitions"
    ),
    Draft(
        "draft-07", "http://json-schema.org/draft-07/schema", "Draft7Validator", True, "definitions"
    ),
    Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", "Draft201909Validator"),
    Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", "Draft202012Validator"),
)

_BY_NAME = {draft.name: draft for draft in DRAFTS}
_BY_URI = {draft.uri: draft for draft in DRAFTS}


def draft_named(name: str) -> Draft:
    """The draft called `2020-12`, `draft-07`, … Raises `KeyError`."""
    return _BY_NAME[name]


def written_draft(schema: Any, default: Draft) -> tuple[Draft, list[Fact]]:
    """The draft a schema says it is written in; the default when it says nothing we know, with a finding."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return default, []
    uri = schema["$schema"]
    if not isinstance(uri, str):
        return default, [codes.SCHEMA_DIALECT.at(("$schema",), found=Shown(uri, as_found=True))]
    known = _BY_URI.get(uri.removesuffix("#"))
    if known is None:
        guess = nearest(uri, _BY_URI)
        unknown = codes.SCHEMA_DIALECT_UNKNOWN.at(
            ("$schema",), found=Shown(uri), default=default.name, nearest=guess
        )
        return default, [unknown]
    if known.validator is None:
        return known, [codes.SCHEMA_DIALECT_UNCHECKED.at(("$schema",), draft=known.name)]
    return known, []


@cache
def meta_validator(draft: Draft) -> Any:
    """What judges schemas of a draft. Formats are left to us; nothing is ever retrieved."""
    import jsonschema_rs

    assert draft.validator is not None
    validator = getattr(jsonschema_rs, draft.validator)
    return validator({"$ref": draft.uri}, offline=True, validate_formats=False)


# --- positions ---------------------------------------------------------------------------------
# Where the subschemas of a schema stand.
#
# A `$ref` or `pattern` means something only at the position of a schema: under `properties` the same word is the
# name of a property, under `const`, `enum`, `default` and `examples` it is data.

#: Keywords whose value is a schema.
SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
#: Keywords whose value is a list of schemas.
LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
#: Keywords whose value is a mapping of names to schemas.
MAPS = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
#: Keywords whose schemas look at the same value as the schema that holds them.
IN_PLACE = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)

_KEYWORDS = SINGLE | LISTS | MAPS


#: From a schema to one directly inside it: a keyword, or a keyword and a name or number.
Steps = tuple[str] | tuple[str, str | int]


class Subschema(msgspec.Struct, frozen=True):
    """A schema inside a schema. `in_place`: it judges the same value as the root does."""

    path: Path
    value: Any
    in_place: bool = True


def children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas of a schema, with their paths, whatever their values are."""
    if _KEYWORDS.isdisjoint(schema):
        return
    for keyword, value in schema.items():
        if keyword not in _KEYWORDS:
            continue
        if isinstance(value, dict):
            if keyword in MAPS:
                for name, child in value.items():
                    if keyword != "dependencies" or not isinstance(child, list):
                        yield (keyword, name), child
            elif keyword in SINGLE:
                yield (keyword,), value
        elif isinstance(value, list):
            if keyword in LISTS:
                for number, child in enumerate(value):
                    yield (keyword, number), child
        elif keyword in SINGLE:
            yield (keyword,), value


def draft_3_children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas that only draft 3 knows: later these words are types, or mean nothing."""
    for keyword in ("extends", "type", "disallow"):
        value = schema.get(keyword)
        if isinstance(value, dict):
            yield (keyword,), value
        elif isinstance(value, list):
            yield from (
                ((keyword, number), each)
                for number, each in enumerate(value)
                if isinstance(each, dict)
            )


def subschemas(schema: Any) -> Iterator[Subschema]:
    """The schema itself and every mapping at the position of a schema inside it, as they are written."""
    stack = [Subschema(ROOT, schema)]
    while stack:
        here = stack.pop()
        if not isinstance(here.value, dict):
            continue
        yield here
        stack += reversed(
            [
                Subschema(here.path + path, child, here.in_place and path[0] in IN_PLACE)
                for path, child in children(here.value)
                if isinstance(child, dict)
            ]
        )


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_INDEX = re.compile(r"0|[1-9][0-9]*")
_MISSING: Any = object()


class Pointed(msgspec.Struct, frozen=True):
    """Where a fragment leads. `instead` is the right spelling, if it was written in an old one."""

    path: Path
    instead: str | None = None


def split(reference: str) -> tuple[str, str]:
    """The file and the fragment of a reference; either may be empty."""
    file, _, fragment = reference.partition("#")
    return file, fragment


def has_scheme(file: str) -> bool:
    """Whether a reference is an address, such as `https://…` or `file:…`, and no path."""
    return _SCHEME.match(file) is not None


def point(root: Any, fragment: str, names: Callable[[], Mapping[str, Path]]) -> Pointed | None:
    """What `fragment` names in a document or embedded schema; None if nothing. `names` gives its anchors."""
    text = unquote(fragment)
    if not text:
        return Pointed(ROOT)
    if text.startswith("/"):
        path = _walk(root, text[1:])
        if path is None and text == "/":
            return Pointed(ROOT, "#")
        return None if path is None else Pointed(path)
    path = names().get(text)
    if path is not None:
        return Pointed(path)
    path = _walk(root, text)
    return None if path is None else Pointed(path, f"#/{fragment}")


def _walk(root: Any, pointer: str) -> Path | None:
    """The path of a pointer without its first slash, if it exists."""
    path: list[str | int] = []
    for written in pointer.split("/"):
        step: str | int = written.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            if not _INDEX.fullmatch(written) or len(written) > 9:
                return None
            step = int(written)
        root = get(root, (step,), _MISSING)
        if root is _MISSING:
            return None
        path.append(step)
    return tuple(path)


def anchors(root: Any, address: str) -> dict[str, Path]:
    """Every plain name in a schema: `$anchor`, `$dynamicAnchor`, and `$id: "#name"` of older drafts.

    `address` is the keyword that gives a schema its address. Of two schemas with one name, the first has it.
    """
    found: dict[str, Path] = {}
    for each in subschemas(root):
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = each.value.get(keyword)
            if isinstance(name, str):
                found.setdefault(name, each.path)
        name = each.value.get(address)
        if isinstance(name, str) and name.startswith("#"):
            found.setdefault(name[1:], each.path)
    return found


def resources(root: Any, address: str) -> dict[str, Path]:
    """Every schema with an address of its own, by that address as it is written."""
    found: dict[str, Path] = {}
    for each in subschemas(root):
        name = each.value.get(address)
        if isinstance(name, str) and name.rstrip("#"):
            found.setdefault(name.removesuffix("#"), each.path)
    return found


def enclosing(root: Any, path: Path, address: str) -> Path:
    """The path of the innermost schema around `path` that has an address of its own, else the root."""
    best = ROOT
    for depth, step in enumerate(path, 1):
        root = get(root, (step,))
        if isinstance(root, dict):
            name = root.get(address)
            if isinstance(name, str) and not name.startswith("#"):
                best = path[:depth]
    return best
