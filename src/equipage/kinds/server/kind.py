"""The kind `server` as a value."""

from __future__ import annotations

from equipage.directives import file, generate, include
from equipage.generators import CODES as GENERATOR_CODES
from equipage.kinds.kind import Kind
from equipage.kinds.server import composing
from equipage.kinds.server.codes import CODES
from equipage.kinds.server.example import EXAMPLE
from equipage.kinds.server.folding import fold
from equipage.kinds.server.limits import limits_of
from equipage.kinds.server.model import ServerFile
from equipage.kinds.server.normalise import normalise
from equipage.kinds.server.presenting import SENSITIVE, listing
from equipage.kinds.server.rules import RULES
from equipage.kinds.server.schema import author_schema
from equipage.model import Shape
from equipage.schemas import CODES as SCHEMA_CODES

KIND = Kind(
    name="server",
    title="MCP server configuration",
    model=ServerFile,
    options=composing.ServerOptions,
    limits=limits_of,
    uses_environment=True,
    # Only the composed configuration says whether a number stands where data is free.
    strictness={"not-finite": None, "invisible-character": "note"},
    shape=Shape(
        unknown="warning",
        null_is_absent=True,
        exempt=("$",),
        own_codes={include.OVERRIDE: "orphan-override"},
    ),
    stages=(
        composing.include,
        composing.move_into_content,
        composing.load_files,
        composing.bound_depth,
        composing.plan_payloads,
        normalise,
    ),
    rules=RULES,
    finish=fold,
    codes=(*CODES, *include.CODES, *file.CODES, *generate.CODES, *GENERATOR_CODES, *SCHEMA_CODES),
    schema=author_schema,
    example=EXAMPLE,
    listing=listing,
    sensitive=SENSITIVE,
)
