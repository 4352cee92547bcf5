"""What can be wrong with a toolpack, beyond its shape and its schemas."""

from __future__ import annotations

from equipage.core.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "snake-case-key",
        "error",
        "legacy snake_case key `{found}`, write `{camel}`",
        "Toolpacks use camelCase names. Earlier loaders translated the old spellings silently; a pack that still has "
        "them is rejected, so that every reader sees the same fields.",
        "rename it to `{camel}`",
    ),
    Code(
        "snake-case-both",
        "error",
        "`{found}` is the legacy snake_case name of `{camel}`, which is there as well",
        "Only the camelCase field counts. Two values for one field are a trap for whoever edits the file next.",
        "remove `{found}`",
    ),
    Code(
        "id-form",
        "error",
        "`{found}` is no tool id: it must be dotted lowercase segments, as in `pkg.tool`",
        "An id has at least two segments of `a` to `z` and digits, divided by dots. Ids are stored as they are written "
        "and used as keys by programs.",
        "`{nearest}` would be one",
    ),
    Code(
        "id-colon",
        "warning",
        "the id `{found}` has a colon, which other readers may refuse",
        "Dots divide the segments of an id. A colon is accepted, since published packs use it.",
        "`{nearest}` has the usual form",
    ),
    Code(
        "version-form",
        "error",
        "version `{found}` must follow semantic versioning: major.minor.patch",
        "A version has exactly three numbers, as in `1.4.0`, optionally followed by a pre-release or build label. An "
        "unquoted `1.10` is the number 1.1.",
        "{hint}",
    ),
    Code(
        "version-not-semver",
        "warning",
        "version `{found}` is read by Python's rules, but it is not SemVer 2.0",
        "The version is accepted. Tools outside Python compare versions by SemVer 2.0 and may order this one "
        "differently or refuse it.",
        "write `{nearest}`",
    ),
    Code(
        "env-name",
        "error",
        "{where} '{found}' must be uppercase: letters, digits and `_`, starting with a letter",
        "Names of environment variables for tools are upper case, so that they work on every system.",
        "write `{nearest}`",
    ),
    Code(
        "env-name-empty",
        "error",
        "{where} must be non-empty strings",
        "A variable needs a name.",
    ),
    Code(
        "env-set-and-passed",
        "warning",
        "`{found}` is both passed through and set; the value set here counts",
        "The tool sees one value. Which one was meant is unclear to the reader.",
        "remove it from one of the two",
    ),
    Code(
        "header-name-empty",
        "error",
        "headers must use non-empty string keys",
        "A header needs a name.",
    ),
    Code(
        "header-line-break",
        "warning",
        "the header `{found}` contains a line break",
        "A line break in a header starts another header, or the body. Clients refuse it or, worse, send it.",
        "remove the line break",
    ),
    Code(
        "execution-entry",
        "error",
        "{kind} execution requires {names}",
        "Without it there is nothing to run.",
    ),
    Code(
        "execution-module",
        "error",
        "module must use the form `module:callable`, found `{found}`",
        "The part before the colon is imported, the part behind it is called.",
        "{hint}",
    ),
    Code(
        "execution-module-name",
        "warning",
        "`{found}` cannot be imported: both sides of the colon must be dotted names",
        "The pack loads, but it can never run.",
    ),
    Code(
        "execution-url",
        "warning",
        "`{found}` is no http or https address",
        "The pack loads, but a request to this address cannot be made.",
    ),
    Code(
        "old-dialect",
        "warning",
        "this looks like a pack of the older dialect, with {found} at the top",
        "Before `execution` there were `kind`, `entry` and `schema` at the top level. That form is not read any more.",
        "move `kind` and the entry below `execution:`, and name the schemas `inputSchema` and `outputSchema`",
    ),
    Code(
        "duplicate-id",
        "error",
        "Duplicate toolpack id '{id}' found in {file}, first used in {first}",
        "Programs look tools up by id, so each may occur once among the packs that are loaded together.",
        "rename one of them, or remove it",
    ),
    Code(
        "similar-id",
        "warning",
        "the ids `{id}` and `{other}` differ only in their dividers",
        "They are two different tools for a program, and one for a reader.",
        "rename one of them",
    ),
)
