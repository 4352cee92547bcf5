"""JSON Schemas inside configurations: drafts, subschemas, what a reference's fragment points to.

`checking` compares a schema with the meta-schema of its draft. Nothing here reads a file or opens a
socket, whatever a schema says.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import ROOT, Path, get
from equipage.core.text import lazy_regex, nearest
from equipage.schemas import codes

# ------------------------------------------------------------------------------------------- drafts


class Draft(msgspec.Struct, frozen=True):
    """One version of JSON Schema."""

    name: str
    uri: str  #: of its meta-schema, without a final `#`
    validator: str | None  #: the class of jsonschema-rs; None: see `_DRAFT_3`
    ref_hides_siblings: bool = False  #: whether `$ref` hides the keywords beside it
    definitions: str = "$defs"  #: the keyword for named subschemas
    address: str = "$id"  #: the keyword that gives a schema an address

    @property
    def schema_uri(self) -> str:
        """The value of `$schema` for this draft: older ones end with an empty fragment."""
        return f"{self.uri}#" if self.ref_hides_siblings else self.uri


def _old_draft(number: int, validator: str | None, address: str = "$id") -> Draft:
    """A draft up to 7: its name, its address, and what these drafts have in common."""
    name = f"draft-0{number}"
    uri = f"http://json-schema.org/{name}/schema"
    return Draft(name, uri, validator, True, "definitions", address)


#: The keywords up to draft 7 that refuse values. Others describe, or keep schemas for later.
OLD_CONSTRAINTS = frozenset({
    "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains",
    "dependencies", "disallow", "divisibleBy", "enum", "exclusiveMaximum", "exclusiveMinimum",
    "extends", "format", "if", "items", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "properties", "propertyNames", "required", "type", "uniqueItems",
})  # fmt: skip

DRAFTS: tuple[Draft, ...] = (
    _old_draft(3, None, "id"),
    _old_draft(4, "Draft4Validator", "id"),
    _old_draft(6, "Draft6Validator"),
    _old_draft(7, "Draft7Validator"),
    Draft("2019-09", "https://json-schema.org/draft/2019-09/schema", "Draft201909Validator"),
    Draft("2020-12", "https://json-schema.org/draft/2020-12/schema", "Draft202012Validator"),
)

_BY_NAME = {draft.name: draft for draft in DRAFTS}
_BY_URI = {draft.uri: draft for draft in DRAFTS}


def draft_named(name: str) -> Draft:
    """The draft called `2020-12`, `draft-07`, … Raises `KeyError`."""
    return _BY_NAME[name]


def written_draft(schema: Any, default: Draft) -> tuple[Draft, list[Fact]]:
    """The draft that `$schema` names; `default` if it is absent or, with a finding, unknown."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return default, []
    uri, at = schema["$schema"], ("$schema",)
    if not isinstance(uri, str):
        return default, [codes.SCHEMA_DIALECT.at(at, found=Shown(uri, as_found=True))]
    known = _BY_URI.get(uri.removesuffix("#"))
    if known is None:
        unknown = codes.SCHEMA_DIALECT_UNKNOWN.at(
            at, found=Shown(uri), default=default.name, nearest=nearest(uri, _BY_URI)
        )
        return default, [unknown]
    return known, []


# The meta-schema of draft 3, which jsonschema-rs does not know, written in draft 4. It differs from
# the published one in one respect: it refuses names of types that no validator knows, because
# validators fail when they meet one.

_SCHEMA = {"$ref": "#"}
_SCHEMAS = {"anyOf": [_SCHEMA, {"type": "array", "items": _SCHEMA}]}
_TEXT, _BOOLEAN, _NUMBER = ({"type": name} for name in ("string", "boolean", "number"))
_COUNT = {"type": "integer", "minimum": 0}
_TYPE = {"enum": ["any", "array", "boolean", "integer", "null", "number", "object", "string"]}
_TYPE_LIST = {"type": "array", "items": {"anyOf": [_TYPE, _SCHEMA]}, "uniqueItems": True}
_TYPES = {"anyOf": [_TYPE, _TYPE_LIST]}
_FURTHER = {"anyOf": [_SCHEMA, _BOOLEAN]}
_NAMED_SCHEMAS = {"type": "object", "additionalProperties": _SCHEMA}
_NEEDED = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _SCHEMA]}

