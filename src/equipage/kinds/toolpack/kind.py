"""The kind `toolpack` as a value."""

from __future__ import annotations

from typing import Literal

import msgspec

from equipage import schemas
from equipage.diagnostics import Fact, Severity
from equipage.directives import ref
from equipage.kinds.kind import Kind
from equipage.kinds.toolpack.authoring import author_schema
from equipage.kinds.toolpack.codes import CODES
from equipage.kinds.toolpack.model import CLOSED, ToolpackFile
from equipage.kinds.toolpack.pack import make
from equipage.kinds.toolpack.presenting import SENSITIVE, listing
from equipage.kinds.toolpack.rules import RULES
from equipage.kinds.toolpack.spelling import camel_case, network_list
from equipage.kinds.toolpack.together import ids_are_unique, set_key
from equipage.model import Shape
from equipage.session import Session
from equipage.tree import Tree

_SCHEMAS = ref.RefSettings(paths=(("inputSchema",), ("outputSchema",)))


class ToolpackOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`legacy_keys="warn"` reads the snake_case names of older packs with a warning."""

    legacy_keys: Literal["error", "warn"] = "error"


def resolve_schemas(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Both schemas, checked, with their references resolved."""
    return ref.resolve(tree, session, _SCHEMAS)


def _odd_key(each: Fact) -> Severity | None:
    """At the top of a pack no field is a number: the key is unknown, as others are, and told as such."""
    is_pack = each.span is not None and each.span.source.name.endswith(".tool.yaml")
    return None if is_pack and len(each.path) == 1 else "error"


EXAMPLE = """\
# A tool: what it takes and gives, and how it is run.
id: text.WORD
version: 1.0.0
description: Counts the words of a text.
deterministic: true
timeoutMs: 2000
limits:
  maxInputBytes: 65536
  maxOutputBytes: 1024
inputSchema:
  type: object
  required: [text]
  properties:
    text: {type: string}
outputSchema:
  type: object
  required: [words]
  properties:
    words: {type: integer, minimum: 0}
execution:
  kind: python
  module: tools.text:count
"""

KIND = Kind(
    name="toolpack",
    title="toolpack",
    model=ToolpackFile,
    options=ToolpackOptions,
    merge_keys=True,
    strictness={"extra-document": "error", "unknown-tag": "error", "non-string-key": _odd_key},
    shape=Shape(unknown="warning", closed=CLOSED, exempt=("x-",), secret=(("env", "set"), ("execution", "headers"))),
    stages=(camel_case, network_list, resolve_schemas),
    rules=RULES,
    set_rules=(ids_are_unique,),
    set_key=set_key,
    codes=(*schemas.CODES, *ref.CODES, *CODES),
    make=make,
    schema=author_schema,
    example=EXAMPLE,
    example_path="NAME.tool.yaml",
    listing=listing,
    sensitive=SENSITIVE,
)
