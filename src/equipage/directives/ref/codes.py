"""What can be wrong with a reference between schemas."""

from __future__ import annotations

from equipage.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "schema-not-mapping",
        "error",
        "the schema definition must be a mapping, found {found}",
        "A schema is written in place, as a mapping, or named: `$ref: ./file.json`.",
        "{hint}",
    ),
    Code(
        "schema-ref-value",
        "error",
        "schema $ref must be a non-empty string, found {found}",
        "`$ref` names a file, a part of one (`file.json#/$defs/name`), or a part of the same schema (`#/$defs/name`).",
    ),
    Code(
        "schema-ref-missing",
        "error",
        "schema reference not found: {reference}",
        "The file does not exist. References start at the folder of the file that makes them.",
        "the path is looked up from {base}",
    ),
    Code(
        "schema-ref-unreadable",
        "error",
        "failed to open schema {reference}: {problem}",
        "There is something of that name, but it is not a file that can be read.",
    ),
    Code(
        "schema-ref-remote",
        "error",
        "schema reference not found: {reference} is an address, and nothing is ever fetched",
        "Loading never opens a socket. A schema from elsewhere belongs into the project, where changes to it are seen.",
        "save the schema in the project and refer to it by a relative path",
    ),
    Code(
        "schema-ref-embedded",
        "error",
        "an embedded configuration cannot read the schema {reference}",
        "Embedded configurations are loaded from a string, without a disk.",
        "write the schema in place of the reference",
    ),
    Code(
        "schema-ref-nothing",
        "error",
        "schema reference not found: {reference} points to nothing in {file}",
        "The part behind `#` is a JSON Pointer from the root of the file, or the name of an `$anchor` in it. List "
        "entries are counted from 0.",
        "did you mean `#{nearest}`?; {hint}",
    ),
    Code(
        "schema-ref-spelling",
        "warning",
        "`{reference}` is no JSON Pointer; read as `{instead}`",
        "A pointer starts with `/`; `#` alone is the whole document. Other tools do not read this spelling.",
        "write `{instead}`",
    ),
    Code(
        "schema-ref-loop",
        "error",
        "the reference leads back to itself without saying anything: {chain}",
        "A recursive schema must look at a smaller value each time round, through `properties` or `items`. Here every "
        "step judges the same value again, so no validator could finish.",
        "replace one of the references by what is meant",
    ),
    Code(
        "schema-name-twice",
        "warning",
        "the name `{name}` is given to two schemas; the first has it",
        "A reference by this name could lead to either. What other validators do with it is not defined.",
        "rename one of them",
    ),
    Code(
        "schema-ref-disputed",
        "error",
        "several schemas have the name `{name}` that this reference looks up at run time",
        "`$dynamicRef` and `$recursiveRef` lead to another schema depending on the way a validator took. equipage "
        "makes one schema of all files, where that choice does not exist any more.",
        "refer to the schema that is meant with `$ref`",
    ),
    Code(
        "schema-too-large",
        "error",
        "written out, the references of the schema add more than {limit} parts",
        "References to references multiply. Whoever walks the resolved schema would run out of time or memory.",
        "refer to common parts once",
    ),
)
