"""What can be found in a blueprint."""

from __future__ import annotations

from equipage.core.codes import Code

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


# --- agent_md.codes ----------------------------------------------------------------------------
# What can be found in the header of an agent file.

AGENT_MD_CODES: tuple[Code, ...] = (
    Code(
        "frontmatter-missing",
        "error",
        "no frontmatter delimiter `---` in {file}",
        "An agent file starts with a header: a line `---`, YAML, and another `---` at the start of a line. What "
        "follows is the prompt.",
        "{hint}",
    ),
    Code(
        "fence-not-alone",
        "warning",
        "the line that ends the header goes on: `{rest}` becomes the start of the prompt",
        "The first line that starts with `---` ends the header, whatever follows on it. A longer rule or a `---` "
        "inside a text of several lines ends it, too.",
        "put `---` on a line of its own",
    ),
    Code(
        "header-value-dropped",
        "warning",
        "`{field}` takes {expected}; {found} is left out",
        "A key of the header holds a value of another type. The agent loads as if the value were not there.",
        "{hint}",
    ),
    Code(
        "header-no-effect",
        "warning",
        "`{field}` has no effect in a header",
        "It is kept among the extras of the profile. The fields of the agent itself are set where the blueprint "
        "refers to the file.",
        "write `{field}` beside `$agent_md` in the blueprint",
    ),
    Code(
        "header-slip",
        "warning",
        "`{field}` is not a key of an agent header and is kept among the extras",
        "Unknown keys are kept for other programs. This one is so close to a known key that it is probably a slip.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "header-lints",
        "warning",
        "`lints` is not a mapping of {levels} and is kept among the extras",
        "Newer programs refuse the file, older ones take the key for an extra like any other.",
        "write `lints:` with entries such as `all: warn`",
    ),
    Code(
        "tool-split",
        "warning",
        "`{tool}` is split at its commas into several tools",
        "Tools written as one text are divided at every comma, also inside parentheses.",
        "write the tools as a list",
    ),
)


# --- compile_codes -----------------------------------------------------------------------------
# What the programs that run blueprints refuse, or doubt, when they compile one.

_VERDICTS = (
    Code(
        "verdict-channel",
        "warning",
        "agent `{name}` gives its verdict in the channel `{channel}`, this reads `{found}`",
        "The verdict of an agent is its whole result (channel `body`), or stands below it in `parts.verdict` (channel "
        "`part`). A condition that looks at the other place never finds it, and today's programs refuse the blueprint.",
        "read `{instead}`, or change the `channel`",
    ),
    Code(
        "verdict-unknown-value",
        "warning",
        "agent `{name}` never gives the verdict `{found}`",
        "A condition compares the verdict of an agent with a word that is not among its `values`, so the answer is "
        "always the same. Today's programs refuse the blueprint.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "verdict-unhandled",
        "warning",
        "no condition asks for the verdict `{value}` of agent `{name}`",
        "The agent may end with this word, and nothing in the flow tells it from others. If only one of its words is "
        "never asked for, that is taken for what the other arm of a condition stands for, unless "
        "`metadata.strict_verdict_handling` or `lints` ask for all of them. The lint `verdict-value-unhandled` set to "
        "`allow` silences it.",
        "ask for it in a `branch` or `loop`, or remove it from `values`",
    ),
    Code(
        "verdict-never-read",
        "warning",
        "no condition asks for the verdict of agent `{name}`",
        "The agent promises to end with one of a few words, but whatever it says, the flow goes on in the same way. "
        "The lint `verdict-contract-never-read` set to `allow` silences it.",
        "ask for it in a `branch` or `loop`, or remove `verdict`",
    ),
    Code(
        "projection-name-clash",
        "warning",
        "`{name}` is the projection name of agent `{agent}`, and agent `{other}` claims it, too",
        "The results of a step are known by the name of its agent, by the agent's `projection_name`, and by the place "
        "they are written to if that is a single step below `$`. If two agents claim one name and one of them declares "
        "it, today's programs refuse the blueprint.",
        "choose another `projection_name`",
    ),
)

_SUBPROCESSES = (
    Code(
        "subprocess-without-command",
        "warning",
        "subprocess `{name}` has no command",
        "`argv` is the program and its arguments. An empty one loads, but an agent that uses it cannot be compiled.",
        "write the program as the first entry of `argv`",
    ),
    Code(
        "subprocess-placeholder",
        "warning",
        "`{name}` is no placeholder that a subprocess knows",
        "In `argv`, `stdin`, `env` and `cwd`, a lower-case word in braces is replaced when the command runs: `system`, "
        "`system_file`, `prompt`, `model`, `tools_csv`, `work_dir`, `task_id` or `attempt`. Any other makes today's "
        "programs refuse the blueprint. Other braces are text, such as those of JSON.",
        "did you mean `{nearest}`?; known are {known}",
    ),
    Code(
        "stream-mode",
        "warning",
        "`{found}` is not a stream mode, expected one of {known}",
        "The blueprint loads, but cannot be compiled.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "output-and-stream",
        "warning",
        "subprocess `{name}` has both `output` and `stream_mode`",
        "The output of a command is read as a whole or as a stream. The blueprint loads, but cannot be compiled.",
        "remove one of the two",
    ),
    Code(
        "subprocess-output",
        "warning",
        "`{field}` takes {expected}, found {found}",
        "The blueprint loads, but cannot be compiled.",
    ),
    Code(
        "script-with-mcp-tools",
        "warning",
        "agent `{name}` runs a script, which cannot use the tool `{tool}`",
        "Tools of MCP servers are for agent blocks with a prompt. One with `spec.script_path` that lists them loads, "
        "but cannot be compiled.",
        "remove the tool, or the `script_path`",
    ),
)

_WITHOUT_EFFECT = (
    Code(
        "strict-binding-unused",
        "warning",
        "`strict_binding` has no effect: no agent has a runner",
        "Strict binding asks that agents get the runner they are bound to. Here no agent has one, whether by `runner`, "
        "`runner_ref`, `worker_binding` or the blueprint's `default_runner`.",
        "give an agent a runner, or remove `strict_binding`",
    ),
    Code(
        "unknown-lint",
        "warning",
        "there is no lint `{lint}`",
        "A key of `lints` is the kind of a finding, `category:` with the name of a category, or `all`. Any other is "
        "let pass and has no effect.",
        "did you mean `{nearest}`?; categories are {known}",
    ),
    Code(
        "lint-without-effect",
        "warning",
        "`{lint}` cannot be set to `{level}`: what it finds is always refused",
        "Levels count for findings that today's programs only report. What keeps a blueprint from being compiled "
        "stays an error.",
        "remove it",
    ),
    Code(
        "unused-operator",
        "warning",
        "no agent is played by the operator `{name}`",
        "An operator that no agent names in `spec.operator_ref` has no effect.",
        "remove it, or name it in an agent of kind `operator`",
    ),
    Code(
        "unknown-step",
        "warning",
        "there is no step `{name}`",
        "An audit looks at steps by the name of their agent or its `projection_name`; `*` stands for every step. A "
        "name that no step has is never looked at.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "empty-name",
        "warning",
        "the `{field}` of {owner} is empty",
        "An empty name loads, but nobody can tell what it stands for.",
        "give it a name",
    ),
)

COMPILE_CODES: tuple[Code, ...] = (*_VERDICTS, *_SUBPROCESSES, *_WITHOUT_EFFECT)
