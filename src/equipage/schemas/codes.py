"""What can be wrong with a JSON Schema."""

from __future__ import annotations

from equipage.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "schema-type-unknown",
        "error",
        "`{found}` is not a type",
        "JSON Schema knows seven types: `array`, `boolean`, `integer`, `null`, `number`, `object`, `string`. A schema "
        "with any other is invalid and no validator accepts it.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "schema-keyword-type",
        "error",
        "`{keyword}` must be {expected}, found {found}",
        "The keyword of a JSON Schema takes another type of value.",
        "{hint}",
    ),
    Code(
        "schema-keyword-value",
        "error",
        "`{keyword}` {problem}",
        "The value of the keyword has the right type, but the meta-schema of this draft does not allow it.",
    ),
    Code(
        "schema-not-schema",
        "error",
        "expected a schema, found {found}",
        "At this position stands a JSON Schema: a mapping, or `true` and `false` from draft 6 on.",
        "{hint}",
    ),
    Code(
        "schema-pattern",
        "error",
        "`{found}` is not a regular expression",
        "The pattern cannot be read as ECMA-262, which JSON Schema uses, nor as Python.",
    ),
    Code(
        "schema-pattern-dialect",
        "warning",
        "`{found}` is no ECMA-262 expression; only some validators read it",
        "JSON Schema means the expressions of JavaScript. `(?P<name>…)`, `(?i)`, `\\A` and `\\Z` are Python's own: "
        "other validators refuse the schema.",
    ),
    Code(
        "schema-pattern-slow",
        "warning",
        "`{found}` can take for ever: {problem}",
        "A backtracking engine tries every way to match. Here their number grows without bound with the length of the "
        "text, so whoever sends the text can stop the program.",
        "let each repetition begin or end with something that cannot be repeated itself",
    ),
    Code(
        "schema-dialect",
        "error",
        "`$schema` must be text, found {found}",
        "`$schema` names the draft a schema is written in, by the address of its meta-schema.",
        'write "https://json-schema.org/draft/2020-12/schema", or remove it',
    ),
    Code(
        "schema-dialect-unknown",
        "warning",
        "`{found}` names no draft of JSON Schema; checked as {default}",
        "`$schema` names the draft by the address of its meta-schema. Nothing is ever fetched, so only the published "
        "drafts are known.",
        "did you mean {nearest}?",
    ),
    Code(
        "schema-dialect-unchecked",
        "warning",
        "{draft} is too old to be checked; only references and patterns are",
        "Draft 3 was replaced in 2013, and validators have dropped it.",
        "move to a later draft",
    ),
    Code(
        "schema-too-deep",
        "error",
        "the schema nests deeper than {limit} levels",
        "No real schema nests this deep; validators recurse, and would crash on it.",
        "name the inner parts under `$defs` and refer to them",
    ),
)
