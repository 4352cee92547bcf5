"""What can be found in the header of an agent file."""

from __future__ import annotations

from equipage.codes import Code

CODES: tuple[Code, ...] = (
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
