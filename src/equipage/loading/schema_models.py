"""JSON Schemas as models: what does not fit, in our words and at the places of the values.

A format may have a schema as its model. The settings of a project can name one for files of their
own (`schemas`): that is the kind `by-schema`. Such a schema may refer to other files of its project
and to nothing else; what is wrong with it is reported in the schema, once for all files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import msgspec

from equipage.core.codes import MISSING_FIELD, SCHEMA_UNREAD, UNKNOWN_FIELD
from equipage.core.diagnostics import MAX_FACTS_PER_CODE, Also, Fact, Shown
from equipage.core.frozen import freeze_plain, levels, unfreeze
from equipage.core.path import HOLE, Path, get, walk
from equipage.core.source import Source, Span
from equipage.core.text import Guesses, visible
from equipage.directives.ref import Ref
from equipage.files.gitignore import glob_pattern
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.format import Format, Reading
from equipage.loading.header import HeaderStyle, read_header
from equipage.loading.session import Parsed, Session, read_jsonc
from equipage.loading.tree import Origin
from equipage.schemas import (
    SAME_VALUE_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    SchemaProblem,
    codes,
    resolve_fragment,
    subschemas,
    validator_of,
)
from equipage.schemas.checking import TYPE_WORDS
from equipage.syntax.document import Document
from equipage.syntax.header import CONVENTION

#: The schema is a file of the project, by its path from the root.
POLICY = PathPolicy(absolute="refuse", parents="inside")

#: How often the schema may judge one value of a file.
MAX_VISITS = 100_000
_MAX_SHOWN_LENGTH = 120
_MAX_VALUES_SHOWN = 20
_MISSING: Any = object()


class SchemaOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings of the project say: a glob of files, and their schema."""

    project_schemas: tuple[tuple[str, str], ...] = ()


class _Schema(msgspec.Struct, frozen=True):
    """A schema of one run: what judges files, what it was read from, what is wrong with it."""

    validator: Validator | None
    documents: tuple[Document, ...] = ()
    facts: tuple[Fact, ...] = ()
    unusable: Fact | None = None


class _Schemas(dict[tuple[str, str], _Schema]):
    """The schemas of one run by project and name: each is read and compiled once."""


def read(source: Source, session: Session) -> Parsed:
    """The document of a file by its ending; of a Markdown file, the header."""
    ending = os.path.splitext(source.name)[1].lower()
    if ending in (".md", ".mdc"):
        return read_header(source, session, HeaderStyle("file with fields", grammar=CONVENTION))
    if ending == ".jsonc":
        return read_jsonc(source, session, trailing_commas=True)
    return session.parse(source, keep=False)


def schema_of(session: Session) -> str | None:
    """The schema that the settings name for the file of a load, as they name it."""
    options = cast(SchemaOptions, session.options)
    relative = os.path.relpath(session.path, session.root).replace(os.sep, "/")
    pairs = options.project_schemas
    return next((name for glob, name in pairs if glob_pattern(glob).fullmatch(relative)), None)


def fits_its_schema(value: Any, session: Session) -> Iterator[Fact]:
    """Report where a file does not fit its schema, or why that cannot be known."""
    name = schema_of(session)
    if name is None:
        yield codes.SCHEMA_NONE.at()
        return
    known, key = session.run.cache(_Schemas), (session.root, name)
    is_new = key not in known
    try:
        schema = known[key] if not is_new else known.setdefault(key, _load_schema(name, session))
    except FileProblem as problem:
        yield SCHEMA_UNREAD.at(schema=name, problem=unread_reason(problem))
        return
    for document in schema.documents:
        session.files.note(document.source)
        session.adopt(document)
    if is_new:  # only the first load of a run reports what is wrong with the schema
        yield from schema.facts
    if schema.unusable is not None:
        yield schema.unusable
    elif schema.validator is not None and not any(each is HOLE for _, each in walk(value)):
        yield from schema.validator.mismatches(value, session.guesses)


def unread_reason(problem: FileProblem) -> str:
    """Why the schema cannot be read, as the end of a sentence."""
    reasons = {
        "file-missing": "does not exist",
        "file-is-directory": "is a folder",
        "file-too-large": "is too large",
    }
    if problem.code.startswith("reference-"):
        return "is not inside the project"
    return reasons.get(problem.code, "cannot be read")