_DRAFT_3: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("$ref", "$schema", "id", "title", "description", "format"), _TEXT),
        **dict.fromkeys(("type", "disallow"), _TYPES),
        **dict.fromkeys(("extends", "items"), _SCHEMAS),
        **dict.fromkeys(("properties", "patternProperties"), _NAMED_SCHEMAS),
        **dict.fromkeys(("additionalProperties", "additionalItems"), _FURTHER),
        **dict.fromkeys(
            ("required", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum"), _BOOLEAN
        ),
        **dict.fromkeys(("minimum", "maximum"), _NUMBER),
        **dict.fromkeys(("minItems", "maxItems", "minLength"), _COUNT),
        "maxLength": {"type": "integer"},
        "pattern": _TEXT,
        "dependencies": {"type": "object", "additionalProperties": _NEEDED},
        "enum": {"type": "array", "minItems": 1, "uniqueItems": True},
        "divisibleBy": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
    },
    "dependencies": {"exclusiveMinimum": ["minimum"], "exclusiveMaximum": ["maximum"]},
}


@cache
def meta_validator(draft: Draft) -> Any:
    """The validator of schemas of a draft. It ignores formats and never retrieves anything."""
    import jsonschema_rs

    if draft.validator is None:
        return jsonschema_rs.Draft4Validator(_DRAFT_3, offline=True, validate_formats=False)
    validator = getattr(jsonschema_rs, draft.validator)
    return validator({"$ref": draft.uri}, offline=True, validate_formats=False)


#: How much work a regular expression may make before it counts as not matching.
_MAX_BACKTRACKS = 100_000
#: How much of the validator's own words about a schema is worth showing.
_MAX_REASON_LENGTH = 120


class SchemaProblem(ValueError):
    """No validator can be made of a schema; the text says why."""


def validator_of(schema: Any) -> Any:
    """A validator of values by a plain schema, native and bounded. Raises `SchemaProblem`.

    It never looks up anything outside of the schema, which is read as 2020-12 unless it names
    another draft.
    """
    import jsonschema_rs  # most files hold no schema that anything is compared with

    draft, _ = written_draft(schema, draft_named("2020-12"))
    if draft.validator is None:
        raise SchemaProblem(f"no validator reads schemas of {draft.name}")
    # A pattern of a stranger may need exponential time; the engine gives up instead.
    limit = jsonschema_rs.FancyRegexOptions(backtrack_limit=_MAX_BACKTRACKS)
    try:
        made = getattr(jsonschema_rs, draft.validator)
        return made(schema, offline=True, pattern_options=limit)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        # The lines behind the first quote the whole schema.
        raise SchemaProblem(str(error).partition("\n")[0][:_MAX_REASON_LENGTH]) from None


# --------------------------------------------------------------------------------------- subschemas
# A `$ref` or `pattern` means something only at the position of a schema: under `properties` the
# same word is the name of a property; under `const`, `enum`, `default` and `examples` it is data.

#: Keywords whose value is a schema.
SCHEMA_KEYWORDS = frozenset({"contains", "contentSchema", "else", "if", "items", "not", "then"})
SCHEMA_KEYWORDS |= {"additionalItems", "additionalProperties", "propertyNames"}
SCHEMA_KEYWORDS |= {"unevaluatedItems", "unevaluatedProperties"}
#: Keywords whose value is a list of schemas.
SCHEMA_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
#: Keywords whose value is a mapping of names to schemas.
SCHEMA_MAP_KEYWORDS = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
#: Keywords whose schemas look at the same value as the schema that holds them.
SAME_VALUE_KEYWORDS = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)

#: From a schema to one directly inside it: a keyword, or a keyword and a name or number.
Steps = tuple[str] | tuple[str, str | int]


def children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas of a schema, with their paths, whatever their values are."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
            for name, child in value.items():
                # A list under `dependencies` names properties.
                if keyword != "dependencies" or not isinstance(child, list):
                    yield (keyword, name), child
        elif keyword in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            for number, child in enumerate(value):
                yield (keyword, number), child
        elif keyword in SCHEMA_KEYWORDS and not isinstance(value, list):
            yield (keyword,), value


