"""The findings about lists of servers, in words."""

from __future__ import annotations

from equipage.core.codes import Code
from equipage.kinds.conventions.codes import SUSPICIONS
from equipage.kinds.defect.codes import SETTINGS_CODES

_OWN = (
    Code(
        "servers-unwrapped",
        "warning",
        "the servers stand at the root, not under `{top}`",
        "Some tools read the file without the wrapper, most do not: to them it defines no server at all.",
        'put everything into `{{"{top}": {{…}}}}`',
    ),
    Code(
        "servers-misplaced",
        "warning",
        "{tool} looks for `{top}` here, not for `{found}`",
        "Tools do not agree on the name of this key. Under another one, the servers are not seen.",
        "rename it to `{top}`",
    ),
    Code(
        "server-type-unknown",
        "error",
        "server `{name}` has the type `{found}`, which {tool} does not know",
        "The type says how to talk to the server. One that is not known is refused.",
        "use one of {types}",
    ),
    Code(
        "server-type-wrong",
        "error",
        "server `{name}` has the type `{found}`, but no `{key}`",
        "The type says how to talk to the server, and what it needs.",
        "add `{key}`, or correct the type",
    ),
    Code(
        "server-type-missing",
        "warning",
        "server `{name}` does not say its `type`, which {tool} needs",
        "Other tools tell it from the other keys, this one does not.",
        'add `"type": "{type}"`',
    ),
    Code(
        "server-unreachable",
        "error",
        "server `{name}` has neither `command` nor `url`",
        "There is nothing to start and nothing to call.",
        "add `command` with the program to start, or `url` with the address",
    ),
    Code(
        "server-key-unused",
        "warning",
        "`{key}` has no effect on the {transport} server `{name}`",
        "The key belongs to servers that are reached another way.",
        "remove it, or correct the `type`",
    ),
)
#: Those of the strict reading come from the settings, which read `.mcp.json` the same way.
_STRICT = tuple(code for code in SETTINGS_CODES if code.name.startswith("mcp-"))

CODES: tuple[Code, ...] = (*_OWN, *_STRICT, *SUSPICIONS)