def _load_schema(name: str, session: Session) -> _Schema:
    """Read, check and compile a schema. Raises `FileProblem` if there is no such file."""
    root = session.root
    source = session.refer(name, POLICY, bases=(root,), roots=(root,)).source
    document, facts = session.parse(source)
    place = Span(source, 0, 0)
    if document is None:
        unparsed = codes.SCHEMA_UNUSABLE.at(span=place, reason="it cannot be parsed")
        return _Schema(None, (), tuple(facts), unparsed)
    # With its references resolved: the validator must not look for files by itself.
    tree, found, documents = Ref().resolve_document(document, session)
    facts = [*facts, *found]
    reason = None
    validator = None
    if any((each.severity or each.code.severity) == "error" for each in facts):
        reason = "it has errors"
    else:
        try:
            validator = Validator(tree.value, document)
        except SchemaProblem as problem:
            reason = str(problem)
    unusable = None
    if reason is not None:
        unusable = codes.SCHEMA_UNUSABLE.at(span=place, reason=reason)
    return _Schema(validator, documents, tuple(facts), unusable)


FORMAT = Format(
    name="by-schema",
    title="file with a schema of the project",
    model=cast(type[Any], Any),
    reading=Reading(
        syntaxes={
            ".yaml": "yaml",
            ".yml": "yaml",
            ".json": "json",
            ".jsonc": "json",
            ".toml": "toml",
            ".md": "yaml",
            ".mdc": "yaml",
        },
        read=read,
        options=SchemaOptions,
        variables=False,
    ),
    stages=(),
    checks=(fits_its_schema,),
    codes=(*Ref.codes, *codes.MATCHING_CODES),
    build_result=lambda value, _session: freeze_plain(value),
)


class Validator:
    """Compares files with one schema. Making one raises `SchemaProblem`."""

    def __init__(self, schema: Any, document: Document | None = None) -> None:
        self.schema, self.document = unfreeze(schema), document
        own = schema.get("title", "the schema") if isinstance(schema, dict) else "the schema"
        name = visible(str(own) if document is None else document.source.name)
        self.owner = f"what `{name}` describes"
        self._validator = validator_of(self.schema)
        self._visits = VisitCounter(self.schema)

    def mismatches(self, value: Any, guesses: Guesses) -> Iterator[Fact]:
        """Everything in a value that does not fit, at its path, with the rule of the schema."""
        if self._visits.max_visits(depth_of(value)) > MAX_VISITS:
            yield codes.SCHEMA_COSTLY.at(limit=f"{MAX_VISITS:,}")
            return
        if self._validator.is_valid(value):
            return
        for error in self._validator.iter_errors(value):
            yield from self._report_error(error, value, guesses)

    def _report_error(self, error: Any, value: Any, guesses: Guesses) -> Iterator[Fact]:
        kind, details = error.kind.name, error.kind.as_dict()
        path, rule = _resolve_path(value, error.instance_path), tuple(error.schema_path)
        also = self._related_rule(rule)
        here = get(value, path)
        if rule[-1:] in _EXTRA_FIELD_RULES and isinstance(here, dict):
            names = self._property_names(rule[:-1])
            # Where the schema knows no field at all, each of them is one too many.
            for name in details.get("unexpected", here):
                yield UNKNOWN_FIELD.at(
                    (*path, name),
                    part="key",
                    also=also,
                    severity="error",
                    field=Shown(name),
                    owner=self.owner,
                    nearest=guesses.nearest(name, names),
                )
        elif kind == "required":
            name = details["property"]
            expected = self._expected_type((*rule[:-1], "properties", name))
            yield MISSING_FIELD.at(
                path,
                part="key" if path else "value",
                also=also,
                field=Shown(name),
                owner=self.owner,
                expected=expected,
            )
        elif kind == "propertyNames":
            name = details["error"].instance
            yield codes.SCHEMA_MISMATCH.at(
                (*path, name),
                part="key",
                also=also,
                expected="another name: the schema has a rule for names here",
                found=Shown(name, as_found=True),
            )
        else:
            shown = Shown(here, as_found=True)
            expected = describe_expectation(kind, details)
            yield codes.SCHEMA_MISMATCH.at(path, also=also, expected=expected, found=shown)

    def _related_rule(self, rule: Path) -> tuple[Also, ...]:
        """The rule in the file of the schema, unless a reference led to it."""
        if self.document is None or get(self.document.value, rule, _MISSING) is _MISSING:
            return ()
        return (Also("the schema says so here", origin=Origin(self.document, rule)),)

    def _property_names(self, path: Path) -> list[str]:
        """The fields that a part of the schema names; few enough to compare others with."""
        known = get(self.schema, (*path, "properties"))
        return list(known)[:MAX_FACTS_PER_CODE] if isinstance(known, dict) else []

    def _expected_type(self, path: Path) -> str:
        """The type that the schema expects of a missing field, in words."""
        wanted = get(self.schema, (*path, "type"))
        return TYPE_WORDS.get(wanted, "a value") if isinstance(wanted, str) else "a value"


