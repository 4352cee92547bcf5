"""A Markdown file with a header becomes an agent.

The header's known keys go to their fields, all others to `profile.extras`; the body is the system prompt, exact to
the last character. Every field remembers where it was written. A known key with a value of the wrong type is left
out, as it always was, but no longer in silence; only a missing name keeps the agent from existing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import blake3
import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Code, Fact, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.core.text import nearest
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.agent_model import (
    DEFAULT_KIND,
    LINT_LEVELS,
    Agent,
    AgentKind,
    written,
)
from equipage.kinds.blueprint.codes import AGENT_MD_CODES as CODES
from equipage.loading.kind import Item, Kind, Presentation, Reading, Sensitive
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Tree
from equipage.syntax.document import Document, parse
from equipage.syntax.frontmatter import AGENT_MD, SPACE, Header, NoHeader, body_after, split

#: How strictly a header is read, beside what its codes say themselves.
STRICTNESS: dict[str, Severity | None] = {
    core_codes.EXTRA_DOCUMENT: "error",
    core_codes.UNKNOWN_TAG: "error",
    core_codes.MERGE_KEY: "error",
    core_codes.NON_STRING_KEY: "warning",
}
_TEXTS = ("model", "effort", "description", "worker_binding")
_KNOWN = ("name", *_TEXTS, "tools", "lints")
#: Fields of an agent that only count beside `$agent_md`.
_NO_EFFECT = ("kind", "spec", "meta", "runner", "runner_ref", "verdict")
#: Keys of other tools that merely look like a slip of ours.
_NO_SLIPS = frozenset(
    {
        *(
            "mode",
            "modes",
            "module",
            "models",
            "title",
            "tool",
            "toolset",
            "tags",
            "label",
            "effect",
        ),
        *("hints", "links", "lines", "points", "prints", "clients"),
    }
)
#: A bracket that belongs to the name before it, any bracket, or a comma.
_MARK = re.compile(r"(?P<call>(?<=\w)[(\[])|(?P<open>[(\[])|(?P<close>[)\]])|,")


def read_header(source: Source) -> tuple[Document | None, list[Fact]]:
    """The header of an agent file as a document whose value is a mapping; None, with a finding, if there is none."""
    try:
        require_text(source)
    except FileProblem as problem:
        return None, [Fact(problem.code, values=problem.values, span=Span(source, 0, 0))]
    header = split(source.text, AGENT_MD)
    if isinstance(header, NoHeader):
        values: dict[str, object] = {"file": source.name, "hint": _hint(header, source.text)}
        return None, [
            Fact(codes.FRONTMATTER_MISSING, values=values, span=Span(source, *header.range))
        ]
    document, found = parse(source, "yaml", window=(header.start, header.end))
    facts = [*map(_judged, found), *_fence(source, header)]
    if document is None:
        return None, facts
    if document.value is None:
        document.value = {}
    if not isinstance(document.value, dict):
        found_type = Shown(document.value, as_found=True)
        wrong = Fact(
            core_codes.WRONG_TYPE,
            values={"expected": "a mapping (the header of an agent)", "found": found_type},
            origin=Origin(document),
        )
        return None, [*facts, wrong]
    return document, facts


def _judged(each: Fact) -> Fact:
    severity = STRICTNESS.get(each.code, each.severity)
    if each.code == core_codes.NON_STRING_KEY and not can_be_written(each):
        severity = "error"
    return msgspec.structs.replace(each, severity=severity)


def can_be_written(each: Fact) -> bool:
    """Whether a key that is no text has one that stands for it; a collection and an infinite number have none."""
    return each.values.get("sort") in ("scalar", "null")


def _hint(found: NoHeader, text: str) -> str:
    if found.reason == "fence-not-first":
        what = "the byte order mark" if text.startswith("\ufeff---") else "what stands"
        return f"remove {what} before the first `---`: the header starts at the first character of the file"
    if found.reason == "text-after-fence" and text != "---":
        if text.startswith("---\r"):
            return "end lines with LF or CRLF; a carriage return alone ends none"
        return "the first line must be `---` and nothing else, not even a space"
    if found.reason != "no-opening-fence":
        return "close the header with `---` at the start of a line"
    return "start the file with a line `---`, then `name: …`, then another line `---`"


def _fence(source: Source, header: Header) -> Iterator[Fact]:
    """A closing fence that shares its line with the prompt."""
    body = body_after(source.text, header.end, AGENT_MD)[0]
    if body > header.end + 3 or body >= len(source.text):
        return
    end = body + len(source.line(source.position(body)[0])) - 3
    # A carriage return alone ends no line here, though people see one.
    rest = source.text[body:].split("\n", 1)[0].removesuffix("\r")
    yield Fact(
        codes.FENCE_NOT_ALONE, values={"rest": Shown(rest)}, span=Span(source, body, max(end, body))
    )


# --------------------------------------------------------------------------------------------------- the agent


def agent_tree(header: Document, kind: Tree) -> tuple[Tree, list[Fact]]:
    """The agent that a header and the body behind it describe; a hole if it has no name."""
    value = header.value
    assert isinstance(value, dict)
    facts = [*_name(header, value), *_without_effect(header, value), *_slips(header, value)]
    profile, found = _profile(header, value)
    facts += found
    if not isinstance(value.get("name"), str):
        return Tree(HOLE, Origins(Origin(header))), facts
    agent: dict[str, Any] = {
        "name": value["name"],
        "kind": kind.value,
        "spec": None,
        "profile": profile.value,
        "meta": None,
    }
    if _lints_fit(value.get("lints")) and value["lints"]:
        agent["lints"] = value["lints"]
    below: dict[str | int, Origins] = {"kind": kind.origins, "profile": profile.origins}
    return Tree(agent, Origins(Origin(header), below=below)), facts


def _profile(header: Document, value: dict[str, Any]) -> tuple[Tree, list[Fact]]:
    body = body_of(header.source)
    prompt = str(body.value)
    texts, facts = _texts(header, value)
    tools, found = _tools(header, value.get("tools"))
    facts += found
    extras = {key: each for key, each in value.items() if key not in _KNOWN}
    if "lints" in value and not _lints_fit(value["lints"]):
        # Only programs that do not know `lints` read such a file, and they do not know the binding, either.
        extras |= {key: value[key] for key in ("worker_binding", "lints") if key in value}
        texts.pop("worker_binding", None)
        facts.append(_fact(codes.HEADER_LINTS, header, ("lints",), levels=LINT_LEVELS))
    profile: dict[str, Any] = {
        "system_prompt": prompt,
        "model": texts.get("model"),
        "effort": texts.get("effort"),
        "tools": tools.value,
        "description": texts["description"].strip(SPACE) if "description" in texts else None,
        "extras": extras or None,
        "version_hash": blake3.blake3(prompt.encode()).hexdigest(),
    }
    if "worker_binding" in texts:
        profile["worker_binding"] = texts["worker_binding"]
    # Whatever is not named here is at the same key in the header.
    below: dict[str | int, Origins] = {
        "system_prompt": Origins(Origin(body)),
        "version_hash": Origins(Origin(body)),
        "extras": Origins(Origin(header)),
        "tools": tools.origins,
    }
    return Tree(profile, Origins(Origin(header), below=below)), facts


def body_of(source: Source) -> Document:
    """The text behind the header, as a document of its own."""
    header = split(source.text, AGENT_MD)
    assert isinstance(header, Header)
    window = body_after(source.text, header.end, AGENT_MD)
    return Document(source, "text", source.text[slice(*window)], window=window)


def _texts(header: Document, value: dict[str, Any]) -> tuple[dict[str, str], list[Fact]]:
    """The keys that hold text, and a finding for each that holds something else."""
    texts: dict[str, str] = {}
    facts: list[Fact] = []
    for key in _TEXTS:
        given = value.get(key)
        if isinstance(given, str):
            texts[key] = given
        elif given is not None:
            facts.append(_dropped(header, (key,), given, "text"))
    return texts, facts


def _tools(header: Document, given: Any) -> tuple[Tree, list[Fact]]:
    """The tools of a list, or of text with commas; each knows its place."""
    here = Origin(header, ("tools",))
    facts: list[Fact] = []
    if isinstance(given, str):
        names = [name for each in given.split(",") if (name := each.strip(SPACE))]
        torn = _torn(given)
        if torn is not None:
            facts.append(_fact(codes.TOOL_SPLIT, header, ("tools",), tool=Shown(torn)))
        return Tree(
            names, Origins(here, below={number: Origins(here) for number in range(len(names))})
        ), facts
    if given is not None and not isinstance(given, list):
        facts.append(_dropped(header, ("tools",), given, "a list of names, or text with commas"))
    kept: list[tuple[int, str]] = []
    for number, each in enumerate(given if isinstance(given, list) else ()):
        if isinstance(each, str):
            kept += [(number, each.strip(SPACE))] if each.strip(SPACE) else []
        else:
            facts.append(_dropped(header, ("tools", number), each, "the name of a tool"))
    below: dict[str | int, Origins] = {
        place: Origins(here.child((number,))) for place, (number, _) in enumerate(kept)
    }
    return Tree([name for _, name in kept], Origins(here, below=below)), facts


def _torn(text: str) -> str | None:
    """The first tool with commas between its own brackets, which divide it like any other."""
    start = depth = 0
    torn = False
    for mark in _MARK.finditer(text):
        if mark["call"] or (mark["open"] and depth):
            depth += 1
        elif mark["close"]:
            depth = max(0, depth - 1)
        elif mark.group() == "," and depth:
            torn = True
        elif mark.group() == ",":
            if torn:
                return text[start : mark.start()].strip(SPACE)
            start = mark.end()
    return text[start:].strip(SPACE) if torn and not depth else None


def _lints_fit(given: Any) -> bool:
    return isinstance(given, dict) and all(
        isinstance(each, str) and each in LINT_LEVELS for each in given.values()
    )


# --------------------------------------------------------------------------------------------------- findings


def _name(header: Document, value: dict[str, Any]) -> Iterator[Fact]:
    given = value.get("name")
    if given is None:
        yield _fact(
            core_codes.MISSING_FIELD,
            header,
            ROOT,
            field="name",
            owner="the header",
            expected="the agent's name",
        )
    elif not isinstance(given, str):
        hint = "put quotes around it" if isinstance(given, int | float) else None
        found = Shown(given, as_found=True)
        yield _fact(
            core_codes.WRONG_TYPE, header, ("name",), expected="text", found=found, hint=hint
        )


def _without_effect(header: Document, value: dict[str, Any]) -> Iterator[Fact]:
    for key in _NO_EFFECT:
        if key in value:
            yield _fact(codes.HEADER_NO_EFFECT, header, (key,), field=key)


def _slips(header: Document, value: dict[str, Any]) -> Iterator[Fact]:
    absent = [key for key in _KNOWN if key not in value]
    for key in value:
        if key in _KNOWN or key in _NO_EFFECT or key in _NO_SLIPS:
            continue
        meant = nearest(key, absent)
        if meant is not None:
            yield _fact(codes.HEADER_SLIP, header, (key,), field=Shown(key), nearest=meant)


def _dropped(header: Document, path: Path, given: Any, expected: str) -> Fact:
    found = Shown(given, as_found=True)
    hint = "put quotes around it" if isinstance(given, int | float) else None
    return _fact(
        codes.HEADER_VALUE_DROPPED,
        header,
        path,
        field=path[0],
        expected=expected,
        found=found,
        hint=hint,
    )


def _fact(code: Code, header: Document, path: Path, **values: object) -> Fact:
    on_key = code in (codes.HEADER_NO_EFFECT, codes.HEADER_SLIP)
    return Fact(code, values=values, part="key" if on_key else "value", origin=Origin(header, path))


# --- presenting --------------------------------------------------------------------------------
# What the commands show of an agent file: the agent, and the changes that matter.


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The agent."""
    profile = plain.get("profile") or {}
    yield Item("agent", str(plain.get("name")), profile.get("description"))


