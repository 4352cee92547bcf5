"""Kind `by-schema`: files that a project describes with JSON Schemas of its own.

The settings name the files and the schema (`schemas`). Everything else is as for any other kind:
places, formats, comments that ignore a finding. A schema may refer to other files of its project
and to nothing else. What is wrong with a schema is reported in the schema, once for all files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar, cast

import msgspec

from equipage.core.codes import SCHEMA_UNREAD
from equipage.core.diagnostics import Fact
from equipage.core.frozen import freeze_plain, plain_data
from equipage.core.source import Source, Span
from equipage.directives.ref import Ref
from equipage.files.gitignore import glob_pattern
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.formats.by_schema import codes
from equipage.formats.by_schema.judging import Validator
from equipage.loading.format import Format, Presentation, Reading
from equipage.loading.header import HeaderStyle, read_header
from equipage.loading.jsonc import read_jsonc
from equipage.loading.session import Parsed, Session
from equipage.loading.tree import HOLE, walk
from equipage.schemas.codes import CODES as SCHEMA_CODES
from equipage.schemas.structure import SchemaProblem
from equipage.syntax.document import Document
from equipage.syntax.frontmatter import CONVENTION

#: The schema is a file of the project, by its path from the root.
POLICY = PathPolicy(absolute="refuse", parents="inside")


class SchemaOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings of the project say: a glob of files, and their schema."""

    project_schemas: tuple[tuple[str, str], ...] = ()


class Described(msgspec.Struct, frozen=True):
    """A configuration that fits the schema of its project."""

    TITLE: ClassVar[str] = "a file that a schema of the project describes"

    value: Any  #: what the file holds, frozen


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


def build(value: Any, _session: Session) -> Described:
    return Described(freeze_plain(value))


FORMAT = Format(
    name="by-schema",
    title="file with a schema of the project",
    model=cast(type[Any], Any),
    reading=Reading(
        formats={
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
    ),
    rules=(fits_its_schema,),
    codes=(*SCHEMA_CODES, *Ref.codes, *codes.CODES),
    build_result=build,
    presentation=Presentation(dump=lambda config: plain_data(config.value)),
)
