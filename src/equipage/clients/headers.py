"""What a client does with a header that is not YAML, as measured with 100 shapes of headers.

Most clients quote some lines and try once more. None means that the client drops the header.
The keys of a header also tell which client's file it begins, where no path does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from equipage.clients.catalogue import Reader
from equipage.clients.plugins import NOTE_FILES
from equipage.core.text import lazy_regex
from equipage.syntax.header import (
    MAX_RECOVERED_LENGTH,
    QUOTES,
    Correction,
    Recovered,
    apply_corrections,
    double_quote,
    parses_as_yaml,
)

#: A line that a client looks at: a key in the first column and what follows it. Claude Code takes
#: no digits in the key, and no carriage return at the end of the line.
_CLIENT_LINES: dict[Reader, re.Pattern[str]] = {
    "claude": lazy_regex(
        r"^(?P<key>[A-Za-z_-]+):[^\S\r\n]+(?P<value>\S[^\r\n]*)(?=\n|\Z)", re.MULTILINE
    ),
    "codex": lazy_regex(r"^(?P<key>[\w.-]+):[ \t]+(?P<value>\S[^\r\n]*)", re.MULTILINE),
    "opencode": lazy_regex(
        r"^(?P<key>[A-Za-z_]\w*)[ \t]*:[ \t]*(?P<value>\S[^\r\n]*)", re.MULTILINE
    ),
    "gemini": lazy_regex(
        r"^(?P<key>name|description):[ \t]*(?P<value>[^\r\n]*(?:\r?\n[ \t]+\S[^\r\n]*)*)",
        re.MULTILINE,
    ),
    "lines": lazy_regex(r"^(?P<key>[\w.-]+)[ \t]*:[ \t]*(?P<value>\S[^\r\n]*)", re.MULTILINE),
}
#: The values that a client quotes before it tries again.
_CLIENT_QUOTED_VALUES: dict[Reader, re.Pattern[str]] = {
    "claude": lazy_regex(r"[{}\[\]*&#!|>%@`]|: "),
    "codex": lazy_regex(r"\A[\[{@`]|: "),
    "opencode": lazy_regex(r":"),
}


def read_as_client(text: str, reader: Reader) -> Recovered | None:
    """A header that is not YAML as a client reads it; None if the client drops it."""
    if reader == "strict" or len(text) > MAX_RECOVERED_LENGTH:
        return None
    if reader == "gemini":
        return _read_as_gemini(text)
    corrections: list[Correction] = []
    for match in _CLIENT_LINES[reader].finditer(text):
        value = match["value"].rstrip()
        is_quoted = len(value) > 1 and value[0] in QUOTES and value[-1] == value[0]
        if reader == "lines":
            is_special = not parses_as_yaml(f"{match['key']}: {value}\n", match["key"])
        else:
            is_special = not is_quoted and _CLIENT_QUOTED_VALUES[reader].search(value) is not None
        if is_special:
            start = match.start("value")
            place = start, start + len(value)
            corrections.append(Correction(match["key"], "colon", place, place, double_quote(value)))
    if reader == "claude":
        corrections += [*_blanks_for_tabs(text, corrections)]
        corrections.sort(key=lambda each: each.range[0])
    return apply_corrections(text, corrections)


def _blanks_for_tabs(text: str, others: list[Correction]) -> Iterator[Correction]:
    """Two blanks for each tab outside the other corrections."""
    inside = {offset for each in others for offset in range(*each.range)} if "\t" in text else ()
    for match in re.finditer("\t", text):
        if match.start() not in inside:
            yield Correction("", "tabs", match.span(), match.span(), "  ")


def _read_as_gemini(text: str) -> Recovered | None:
    """The two fields of a skill that Gemini CLI finds on its own; it ignores all others."""
    found = {
        match["key"]: " ".join(match["value"].split())
        for match in _CLIENT_LINES["gemini"].finditer(text)
    }
    if not found.get("name") or not found.get("description"):
        return None
    whole = "".join(f"{key}: {double_quote(value)}\n" for key, value in found.items())
    place = (0, len(text))
    return apply_corrections(text, [Correction("description", "colon", place, place, whole)])


# Which file a header is of: collections keep agents and commands in folders of their own choice.

#: Everything between the first two lines of three dashes, at the start of a text.
_HEADER = lazy_regex(
    r"\ufeff?\s*---[ \t]*\r?\n(?P<header>.*?)^[ \t]*---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)

_HEADER_KEY = lazy_regex(r"^([A-Za-z_][\w-]*)[ \t]*:", re.MULTILINE)

#: A model with its provider, which Claude Code does not have.
_MODEL_WITH_PROVIDER = lazy_regex(r"""^model[ \t]*:[ \t]*["']?[\w.-]+/\w""", re.MULTILINE)