SENSITIVE = (
    Sensitive("profile.tools", "permission"),
    Sensitive("profile.system_prompt", "prompt"),
    Sensitive("profile.description", "prompt"),
)


# --- schema ------------------------------------------------------------------------------------
# The JSON Schema of a header, which is not that of the agent it becomes.


def header_schema(_model: dict[str, Any]) -> dict[str, Any]:
    """What a header may say. Further keys are kept for other programs, and a known one of another type is left out
    with a warning: only the name decides whether the file loads."""
    text = {"type": "string"}
    properties: dict[str, dict[str, Any]] = {
        "description": text,
        "model": text,
        "effort": text,
        "tools": {
            "description": "a list, or text with commas",
            "anyOf": [text, {"type": "array", "items": text}, {"type": "null"}],
        },
        "worker_binding": text,
        "lints": {"type": "object", "additionalProperties": {"enum": list(LINT_LEVELS)}},
    }
    return {
        "title": "The header of an agent file",
        "type": "object",
        "properties": {
            "name": {**text, "description": "what steps refer to"},
            **{name: {"anyOf": [usual, {}]} for name, usual in properties.items()},
        },
        "required": ["name"],
    }


# --- agent_md.kind -----------------------------------------------------------------------------
# The kind `agent_md` as a value.
#
# No file is recognised as one: Markdown with a header has many readers. A blueprint that refers to a file, or a
# caller who names the kind, knows.