#: The end of the path of a rule against fields that the schema does not name.
_EXTRA_FIELD_RULES = (("additionalProperties",), ("unevaluatedProperties",))
#: What a keyword with a limit expects.
_LIMIT_EXPECTATIONS = {
    "minimum": "at least {limit}",
    "maximum": "at most {limit}",
    "exclusiveMinimum": "more than {limit}",
    "exclusiveMaximum": "less than {limit}",
    "minLength": "text of at least {limit} characters",
    "maxLength": "text of at most {limit} characters",
    "minItems": "a list of at least {limit} entries",
    "maxItems": "a list of at most {limit} entries",
    "minProperties": "a mapping with at least {limit} fields",
    "maxProperties": "a mapping with at most {limit} fields",
    "multipleOf": "a multiple of {multiple_of}",
    "format": "text in the format `{format}`",
}
#: What a keyword without a limit expects.
_FIXED_EXPECTATIONS = {
    "uniqueItems": "a list without repetitions",
    "contains": "a list with certain entries",
    "not": "something that the schema does not exclude",
    "falseSchema": "nothing here",
    "additionalItems": "fewer entries",
    "unevaluatedItems": "fewer entries",
    "backtrackLimitExceeded": "text that the pattern can be compared with in reasonable time",
}


def describe_expectation(kind: str, details: dict[str, Any]) -> str:
    """What a keyword expects, in words; `kind` is the kind of an error of jsonschema-rs."""
    if kind == "type":
        return " or ".join(TYPE_WORDS.get(each, each) for each in details["types"])
    if kind == "enum":
        return f"one of {_format_values(details['options'])}"
    if kind == "const":
        return _format_values([details["expected_value"]])
    if kind == "pattern":
        return f"text that matches `{_truncate(details['pattern'])}`"
    if kind in ("anyOf", "oneOf"):
        return _describe_choice(details["context"])
    if kind in _LIMIT_EXPECTATIONS:
        return _LIMIT_EXPECTATIONS[kind].format(**details)
    return _FIXED_EXPECTATIONS.get(kind, f"another value (`{kind}`)")


def _describe_choice(branches: list[list[Any]]) -> str:
    """Describe what a choice expects, given the errors of each of its branches."""
    kinds = [each.kind for branch in branches for each in branch]
    if all(branches) and all(each.name == "type" for each in kinds):
        names = dict.fromkeys(name for each in kinds for name in each.as_dict()["types"])
        return " or ".join(TYPE_WORDS.get(each, each) for each in names)
    several = sum(not each for each in branches) > 1
    return f"{'only ' if several else ''}one of the forms that the schema allows"


def _format_values(values: list[Any]) -> str:
    """Values as JSON, joined and shortened to fit into a sentence."""
    texts = [
        f"`{_truncate(json.dumps(each, ensure_ascii=False))}`"
        for each in values[:_MAX_VALUES_SHOWN]
    ]
    more = len(values) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


def _truncate(text: str) -> str:
    return visible(text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[:_MAX_SHOWN_LENGTH]}…")


