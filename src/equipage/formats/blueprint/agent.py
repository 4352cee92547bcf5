"""A Markdown file with a header becomes an agent.

The known keys of the header go to their fields, all others to `profile.extras`. The body is the
system prompt, exact to the last character. Every field remembers where it was written. A known key
with a value of the wrong type is left out, with a warning; without a name there is no agent.

Kind `agent_md` is such a file on its own. No file is recognised as one, because many programs read
Markdown with a header: a blueprint refers to the file, or the caller names the kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import blake3
import msgspec
from msgspec import inspect as types

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Part
from equipage.core.frozen import plain_data
from equipage.core.text import edit_distance, lazy_regex
from equipage.formats.blueprint import codes
from equipage.formats.blueprint.model import DEFAULT_KIND, LINT_LEVELS, Agent, AgentKind, Blueprint
from equipage.loading.session import text_facts
from equipage.loading.type_words import describe, type_info
from equipage.plugin import (
    HOLE,
    ROOT,
    Also,
    Code,
    Directive,
    Document,
    Expansion,
    Fact,
    FileProblem,
    Format,
    Item,
    Node,
    Origin,
    Origins,
    Path,
    PathPolicy,
    Presentation,
    Reading,
    Sensitive,
    Session,
    Severity,
    Shape,
    Shown,
    Source,
    Span,
    Tree,
    get,
    merge,
    nearest,
    remove,
)
from equipage.plugin import expand as expand_tree
from equipage.syntax.document import parse
from equipage.syntax.header import AGENT_MD, WHITE_SPACE, Header, NoHeader, body_range, split

_TEXT_KEYS = ("model", "effort", "description", "worker_binding")
_KNOWN_KEYS = ("name", *_TEXT_KEYS, "tools", "lints")
#: Fields of an agent that count beside `$agent_md`, but not in a header.
_KEYS_WITHOUT_EFFECT = ("kind", "spec", "meta", "runner", "runner_ref", "verdict")
#: Keys of other tools that merely look like a misspelling of ours.
_NOT_MISSPELLINGS = (
    "mode", "modes", "module", "models", "title", "tool", "toolset", "tags", "label", "effect",
    "hints", "links", "lines", "points", "prints", "clients",
)  # fmt: skip
#: A bracket right after a word, any other bracket, or a comma.
_BRACKET_OR_COMMA = lazy_regex(r"(?P<call>(?<=\w)[(\[])|(?P<open>[(\[])|(?P<close>[)\]])|,")

FILE = "$file"
AGENT_MD_KEY = "$agent_md"


# The header.


def read_header(source: Source) -> tuple[Document | None, list[Fact]]:
    """The header of an agent file, as a document whose value is a mapping.

    Without a usable header there is a finding in place of the document.
    """
    if facts := text_facts(source):
        return None, facts
    header = split(source.text, AGENT_MD)
    if isinstance(header, NoHeader):
        hint, span = _missing_header_hint(header, source.text), Span(source, *header.range)
        return None, [codes.FRONTMATTER_MISSING.at(span=span, file=source.name, hint=hint)]
    document, found = parse(source, "yaml", window=(header.start, header.end))
    judged = (FORMAT.adjust_severity(each) for each in found)
    facts = [each for each in judged if each is not None] + _text_after_fence(source, header)
    if document is not None and document.value is None:
        document.value = {}
    if document is None or isinstance(document.value, dict):
        return document, facts
    wrong = core_codes.WRONG_TYPE.at(
        origin=Origin(document),
        expected="a mapping (the header of an agent)",
        found=Shown(document.value, as_found=True),
    )
    return None, [*facts, wrong]


def _missing_header_hint(found: NoHeader, text: str) -> str:
    if found.reason == "fence-not-first":
        what = "the byte order mark" if text.startswith("\ufeff---") else "everything"
        return f"remove {what} before the first `---`: the file must start with it"
    if found.reason == "text-after-fence" and text != "---":
        if text.startswith("---\r"):
            return "end lines with LF or CRLF; a carriage return alone does not end a line"
        return "write nothing after `---` on the first line, not even a space"
    if found.reason != "no-opening-fence":
        return "close the header with `---` at the start of a line"
    return "start the file with a line `---`, then `name: …`, then another line `---`"


def _text_after_fence(source: Source, header: Header) -> list[Fact]:
    """A closing fence that shares its line with the start of the prompt."""
    body = body_range(source.text, header.end, AGENT_MD)[0]
    if body > header.end + 3 or body >= len(source.text):
        return []  # a line break follows the fence, or nothing does
    # Only a line feed ends a line here; a carriage return alone looks like one and is shown.
    rest = source.text[body:].split("\n", 1)[0].removesuffix("\r")
    end = body + len(source.line(source.position(body)[0])) - 3
    span = Span(source, body, max(end, body))
    return [codes.FENCE_NOT_ALONE.at(span=span, rest=Shown(rest))]


# The agent.


def agent_tree(header: Document, kind: Tree) -> tuple[Tree, list[Fact]]:
    """The agent that a header and the body below it describe; a hole if it has no name."""
    reader = _HeaderReader(header)
    return reader.read_agent(kind), reader.facts


class _HeaderReader:
    """Reads one header field by field, and collects findings."""

    def __init__(self, header: Document) -> None:
        assert isinstance(header.value, dict)
        self.header = header
        self.fields: dict[str, Any] = header.value
        self.facts: list[Fact] = []

    def read_agent(self, kind: Tree) -> Tree:
        self.check_name()
        self.check_keys()
        profile = self.read_profile()
        name, lints = self.fields.get("name"), self.fields.get("lints")
        if not isinstance(name, str):
            return Tree(HOLE, Origins(Origin(self.header)))
        agent: dict[str, Any] = {
            "name": name,
            "kind": kind.value,
            "spec": None,
            "profile": profile.value,
            "meta": None,
        }
        if lints and _are_lints(lints):
            agent["lints"] = lints
        below: dict[str | int, Origins] = {"kind": kind.origins, "profile": profile.origins}
        return Tree(agent, Origins(Origin(self.header), below=below))

    def check_name(self) -> None:
        name = self.fields.get("name")
        if name is None:
            expected = "the agent's name"
            self.report(
                core_codes.MISSING_FIELD, field="name", owner="the header", expected=expected
            )
        elif not isinstance(name, str):
            found, hint = Shown(name, as_found=True), _quotes_hint(name)
            self.report(core_codes.WRONG_TYPE, ("name",), expected="text", found=found, hint=hint)

    def check_keys(self) -> None:
        """Keys that have no effect in a header, and keys that nearly spell another one."""
        absent = [key for key in _KNOWN_KEYS if key not in self.fields]
        for key in self.fields:
            if key in _KEYS_WITHOUT_EFFECT:
                self.report(codes.HEADER_NO_EFFECT, (key,), "key", field=key)
            elif (
                key not in _KNOWN_KEYS
                and key not in _NOT_MISSPELLINGS
                and (meant := nearest(key, absent))
            ):
                self.report(codes.HEADER_SLIP, (key,), "key", field=Shown(key), nearest=meant)

    def read_profile(self) -> Tree:
        source = self.header.source
        window = body_range(source.text, self.header.window[1], AGENT_MD)
        prompt = source.text[slice(*window)]
        body = Origins(Origin(Document(source, "text", prompt, window=window)))
        texts, tools = self.read_texts(), self.read_tools()
        extras = {key: each for key, each in self.fields.items() if key not in _KNOWN_KEYS}
        if "lints" in self.fields and not _are_lints(self.fields["lints"]):
            # Newer programs refuse such a file. Those that read it know neither `lints` nor
            # `worker_binding`, so both are extras to them.
            later = ("worker_binding", "lints")
            extras |= {key: self.fields[key] for key in later if key in self.fields}
            texts.pop("worker_binding", None)
            self.report(codes.HEADER_LINTS, ("lints",), levels=LINT_LEVELS)
        profile: dict[str, Any] = {
            "system_prompt": prompt,
            "model": texts.get("model"),
            "effort": texts.get("effort"),
            "tools": tools.value,
            "description": texts["description"].strip(WHITE_SPACE)
            if "description" in texts
            else None,
            "extras": extras or None,
            "version_hash": blake3.blake3(prompt.encode()).hexdigest(),
        }
        if "worker_binding" in texts:
            profile["worker_binding"] = texts["worker_binding"]
        # A field without an entry here is found at the same key in the header.
        below: dict[str | int, Origins] = {
            "system_prompt": body,
            "version_hash": body,
            "extras": Origins(Origin(self.header)),
            "tools": tools.origins,
        }
        return Tree(profile, Origins(Origin(self.header), below=below))

    def read_texts(self) -> dict[str, str]:
        """The keys that take text and hold some."""
        for key in _TEXT_KEYS:
            if not isinstance(self.fields.get(key), str | None):
                self.report_dropped((key,), self.fields[key], "text")
        return {key: each for key in _TEXT_KEYS if isinstance(each := self.fields.get(key), str)}

    def read_tools(self) -> Tree:
        """The tools of a list, or of text with commas, each with its place."""
        given, here = self.fields.get("tools"), Origin(self.header, ("tools",))
        found: list[tuple[str, Origin]] = []
        if isinstance(given, str):
            found = [(each, here) for each in given.split(",")]
            if (torn := _find_split_tool(given)) is not None:
                self.report(codes.TOOL_SPLIT, ("tools",), tool=Shown(torn))
        elif isinstance(given, list):
            for number, each in enumerate(given):
                if isinstance(each, str):
                    found.append((each, here.child((number,))))
                else:
                    self.report_dropped(("tools", number), each, "the name of a tool")
        elif given is not None:
            self.report_dropped(("tools",), given, "a list of names, or text with commas")
        kept = [(name, origin) for each, origin in found if (name := each.strip(WHITE_SPACE))]
        below: dict[str | int, Origins] = {
            number: Origins(origin) for number, (_, origin) in enumerate(kept)
        }
        return Tree([name for name, _ in kept], Origins(here, below=below))

    def report_dropped(self, path: Path, value: Any, expected: str) -> None:
        """Report a value of the wrong type, which is left out."""
        self.report(
            codes.HEADER_VALUE_DROPPED,
            path,
            field=path[0],
            expected=expected,
            found=Shown(value, as_found=True),
            hint=_quotes_hint(value),
        )

    def report(self, code: Code, path: Path = ROOT, part: Part = "value", **values: object) -> None:
        self.facts.append(Fact(code, values=values, part=part, origin=Origin(self.header, path)))


def _quotes_hint(value: Any) -> str | None:
    return "put quotes around it" if isinstance(value, int | float) else None


def _are_lints(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, str) and each in LINT_LEVELS for each in value.values()
    )


def _find_split_tool(text: str) -> str | None:
    """The first tool that is split by mistake, at a comma between its own brackets."""
    start = depth = 0
    torn = False
    for mark in _BRACKET_OR_COMMA.finditer(text):
        # Only a bracket after a word opens a call; one of its own is text, unless inside a call.
        if mark["call"] or (mark["open"] and depth):
            depth += 1
        elif mark["close"]:
            depth = max(0, depth - 1)
        elif mark.group() == "," and depth:
            torn = True
        elif mark.group() == ",":
            if torn:
                return text[start : mark.start()].strip(WHITE_SPACE)
            start = mark.end()
    return text[start:].strip(WHITE_SPACE) if torn and not depth else None


# The kind.


def _key_severity(each: Fact) -> Severity:
    """Null, numbers and truth values can be written as text; collections and infinity cannot."""
    return "warning" if each.values.get("sort") in ("scalar", "null") else "error"


def header_schema(_model: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a header, which is not that of the agent it becomes.

    It accepts further keys, which are kept for other programs, and known keys of another type,
    which are left out with a warning: only the name decides whether the file loads.
    """
    text = {"type": "string"}
    properties: dict[str, dict[str, Any]] = {
        **dict.fromkeys(_TEXT_KEYS, text),
        "tools": {"anyOf": [text, {"type": "array", "items": text}, {"type": "null"}]},
        "lints": {"type": "object", "additionalProperties": {"enum": list(LINT_LEVELS)}},
    }
    words = {
        "model": "the model, such as `sonnet`",
        "effort": "how hard the model thinks, such as `low` or `high`",
        "description": "what the agent is for",
        "worker_binding": "the variant of the worker that runs the agent",
        "tools": "the tools that the agent may use: a list, or text with commas",
        "lints": "level of findings about this agent, by kind of finding, `category:NAME` or `all`",
    }
    return {
        "title": "The header of an agent file",
        "type": "object",
        "properties": {
            "name": {**text, "description": "the name that steps refer to"},
            **{
                name: {"description": words[name], "anyOf": [usual, {}]}
                for name, usual in properties.items()
            },
        },
        "required": ["name"],
    }


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The agent."""
    profile = plain.get("profile") or {}
    yield Item("agent", str(plain.get("name")), profile.get("description"))


SENSITIVE = (
    Sensitive("profile.tools", "permission"),
    Sensitive("profile.system_prompt", "prompt"),
    Sensitive("profile.description", "prompt"),
)

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
    """Options for loading one agent file."""

    default_agent_kind: AgentKind = DEFAULT_KIND
    """The kind of the agent; a header cannot say it."""


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    document, facts = read_header(source)
    if document is not None:
        session.adopt(document)
    return document, facts


def _build_agent(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    origin = tree.provenance(ROOT).origin
    kind = Tree(session.options.default_agent_kind, tree.origins)
    return agent_tree(origin.document, kind)


FORMAT = Format(
    name="agent_md",
    title="agent file",
    model=Agent,
    reading=Reading(syntaxes={".md": "yaml"}, read=_read, options=AgentOptions, variables=False),
    strictness={
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.MERGE_KEY: "error",
        core_codes.NON_STRING_KEY: _key_severity,
    },
    shape=Shape(unknown=None),  # such keys are kept as extras
    stages=(_build_agent,),
    codes=codes.AGENT_MD_CODES,
    presentation=Presentation(
        schema=header_schema,
        dump=partial(plain_data, spelled_out=True),
        example=EXAMPLE,
        example_path="NAME.md",
        listing=listing,
        sensitive=SENSITIVE,
    ),
)


class ReferenceContext(msgspec.Struct, frozen=True):
    """What the directives of one blueprint have in common."""

    bases: tuple[str, ...]  #: folders where references start
    roots: tuple[str, ...]  #: folders they may not leave
    shown: str  #: what messages call the bases
    kind: Tree  #: the kind of agents whose reference does not say it
    value: Any  #: the value being expanded
    whole: bool = True  #: whether it is a whole blueprint, so that its places have known types

    def read_source(self, node: Node, expansion: Expansion, *, as_text: bool) -> Source | None:
        """The file a node names; None, with a finding, if it cannot be read."""
        reference = node.reference
        policy = PathPolicy(max_bytes=expansion.session.limits.max_file_bytes, text=as_text)
        try:
            source = expansion.find_source(
                node, policy, bases=self.bases, roots=self.roots, embedded=codes.EMBEDDED_REFERENCE
            )
            if source is None:
                return None
            _require_file_name(reference)
            return source
        except FileProblem as problem:
            shown = Shown(reference)
            values: dict[str, Any] = {**problem.values, "reference": shown, "base": self.shown}
            if problem.code != core_codes.NOT_UTF8:
                values["file"] = shown
            expansion.report(node, problem.code, **values)
            return None


def _require_file_name(reference: str) -> None:
    """A slash at the end asks for a folder. Raises `FileProblem`, as opening it would."""
    if reference.endswith(("/", "/.")):
        raise FileProblem(core_codes.FILE_MISSING, file=reference)


def expand_references(
    tree: Tree, session: Session, context: ReferenceContext
) -> tuple[Tree, list[Fact]]:
    """A stage: the tree with every reference replaced, and what was found."""
    # The first that matches a mapping expands it, so the order matters.
    return expand_tree(
        tree, session, AgentMd(context), TextFile(context), UnknownDirective(context)
    )


class TextFile(Directive):
    """`{$file: path}`: the text of a file."""

    key: ClassVar[str] = FILE

    context: ReferenceContext
    #: by the identity of their sources
    texts: dict[int, Document] = msgspec.field(default_factory=dict)

    def matches(self, mapping: dict[str, Any]) -> bool:
        return len(mapping) == 1 and isinstance(mapping.get(FILE), str)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        needed = required_structure(self.context.value, node.path) if self.context.whole else None
        if needed is not None:
            advice = (
                "did you mean `$agent_md`?" if is_agent_entry(node.path) else "write it in place"
            )
            hint, found = f"`$file` always brings text; {advice}", "the text of a file"
            expansion.report(node, core_codes.WRONG_TYPE, expected=needed, found=found, hint=hint)
            return node.hole()
        source = self.context.read_source(node, expansion, as_text=True)
        if source is None:
            return node.hole()
        document = self.texts.get(id(source))
        if document is None:
            window = (0, len(source.text))  # a byte order mark is part of a raw text
            document = self.texts[id(source)] = Document(source, "text", source.text, window=window)
        return node.replace_with(Tree.from_document(document), "read by `$file` here")


class AgentMd(Directive):
    """`{$agent_md: path, …}`: the agent of a file, with fields replaced."""

    key: ClassVar[str] = AGENT_MD_KEY

    context: ReferenceContext
    #: by the identity of their sources
    agents: dict[int, Tree] = msgspec.field(default_factory=dict)

    def matches(self, mapping: dict[str, Any]) -> bool:
        return isinstance(mapping.get(AGENT_MD_KEY), str)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        # Each value on its own: a `$file` alone beside the reference is a field of the agent.
        siblings = expansion.walk_values(remove(node.tree, (AGENT_MD_KEY,)), node.path)
        source = self.context.read_source(node, expansion, as_text=False)
        if source is None:
            return node.hole()
        if id(source) not in self.agents:
            self.agents[id(source)] = self._load_agent(source, node, expansion)
        agent = self.agents[id(source)]
        if agent.value is HOLE:
            return node.hole()
        # The kind was decided in the blueprint, or by default, which the reference could change.
        decided = self.context.kind.origins.here or node.origin
        below = {**agent.origins.below, "kind": Origins(decided, skip=1)}
        agent = Tree(agent.value, agent.origins.replace(below=below))
        brought = node.add_via(agent, "brought in by `$agent_md` here")
        if siblings.value:
            siblings = Tree(siblings.value, siblings.origins.replace(via=(), skip=0))
            brought = merge(brought, siblings, lambda path, *_: "replace" if path else "merge")
        return node.put_in_place(brought)

    def _load_agent(self, source: Source, node: Node, expansion: Expansion) -> Tree:
        """The agent of a file; its findings name the reference that was first to bring it in."""
        header, facts = read_header(source)
        agent = node.hole()
        if header is not None:
            expansion.session.adopt(header)
            agent, found = agent_tree(header, self.context.kind)
            facts += found
        also = Also("brought in by `$agent_md` here", origin=node.origin)
        expansion.facts += [
            msgspec.structs.replace(each, also=(*each.also, also)) for each in facts
        ]
        return agent


class UnknownDirective(Directive):
    """A mapping with a `$key` that is not a reference: a slip, or data."""

    key: ClassVar[str] = "$"

    context: ReferenceContext

    def matches(self, mapping: dict[str, Any]) -> bool:
        return any(str(key)[:1] == "$" for key in mapping)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        # Findings inside are reported even if the mapping itself becomes a hole.
        inside = expansion.walk_values(node.tree, node.path)
        slips = [
            codes.DIRECTIVE_SLIP.at(
                part="key",
                origin=node.tree.provenance((key,)).origin,
                key=Shown(key),
                nearest=meant,
            )
            for key in node.value
            if key not in (FILE, AGENT_MD_KEY) and (meant := _guess_directive(str(key))) is not None
        ]
        if is_free_form(self.context.value, node.path):
            _report_oddities(node, expansion)
            expansion.facts += slips
        elif self.context.whole and AGENT_MD_KEY in node.value and is_agent_entry(node.path):
            found = Shown(node.value[AGENT_MD_KEY], as_found=True)
            expansion.report(
                node,
                core_codes.WRONG_TYPE,
                at=(AGENT_MD_KEY,),
                expected="a path as text",
                found=found,
            )
            return node.hole()
        elif self.context.whole and slips:
            expansion.facts += [msgspec.structs.replace(each, severity="error") for each in slips]
            return node.hole()
        return inside


def _report_oddities(node: Node, expansion: Expansion) -> None:
    """Warn about what looks like a reference among free-form data."""
    for key, value in node.value.items():
        if key in (FILE, AGENT_MD_KEY) and not isinstance(value, str):
            found = Shown(value, as_found=True)
            expansion.report(node, codes.REFERENCE_NOT_TEXT, at=(key,), directive=key, found=found)
        elif key == FILE:
            beside = Shown(tuple(each for each in node.value if each != FILE))
            expansion.report(node, codes.FILE_WITH_SIBLINGS, at=(key,), part="key", beside=beside)


def _guess_directive(key: str) -> str | None:
    """The directive that a key misspells. One letter is a slip; two are another word."""
    if not key.startswith("$"):
        return None
    folded = key[: len(AGENT_MD_KEY) + 2].lower().replace("-", "_")
    return next((each for each in (FILE, AGENT_MD_KEY) if edit_distance(folded, each) <= 1), None)


def is_agent_entry(path: Path) -> bool:
    """Whether a path is that of an agent or operator, where `$agent_md` must be a reference."""
    return len(path) == 2 and path[0] in ("agents", "operators")


# Places of a blueprint, and the types that the model has for them.

_STRUCTURES = (types.StructType, types.DictType, types.VarTupleType, types.BoolType, types.IntType)


def is_free_form(value: Any, path: Path) -> bool:
    """Whether a place of a blueprint takes anything: a literal, a spec, a hint.

    Elsewhere the model itself reports what is wrong.
    """
    return isinstance(_type_at(value, path), types.AnyType)


def required_structure(value: Any, path: Path) -> str | None:
    """What a place of a blueprint takes, in words, where it cannot take text; else None."""
    kind = _type_at(value, path)
    choices = kind.types if isinstance(kind, types.UnionType) else (kind,)
    if kind is None or not all(isinstance(each, _STRUCTURES) for each in choices):
        return None
    return describe(kind)


def _type_at(value: Any, path: Path) -> types.Type | None:
    """The type of the place at `path`, or of one above that takes anything; None if unknown."""
    kind: types.Type | None = _union_branch(type_info(Blueprint), value)
    for step in path:
        if kind is None or isinstance(kind, types.AnyType):
            return kind
        value = get(value, (step,))
        kind = _union_branch(_child_type(kind, step), value)
    return kind


def _child_type(kind: types.Type, step: str | int) -> types.Type | None:
    """The type one step below a type."""
    if isinstance(kind, types.StructType):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    if isinstance(kind, types.DictType):
        return kind.value_type
    return kind.item_type if isinstance(kind, types.VarTupleType) else None


def _union_branch(kind: types.Type | None, value: Any) -> types.Type | None:
    """The branch of a union that a value is meant for, by its tag."""
    if not isinstance(kind, types.UnionType):
        return kind
    rest = [each for each in kind.types if not isinstance(each, types.NoneType)]
    if len(rest) == 1:
        return rest[0]
    structs = [each for each in rest if isinstance(each, types.StructType)]
    tag = value.get(structs[0].tag_field) if structs and isinstance(value, dict) else None
    return next((each for each in structs if each.tag == tag), kind)