#: `tools` as Claude Code writes it, in one text or a list: elsewhere it is often a mapping.
_TOOL_NAMES = lazy_regex(r"^tools[ \t]*:(?:[ \t]*[^\s{#]|[ \t]*\r?\n[ \t]*-)", re.MULTILINE)

_AGENT_FOLDER = lazy_regex(r"/(?:sub-?)?agents?/", re.IGNORECASE)

_COMMAND_FOLDER = lazy_regex(r"/(?:slash-)?commands?/", re.IGNORECASE)

#: Folders whose files no tool reads where they are: documentation, tests, what is copied from, and
#: those of other tools, which say by their path what their files are. Pi keeps its files in
#: `~/.pi/agent`, and people who keep their home in a repository leave the dot out.
_UNUSED_FOLDERS = lazy_regex(
    r"/(?:\.[^/]+|docs?|documentation|tests?|__tests__|fixtures|testdata|templates?|backups?"
    r"|pi/agent)/",
    re.IGNORECASE,
)

_AGENT_KEYS = frozenset({"tools", "model", "color", "permissionMode", "disallowedTools"})

#: These are in no other sort of header that also has a name and a description.
_AGENT_ONLY_KEYS = frozenset({"color", "permissionMode", "disallowedTools"})

_OPENCODE_KEYS = frozenset({"mode", "permission", "temperature"})

_COMMAND_KEYS = frozenset({"allowed-tools", "argument-hint", "disable-model-invocation"})

#: Keys that no agent or command has: pages of a web site, workflows of GitHub, rules of editors,
#: the agents of blueprints and those of Pi.
# fmt: off
_FOREIGN_KEYS = frozenset({
    "title", "layout", "slug", "date", "sidebar_position", "sidebar_label", "permalink", "weight",
    "on", "engine", "safe-outputs", "timeout-minutes", "jobs", "applyTo", "globs", "alwaysApply",
    "worker_binding", "deny-tools", "auto-exit",
})

# fmt: on
_MAX_HEADER_CHARS = 64 * 1024

#: The most bytes that the characters of a header can take.
MAX_HEADER_BYTES = 4 * _MAX_HEADER_CHARS


class HeaderGuess(msgspec.Struct, frozen=True):
    """A kind by the header of a file; sure if two signs agree."""

    kind: str
    why: str
    sure: bool


def kind_of_header(path: str, text: str) -> HeaderGuess | None:
    """What a Markdown file is by the keys of its header and the folder it is in.

    `path` begins at the root of the project, with `/`: what is above it says nothing.
    """
    if NOTE_FILES.search(path) or not headers_count_in(path):
        return None
    match = _HEADER.match(text[:_MAX_HEADER_CHARS])
    keys = frozenset(_HEADER_KEY.findall(match["header"])) if match is not None else frozenset()
    if match is None or "description" not in keys or keys & _FOREIGN_KEYS:
        return None
    of_agent, of_command = keys & _AGENT_KEYS, keys & _COMMAND_KEYS
    in_agents, in_commands = _AGENT_FOLDER.search(path), _COMMAND_FOLDER.search(path)
    if in_commands and not in_agents:
        return HeaderGuess(
            "claude-command", _describe_signs(of_command, "commands"), sure=bool(of_command)
        )
    if of_command:  # a command, or a part of a skill, outside any folder of commands
        return None
    if "name" in keys and not keys & _OPENCODE_KEYS and (of_agent or in_agents):
        if _MODEL_WITH_PROVIDER.search(match["header"]):
            return None
        names_tools = _TOOL_NAMES.search(match["header"]) is not None
        sure = bool(keys & _AGENT_ONLY_KEYS or names_tools or (of_agent - {"tools"} and in_agents))
        return HeaderGuess(
            "claude-agent", _describe_signs(of_agent, "agents" if in_agents else None), sure
        )
    if in_agents and keys & _OPENCODE_KEYS:
        return HeaderGuess(
            "opencode-agent", _describe_signs(keys & _OPENCODE_KEYS, "agents"), sure=False
        )
    if in_agents and of_agent:
        return HeaderGuess("copilot-agent", _describe_signs(of_agent, "agents"), sure=False)
    return None


def headers_count_in(folder: str) -> bool:
    """Whether a header says anything about files in a folder, or about the path of one."""
    return _UNUSED_FOLDERS.search(folder) is None


def _describe_signs(keys: frozenset[str], folder: str | None) -> str:
    """Describe the signs that decided, as part of a sentence."""
    words = [f"the header has {', '.join(f'`{each}`' for each in sorted(keys))}"] if keys else []
    return " and ".join([*words, *([f"it lies in a folder of {folder}"] if folder else [])])
