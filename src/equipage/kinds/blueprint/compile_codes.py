"""What the programs that run blueprints refuse, or doubt, when they compile one."""

from __future__ import annotations

from equipage.codes import Code

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