EXAMPLE = """\
---
name: NAME
description: Finds sources and quotes them
model: sonnet
tools: Read, WebFetch
---
You find sources for the question you are given.

Quote each one with its address. Say so when you find nothing.
"""


class AgentOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller may decide about an agent file."""

    default_agent_kind: AgentKind = DEFAULT_KIND


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    document, facts = read_header(source)
    if document is not None:
        session.adopt(document)
    return document, facts


def _agent(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    origin = tree.story(ROOT).origin
    kind = Tree(session.options.default_agent_kind, tree.origins)
    return agent_tree(origin.document, kind)


KIND = Kind(
    name="agent_md",
    title="agent file",
    model=Agent,
    reading=Reading(formats={".md": "yaml"}, read=_read, options=AgentOptions),
    strictness=STRICTNESS,
    shape=Shape(unknown=None),  # such keys are kept as extras
    stages=(_agent,),
    codes=CODES,
    presentation=Presentation(
        schema=header_schema,
        dump=written,
        example=EXAMPLE,
        example_path="NAME.md",
        listing=listing,
        sensitive=SENSITIVE,
    ),
)


# --- agent_md ----------------------------------------------------------------------------------
# Kind `agent_md`: one agent in a Markdown file, its settings in the header, its prompt in the body.

__all__ = ["KIND"]