def draft_3_children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas only draft 3 knows; later these keywords hold types or mean nothing."""
    for keyword in ("extends", "type", "disallow"):
        value = schema.get(keyword)
        if isinstance(value, dict):
            yield (keyword,), value
        for number, each in enumerate(value) if isinstance(value, list) else ():
            if isinstance(each, dict):
                yield (keyword, number), each


def subschemas(schema: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The schema itself and every mapping at the position of a schema inside it, in text order."""
    stack: list[tuple[Path, Any]] = [(ROOT, schema)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            yield path, node
            stack += reversed([(path + steps, child) for steps, child in children(node)])


# ---------------------------------------------------------------------------------------- fragments
# A fragment is a JSON Pointer (RFC 6901, percent-decoded) or the name of an anchor. Two spellings
# of older loaders are understood too: `#/` for the whole document, and a pointer without its first
# slash.

#: A URI scheme (RFC 3986) at the start of a reference.
_SCHEME = lazy_regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
#: An array index of a JSON Pointer: no sign, no leading zeros.
_INDEX = lazy_regex(r"0|[1-9][0-9]{0,8}")
_MISSING: Any = object()


def has_scheme(file: str) -> bool:
    """Whether a reference is an address, such as `https://…` or `file:…`, and not a path."""
    return _SCHEME.match(file) is not None


def resolve_fragment(
    root: Any, fragment: str, names: Callable[[], Mapping[str, Path]]
) -> tuple[Path, str | None] | None:
    """The path that `fragment` names in a document or embedded schema; None if nothing.

    With the path comes the right spelling, if the fragment has an old one. `names` gives anchors.
    """
    text = fragment
    if "%" in fragment:
        from urllib.parse import unquote  # slow to import

        text = unquote(fragment)
    if not text:
        return ROOT, None
    if text.startswith("/"):
        path = _resolve_pointer(root, text[1:])
        if path is None:
            return (ROOT, "#") if text == "/" else None
        return path, None
    anchored = names().get(text)
    if anchored is not None:
        return anchored, None
    path = _resolve_pointer(root, text)
    return None if path is None else (path, f"#/{fragment}")


def _resolve_pointer(root: Any, pointer: str) -> Path | None:
    """The path of a pointer without its first slash, if it exists."""
    path: list[str | int] = []
    for written in pointer.split("/"):
        step: str | int = written.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            if not _INDEX.fullmatch(written):
                return None
            step = int(written)
        root = get(root, (step,), _MISSING)
        if root is _MISSING:
            return None
        path.append(step)
    return tuple(path)


def find_anchors(root: Any, address: str) -> dict[str, Path]:
    """Every plain name in a schema: `$anchor`, `$dynamicAnchor`, `$id: "#name"` of older drafts.

    `address` is the keyword that gives a schema its address. Of two schemas with one name, the
    first has it.
    """
    found: dict[str, Path] = {}
    for path, schema in subschemas(root):
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                found.setdefault(name, path)
        name = schema.get(address)
        if isinstance(name, str) and name.startswith("#"):
            found.setdefault(name[1:], path)
    return found


def find_resources(root: Any, address: str) -> dict[str, Path]:
    """Every schema with an address of its own, by that address as it is written."""
    found: dict[str, Path] = {}
    for path, schema in subschemas(root):
        name = schema.get(address)
        if isinstance(name, str) and name.rstrip("#"):
            found.setdefault(name.removesuffix("#"), path)
    return found


def enclosing_resource(root: Any, path: Path, address: str) -> Path:
    """The path of the innermost schema around `path` with an address of its own, or the root."""
    best = ROOT
    for depth, step in enumerate(path, 1):
        root = get(root, (step,))
        if isinstance(root, dict):
            name = root.get(address)
            if isinstance(name, str) and not name.startswith("#"):
                best = path[:depth]
    return best


def patterns_of(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The patterns that a schema holds directly: `pattern`, and the keys of `patternProperties`."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ("pattern",), pattern
    named = schema.get("patternProperties")
    for name in named if isinstance(named, dict) else ():
        yield ("patternProperties", name), name
