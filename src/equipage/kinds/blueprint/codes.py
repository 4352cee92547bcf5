"""What can be found in a blueprint."""

from __future__ import annotations

from equipage.codes import Code

_READING = (
    Code(
        "unsupported-extension",
        "error",
        "unsupported extension: {extension} (expected .json / .yaml / .yml)",
        "The extension decides how a blueprint is read. Upper case counts as lower case.",
        "rename the file",
    ),
    Code(
        "embedded-reference",
        "error",
        "`{directive}` cannot read {reference}: an embedded configuration has no files",
        "The blueprint was given as a string, without a folder to look into.",
        "write the content in place of the reference",
    ),
    Code(
        "file-with-siblings",
        "warning",
        "`$file` is not expanded, because {beside} stands beside it",
        "Only a mapping whose single key is `$file` stands for a file. This one is kept as it is.",
        "make `$file` the only key, or rename it if it is meant literally",
    ),
    Code(
        "reference-not-text",
        "warning",
        "`{directive}` is not expanded: it takes a path, found {found}",
        "A reference holds the path of a file as text. This mapping is kept as it is.",
        "write a path relative to the blueprint",
    ),
    Code(
        "directive-slip",
        "warning",
        "`{key}` is not expanded: it is no directive",
        "A key that starts with `$` and nearly spells a directive is kept as it is.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "includes-not-followed",
        "note",
        "`blueprint_ref_includes` is not followed: references start at the blueprint's folder",
        "Which folders a load may read is for the caller to say. A document that could name them would not be "
        "confined at all.",
        "name the folders with --include-root",
    ),
)

_FLOW = (
    Code(
        "operand-twice",
        "error",
        "`{op}` has both `{newer}` and `{older}`, which are two names of one field",
        "The older form of flows writes the one, the newer form the other.",
        "remove one of the two",
    ),
    Code(
        "mixed-wire-forms",
        "warning",
        "`{spelled}` belongs to the {form} form of flows, {rest}",
        "Two wire forms of expressions are in use under one schema version. Each program reads one of them, so a "
        "flow that mixes both runs nowhere. Neither does one of the older form beside fields that came later.",
        "write `{instead}`",
    ),
    Code(
        "malformed-path",
        "warning",
        "`{found}` is not a path that today's programs read",
        'A path is `$` followed by `.key` or `["key"]` for each step. Older programs take any text here and fail '
        "when the flow runs; in a flow of the newer form it is an error.",
        "{hint}",
    ),
    Code(
        "target-not-path",
        "warning",
        "`{field}` of `{node}` is written to, but holds `{op}`, not a path",
        "Results go to a place in the context. Anything but a path loads, and fails when the flow runs.",
        "write `{{op: path, at: $.…}}`",
    ),
)

_NAMES = (
    Code(
        "unknown-agent",
        "warning",
        "there is no agent `{name}`",
        "A step, an audit or a hint names an agent that the blueprint does not have. It would fail when it runs.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "duplicate-agent",
        "warning",
        "there are two agents `{name}`",
        "Steps refer to agents by name, so names must differ. The blueprint loads, but cannot be compiled.",
        "{hint}",
    ),
    Code(
        "duplicate-name",
        "warning",
        "there are two entries of this name: {what} `{name}`",
        "What is found by name is the first of them; the other is never used.",
        "{hint}",
    ),
    Code(
        "unused-agent",
        "warning",
        "no step runs the agent `{name}`",
        "An agent that nothing refers to has no effect.",
        "remove it, or add a step with `ref: {name}`",
    ),
    Code(
        "unknown-operator",
        "warning",
        "there is no operator `{name}`",
        "An agent of kind `operator` names an entry of `operators` that does not exist. The blueprint loads, but "
        "cannot be compiled.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "unknown-name",
        "warning",
        "`{name}` is not the name of any of the `{where}`",
        "A runner, a context or a subprocess is named that the blueprint does not have.",
        "did you mean `{nearest}`?",
    ),
)

_VALUES = (
    Code(
        "not-semver",
        "error",
        "`{found}` is not a version of the form 1.2.3",
        "`schema_version` is a semantic version: three numbers, optionally `-pre.release` and `+build`.",
    ),
    Code(
        "unknown-schema-version",
        "warning",
        "schema version {found} is not known (known: {known})",
        "Every blueprint so far has had one schema version. The file is read as if it had it, too.",
    ),
    Code(
        "spec-incomplete",
        "warning",
        "agent `{name}` is of kind `{kind}`, which needs `{needed}`",
        "The blueprint loads, but cannot be compiled: the backend of this kind cannot start the agent.",
        "add it, or choose another `kind`",
    ),
    Code(
        "stale-hash",
        "warning",
        "`version_hash` is not the hash of this prompt",
        "The hash tells versions of a prompt apart. One that was written before the prompt was changed, or that came "
        "with another, tells the wrong thing.",
        "write {computed}, or leave it out",
    ),
    Code(
        "withdrawn-layer",
        "warning",
        "the layer `{layer}` was withdrawn",
        "Unknown layers are skipped; this one makes today's programs refuse the blueprint.",
        "remove it",
    ),
    Code(
        "placement",
        "warning",
        "results cannot be placed at `{found}`, expected {expected}",
        "The blueprint loads, but cannot be compiled.",
    ),
)

CODES: tuple[Code, ...] = (*_READING, *_FLOW, *_NAMES, *_VALUES)