def _resolve_path(value: Any, steps: list[Any]) -> Path:
    """The path of an error in `value`: the validator writes names such as `01` as numbers."""
    path: list[str | int] = []
    for step in steps:
        if isinstance(value, dict) and step not in value:
            alike = [each for each in value if each.isdigit() and int(each) == step]
            if len(alike) != 1:
                break
            step = alike[0]
        value = get(value, (step,), _MISSING)
        if value is _MISSING:
            break
        path.append(step)
    return tuple(path)


# How much work a schema makes. A validator follows every branch of `anyOf`, `oneOf` and `allOf`, so
# a schema that refers to itself in two of them doubles the work with each level of the value.


def depth_of(value: Any) -> int:
    """How many levels of lists and mappings a value has."""
    return sum(1 for _ in levels(value))


#: Keywords about the entries of a list; about those of a mapping.
_LIST_KEYWORDS = frozenset(
    {"items", "contains", "prefixItems", "additionalItems", "unevaluatedItems"}
)
_MAP_KEYWORDS = frozenset({"properties", "additionalProperties", "unevaluatedProperties"})
_VisitCounts = tuple[int, int]  #: visits of a value inside a list, and inside a mapping


@cache
def _validator_of(schema: _ById) -> Validator:
    return Validator(schema.value)


class _ById:
    """A schema that is a model: it is compiled once, and nothing changes it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.value is self.value


def match_schema(value: Any, schema: Mapping[str, Any]) -> list[Fact]:
    """What does not fit a schema that is the model of a format. Raises `SchemaProblem`."""
    return list(_validator_of(_ById(schema)).mismatches(value, Guesses()))


class VisitCounter:
    """How often a schema judges one value, some levels below the root: an upper bound.

    Fields of one mapping are different values, so only the most visited of them counts; a value is
    in a list or in a mapping, so the worse of the two counts. Levels are worked out until one is
    like the one before, which for most schemas is soon.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.nodes = [node for _, node in subschemas(schema)]
        # Without references, the text of the schema bounds the work.
        self.settled = not any("$ref" in node for node in self.nodes)
        self.levels: list[int] = [1]  #: the most visits so far, by level
        self.before: dict[int, int] = {}
        self.now: dict[int, _VisitCounts] = {}

    def max_visits(self, depth: int) -> int:
        """The most visits of any value down to `depth`; at most `MAX_VISITS` + 1."""
        while len(self.levels) <= depth and not self.settled:
            self.now = {}
            try:
                for node in reversed(self.nodes):
                    self._count_visits(node)
            except RecursionError:  # a chain of references that long is over the limit, too
                self.now = {id(self.schema): (MAX_VISITS + 1, 0)}
            level = {key: max(share) for key, share in self.now.items()}
            self.settled = level == self.before or level[id(self.schema)] > MAX_VISITS
            self.levels.append(max(self.levels[-1], level[id(self.schema)]))
            self.before = level
        return self.levels[min(depth, len(self.levels) - 1)]

    def _count_visits(self, node: Any) -> _VisitCounts:
        if not isinstance(node, dict):
            return 0, 0
        if id(node) not in self.now:
            self.now[id(node)] = (0, 0)  # a reference to itself in place has been reported
            own = 0 if self.before else 1
            shares = [self._keyword_visits(keyword, value) for keyword, value in node.items()]
            lists, maps = (own + sum(each[side] for each in shares) for side in (0, 1))
            self.now[id(node)] = min(lists, MAX_VISITS + 1), min(maps, MAX_VISITS + 1)
        return self.now[id(node)]

    def _keyword_visits(self, keyword: str, value: Any) -> _VisitCounts:
        """The visits that one keyword adds."""
        parts = value if isinstance(value, list) else [value]
        if keyword in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
            parts = list(value.values())
        if keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
            target = resolve_fragment(self.schema, value[1:], dict)
            return (0, 0) if target is None else self._count_visits(get(self.schema, target[0]))
        if keyword in SAME_VALUE_KEYWORDS:
            both = [self._count_visits(each) for each in parts]
            return sum(each[0] for each in both), sum(each[1] for each in both)
        inner = [self.before.get(id(each), 0) for each in parts]
        if keyword in _LIST_KEYWORDS:
            return max(inner, default=0), 0
        if keyword in _MAP_KEYWORDS:
            return 0, max(inner, default=0)
        return 0, sum(inner) if keyword == "patternProperties" else 0
