"""The findings about files of other tools, in words."""

from __future__ import annotations

from equipage.core.codes import Code
from equipage.kinds.headers import HEADER_CODES, RECOVERY_CODES

_FIELDS = (
    Code(
        "name-form",
        "warning",
        "`{name}` is no good name for {tool}: {rule}",
        "Names are written into commands, file names and the prompts of other agents. One of another form is refused "
        "by some tools, and cannot be called in others.",
        "write `{better}`",
    ),
    Code(
        "name-differs",
        "warning",
        "the name is `{name}`, but the {place} is called `{other}`",
        "Tools find it by the name of the {place}; some refuse it if the two differ.",
        "give both the same name",
    ),
    Code(
        "text-too-long",
        "warning",
        "`{field}` has {length} characters; the limit of {tool} is {limit}",
        "What is longer is cut off or refused.",
        "shorten it; details belong into the text below the header",
    ),
    Code(
        "text-missing",
        "warning",
        "there is no text below the header",
        "The text is the prompt. Without it the file says nothing but when to use it.",
        "write what is to be done",
    ),
    Code(
        "restriction-empty",
        "warning",
        "`{field}` says nothing, which {tool} takes for no restriction at all",
        "An empty entry counts as absent, and absent means that everything is allowed.",
        "name what is allowed, or write `{field}: []` for nothing; remove the line if everything is meant",
    ),
    Code(
        "number-as-text",
        "warning",
        "text belongs here; {found} is read as `{text}`",
        "YAML takes an unquoted number, `true` or `false` for what it looks like. The field takes text.",
        "put quotes around it",
    ),
    Code(
        "text-cut",
        "warning",
        "what follows ` #` is a comment, not a part of `{field}`",
        "In YAML a `#` after a blank begins a comment. A colour vanishes this way, and half a sentence.",
        "put quotes around the whole text",
    ),
    Code(
        "extension-not-read",
        "warning",
        "{tool} does not read this file: its name must end in `{extension}`",
        "The file lies in a folder that the tool looks into, but only files with another ending count there.",
        "rename it",
    ),
)

_REFERENCES = (
    Code(
        "unknown-reference",
        "warning",
        "there is no {sort} `{name}`{where}",
        "A name that leads nowhere is passed over in silence: the agent lacks a tool, a skill or a server, or an agent "
        "is never called.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "name-taken",
        "warning",
        "`{name}` is defined twice in the same place; only one of the two is used",
        "Which one depends on the order in which the tool happens to read the files.",
        "rename one of the two",
    ),
)

#: What may hide in any text.
SUSPICIONS = (
    Code(
        "mixed-scripts",
        "warning",
        "`{name}` mixes letters of several scripts: {scripts}",
        "A letter of another script looks the same to people and is another name to a program.",
        "type the name again",
    ),
    Code(
        "secret-in-file",
        "warning",
        "this looks like {what}",
        "Files of agents are shared, published, and sent to models. A secret in one is a secret no longer.",
        "take it out, replace it where it is valid, and read it from the environment",
    ),
)

CODES: tuple[Code, ...] = (*HEADER_CODES, *RECOVERY_CODES, *_FIELDS, *_REFERENCES, *SUSPICIONS)
