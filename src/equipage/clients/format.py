"""The table of a file of a client as a `Format`: model, stages and rules all follow from it.

`skills` has the kind whose table depends on the folder of the file.
"""

from __future__ import annotations

import functools
import keyword
import operator
import re
from _thread import RLock
from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

import msgspec

from equipage.clients import checks, codes, launchers, opencode, references
from equipage.clients.catalogue import (
    SKILL_TABLES,
    CompositeType,
    Convention,
    Field,
    Group,
    Names,
    OwnRules,
    convention_in,
    convention_of,
    conventions,
    patterns_in,
)
from equipage.clients.checks import NAMED_BY_TEXT
from equipage.clients.claude import layers as claude_layers
from equipage.clients.claude import rules as claude_rules
from equipage.clients.claude.hooks import EVENTS
from equipage.clients.codes import CODES
from equipage.clients.headers import read_as_client
from equipage.clients.index import KINDS
from equipage.clients.opencode.permissions import ASKED
from equipage.clients.plugins import extension_is_accepted
from equipage.core import codes as core_codes
from equipage.core.text import normalise_spelling
from equipage.files.walking import hidden_folders
from equipage.loading.format import (
    TOLERANT,
    Format,
    Item,
    Layering,
    Presentation,
    Reading,
    Sensitive,
    Together,
)
from equipage.loading.header import BODY, HeaderStyle, has_header, names_of_file
from equipage.loading.pipeline import Outcome
from equipage.loading.session import Request
from equipage.loading.shape import Shape
from equipage.syntax.document import Syntax
from equipage.syntax.header import CLOSED_ANYWHERE, CLOSED_AT_LINE_START, CONVENTION, Grammar

_FORMATS: dict[str, dict[str, Syntax]] = {
    "header": {".md": "yaml", ".mdc": "yaml"},
    "json": {".json": "json", ".jsonc": "json"},
    "yaml": {".yaml": "yaml", ".yml": "yaml"},
    "toml": {".toml": "toml"},
    "text": {".md": "yaml"},
}


#: What the table of skills is named for that no client has its own folder for.
_SPECIFICATION = "Agent Skills"
#: Kind → what its client checks beyond the table.
_OWNERS = (
    claude_rules.RULES,
    opencode.RULES,
    launchers.RULES,
    {
        "agentic-workflow": OwnRules((checks.workflow_is_compiled,), codes.WORKFLOW_CODES),
        "gemini-extension": OwnRules((extension_is_accepted,), codes.CLAUDE_CODES),
    },
)
_RULES_OF_CLIENTS = {kind: own for rules in _OWNERS for kind, own in rules.items()}
assert len(_RULES_OF_CLIENTS) == sum(map(len, _OWNERS)), "two owners of one kind"
_MODELS: dict[str, type[Any]] = {}
_MODEL_LOCK = RLock()  # one class for all threads, or a configuration would not pickle


def model_of(convention: Convention) -> type[Any]:
    """The Struct of a convention. Every field is optional here; `checks` reports missing ones."""
    name = _class_name(convention)
    with _MODEL_LOCK:
        if name not in _MODELS:
            _MODELS[name] = _make_model(convention, name)
        return _MODELS[name]


def _make_model(convention: Convention, name: str) -> type[Any]:
    fields = _attributes(convention.fields)
    if convention.syntax in ("header", "text"):
        fields.append((BODY, str, msgspec.field(default="")))
    namespace = {
        "TITLE": convention.title_with_article,
        "meaning_of": staticmethod(partial(_meaning_of, convention.fields)),
    }
    return _define_struct(name, fields, namespace)


def _meaning_of(fields: tuple[Field, ...], attribute: str) -> str:
    """What the table says about the field of an attribute."""
    # An attribute that Python reserves ends with `_`.
    names = (attribute, attribute.rstrip("_"))
    field = next((each for each in fields if re.sub(r"\W", "_", each.name) in names), None)
    if field is None:
        return "the text below the header" if attribute == BODY else ""
    return "; ".join(_field_facts(field))


def _field_facts(field: Field) -> Iterator[str]:
    if field.meaning:
        yield field.meaning
    if field.required == "error":
        yield "**required**: the tool ignores a file without it"
    elif field.required:
        yield "recommended"
    if field.restricts:
        yield "*restricts* the agent, so a misspelling is an error"
    if field.split is not None:
        yield f"a list, or text divided at `{field.split}`"
    if field.refers is not None:
        yield f"every {field.refers} it names must exist"
    if field.instead:
        others = ", ".join(f"`{name}`" for name in field.instead)
        yield f"common misspelling, which the tool ignores: {others}"


def _attributes(fields: tuple[Field, ...]) -> list[tuple[str, Any, Any]]:
    return [
        (
            _attribute_name(field.name),
            _field_type(field.type) | None,
            msgspec.field(default=None, name=field.name),
        )
        for field in fields
    ]


def _define_struct(
    name: str, fields: list[tuple[str, Any, Any]], namespace: dict[str, Any]
) -> type[Any]:
    return msgspec.defstruct(
        name,
        fields,
        frozen=True,
        forbid_unknown_fields=True,
        omit_defaults=True,
        kw_only=True,
        module=__name__,
        namespace=namespace,
    )


def _field_type(part: Any) -> Any:
    """The type of a field as msgspec knows it: groups are Structs of their own."""
    if isinstance(part, Group):
        return _group_struct(part)
    if not isinstance(part, CompositeType):
        return part
    parts = [_field_type(each) for each in part.parts]
    if part.how == "either":
        return functools.reduce(operator.or_, parts)
    first: Any = parts[0]
    return tuple[first, ...] if part.how == "list" else dict[str, first]


def _group_struct(group: Group) -> type[Any]:
    """The Struct of a group, the same for every thread."""
    with _MODEL_LOCK:  # two threads that miss the cache at once would each make one
        return _make_group_struct(group)


@functools.cache
def _make_group_struct(group: Group) -> type[Any]:
    """Make the Struct of a group. Walks over its values read the attributes in capitals."""
    namespace = {
        "TITLE": group.title,
        "FIELDS": group.fields,
        "meaning_of": staticmethod(partial(_meaning_of, group.fields)),
        "GUARDED": frozenset(field.name for field in group.fields if field.restricts),
        "SYNONYMS": {other: field.name for field in group.fields for other in field.instead},
        "UNKNOWN": group.unknown,
    }
    return _define_struct(
        _to_class_name(group.title.partition(" ")[2]), _attributes(group.fields), namespace
    )


def _class_name(convention: Convention) -> str:
    # Several tools read skills, each with fields of its own.
    return _to_class_name(
        f"{convention.tool} skill" if convention.kind == "skill" else convention.title
    )


def _to_class_name(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", text))


def __getattr__(name: str) -> Any:
    """The model of a convention or group by the name of its class, so that configurations pickle.

    Only names that a class may have are looked up: importing a module asks for others.
    """
    if not name.startswith("_"):
        for convention in (*conventions(), *map(convention_in, SKILL_TABLES)):
            if _class_name(convention) == name:
                return model_of(convention)
            for group in groups_of(convention):
                if _group_struct(group).__name__ == name:
                    return _group_struct(group)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def groups_of(convention: Convention) -> Iterator[Group]:
    """Every group of a convention, those inside groups included."""
    waiting = [field.type for field in convention.fields]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Group):
            yield part
            waiting += [field.type for field in part.fields]
        elif isinstance(part, CompositeType):
            waiting += part.parts


def _attribute_name(name: str) -> str:
    """The name of a field as an identifier of Python."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if keyword.iskeyword(plain) or plain == BODY else plain


def _header_style(convention: Convention) -> HeaderStyle | None:
    """What the header of a convention looks like, None for files without one."""
    if convention.syntax != "header":
        return None
    is_disputed = convention.kind == "skill" and convention.reader == "claude"
    return HeaderStyle(
        convention.title,
        grammar=_grammar(convention),
        known=convention.field_names,
        tool="Claude Code" if convention.reader == "claude" else convention.tool,
        reader=convention.reader,
        reread=partial(read_as_client, reader=convention.reader),
        optional=convention.header_optional,
        # Claude Code takes the first line of the text for a description; the others drop the skill.
        disputed_below=_known_agent_folders if is_disputed else None,
        ignores_headerless=convention.ignores_headerless,
        ignores_below="/.claude/agents/" if convention.kind == "claude-agent" else None,
    )


@cache
def _known_agent_folders() -> frozenset[str]:
    """The hidden folders in which files of some kind live."""
    of_clients = hidden_folders(glob for each in KINDS.values() for glob in each.paths)
    return (of_clients | {".defect", ".well-known", ".agent"}) - {".config"}


def _grammar(convention: Convention) -> Grammar:
    """Where the client ends a header, as it was measured."""
    if convention.reader == "claude" or convention.tool == "Gemini CLI":
        return CLOSED_ANYWHERE
    return CLOSED_AT_LINE_START if convention.reader == "opencode" else CONVENTION


def hook_events(kind: str) -> dict[str, str]:
    """The events that the hooks of a file may be for, each with what it is."""
    return dict.fromkeys(EVENTS, "an event of Claude Code") if kind.startswith("claude-") else {}


def author_schema(convention: Convention, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema for editors, which also accepts names in one text and values of another type.

    Checking reports a value of another type as a warning, so the schema must not refuse it.
    """
    _mark_required(convention, schema["$defs"])
    if convention.mismatch == "error" or convention.wraps is not None:
        return _unwrap_schema(convention, schema)
    properties = schema["$defs"][_class_name(convention)]["properties"]
    for field in convention.fields:
        # Text may be a list of names; in a header, a number or bool becomes text. Nothing else is
        # forgiven.
        forgiven = ["string"] if field.split is not None else []
        is_text = field.type is str and convention.syntax in ("header", "yaml")
        is_strict = field.name == "name" and convention.kind in NAMED_BY_TEXT
        forgiven += ["number", "boolean"] if is_text and not is_strict else []
        slot = properties[field.name]
        is_open = any(not each or "not" in each for each in slot.get("anyOf", [{}]))
        if forgiven and not is_open:
            properties[field.name] = {**slot, "anyOf": [*slot["anyOf"], {"type": forgiven}]}
    if not (convention.header_optional or convention.ignores_headerless):
        return schema
    # The schema of the whole file moves into one of two alternatives.
    root = {key: value for key, value in schema.items() if key not in ("$schema", "title", "$defs")}
    rest = {key: value for key, value in schema.items() if key not in root}
    # Where the header is optional, anything else between dashes is text like the rest of the file.
    return {**rest, "anyOf": [root, {"not": {"type": "object"}}]}


#: What tools need depends on where a file lies, or on another file.
_KINDS_WITH_VARYING_NEEDS = ("claude-agent", "codex-agent")
_NULL = {"type": "null"}


def _mark_required(convention: Convention, definitions: dict[str, Any]) -> None:
    """Tell a schema which fields must be there, and where `null` is not the same as absent."""
    tables = [(_group_struct(each).__name__, each.fields) for each in groups_of(convention)]
    if (
        convention.kind not in _KINDS_WITH_VARYING_NEEDS
        and convention.wraps is None
        and convention.measured
    ):
        tables.append((_class_name(convention), convention.fields))
    for name, fields in tables:
        # What was written instead has a finding of its own.
        needed = [each.name for each in fields if each.required == "error" and not each.instead]
        for definition in (definitions[each] for each in (name, f"{name}_") if each in definitions):
            if needed:
                definition["required"] = needed
            _refuse_null(definition["properties"], needed)
    own = definitions[_class_name(convention)]["properties"]
    if convention.kind == "claude-settings":  # one null, and the whole file counts for nothing
        _refuse_null(own, own.keys() - {"hooks", "teammateDefaultModel"})
    if convention.reader == "opencode":
        _refuse_null(own, [each.name for each in convention.fields if each.type is str])


def _refuse_null(properties: dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        slot = properties[name]
        if "anyOf" in slot:
            # Where any value is taken, null still is not.
            kept = [_exclude_null(each) for each in slot["anyOf"] if each != _NULL]
            properties[name] = {**slot, "anyOf": kept}


def _exclude_null(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a schema that forgives other types, but for null."""
    if not part:
        return {"not": _NULL}
    others = part.get("not", {}).get("type")
    return {"not": {"type": [*others, "null"]}} if isinstance(others, list) else part


def _unwrap_schema(convention: Convention, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what authors write, where the whole file is one field of the model."""
    if convention.wraps is None:
        return schema
    root = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    return {
        "title": schema["title"],
        **root["properties"][convention.wraps],
        "$defs": schema["$defs"],
    }


def list_item(convention: Convention, plain: Any, file: str) -> Iterator[Item]:
    """The file as its tool sees it."""
    fields: dict[str, Any] = plain if isinstance(plain, dict) else {}
    folder, _, name = file.rpartition("/")
    stem = next(
        (name.removesuffix(each) for each in convention.suffixes if name.endswith(each)), name
    )
    default = folder.rpartition("/")[2] if convention.identity == "folder" else stem
    written, description = fields.get("name"), fields.get("description")
    yield Item(
        convention.sort,
        written if isinstance(written, str) and convention.identity != "file" else default,
        description if isinstance(description, str) else None,
    )


def is_ignored(convention: Convention, outcome: Outcome) -> bool:
    """Whether the tool ignores the file: notes beside its agents have no header."""
    documents = outcome.documents
    return convention.ignores_headerless and bool(documents) and not has_header(documents[0])


def sensitive_of(convention: Convention) -> tuple[Sensitive, ...]:
    """What `diff` shows first: fields that restrict the agent, and prompts."""
    restricting = (
        Sensitive(pattern, "permission")
        for pattern, field in patterns_in(convention.fields)
        if field.restricts
    )
    prompts = (Sensitive(name, "prompt") for name in ("description", BODY, "prompt"))
    return (*restricting, *prompts)


#: Fields that only describe: in no tool do they change what an agent does.
_DESCRIPTIVE_FIELDS = frozenset(
    {"name", "description", "title", "version", "author", "license", "metadata", "tags", "color"}
    | {"category", "keywords", "compatibility", "homepage", "$schema", "prompt", "body", "hidden"}
    | {"argument-hint", "display_name", "displayName"}
)
#: What people write to restrict an agent, in one tool or another.
_RESTRICTING_FIELDS = ("permissions", "denied-tools", "tool-access", "sandbox", "read-only")
_LISTED_SORTS = ("skill", "command", "agent", "qwen agent")
_ACTING_SORTS = ("agent", "command", "skill", "rule", "prompt", "instructions")


#: What people write into a file although the tool reads it in another one → that one.
_MISPLACED_FIELDS = {"claude-settings": {"mcpServers": "an `.mcp.json` file"}}


#: Fields of so many things that one at another level was not meant.
_COMMON_FIELDS = frozenset(
    {"enabled", "disabled", "type", "command", "args", "env", "url", "path", "timeout", "model"}
    | {"agent", "id", "mode", "source", "default", "network", "tools", "skills", "headers", "cwd"}
)


def fields_by_level(convention: Convention) -> dict[str, tuple[str, bool]]:
    """The fields that a file has at one level alone → its path, and whether they restrict."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for pattern, field in patterns_in(convention.fields):
        parent = pattern[: -len(field.name) - 1]
        if "*" not in parent and convention.wraps is None:
            found.setdefault(normalise_spelling(field.name), []).append((parent, field.restricts))
    events = hook_events(convention.kind) if convention.kind != "claude-hooks" else ()
    asked = ASKED if convention.kind == "opencode-config" else ()
    for parent, names in (("hooks", events), ("permission", asked)):
        for name in names if parent in convention.field_names else ():
            found.setdefault(normalise_spelling(name), [(parent, True)])
    return {
        name: places[0]
        for name, places in found.items()
        if len(places) == 1 and name not in _COMMON_FIELDS | _DESCRIPTIVE_FIELDS
    }


def _program_of(convention: Convention) -> str:
    """The tool with its version, as far as it was run."""
    if convention.tool in (_SPECIFICATION, "agents"):
        return "no tool is"
    return " ".join(filter(None, (convention.tool, convention.version, "is not")))


def _lists_that_restrict(convention: Convention) -> Iterator[str]:
    """The fields that restrict by names or, without any, those that are more than a switch."""
    fields = [each for each in convention.fields if each.restricts and each.type is not bool]
    lists = [each for each in fields if each.type == Names]
    yield from (f"`{each.name}`" for each in lists or fields)


def restrictions_of_other_agents(convention: Convention) -> frozenset[str]:
    """The fields by which an agent of another client is restricted, and this one is not."""
    if convention.sort != "agent" or not convention.restricting_fields:
        return frozenset()
    others = (each.restricting for each in KINDS.values() if each.sort == "agent")
    return frozenset(map(normalise_spelling, frozenset(_RESTRICTING_FIELDS).union(*others)))


def fields_of_other_files(convention: Convention) -> dict[str, str]:
    """The fields of other files that a key may have been meant as → what reads them."""
    found = dict(_MISPLACED_FIELDS.get(convention.kind, {}))
    if convention.syntax != "header":
        return {normalise_spelling(name): where for name, where in found.items()}
    # The first that has a field is named; skills come last.
    for kind, other in sorted(KINDS.items(), key=lambda each: each[0] == "skill"):
        # A file that ends with `.mdc` outside the folder of Cursor may be a rule of Windsurf.
        is_alike = {convention.kind, kind} == {"cursor-rule", "windsurf-rule"}
        if other.syntax == "header" and other.sort in _ACTING_SORTS and not is_alike:
            # `allowedTools` of Qwen Code is far more often a field of the tool itself, misspelt;
            # `options` of OpenCode is one of many words for arguments.
            common = _DESCRIPTIVE_FIELDS | {"allowedTools", "options"}
            fields = (name for name in other.fields if name not in common)
            found = {**dict.fromkeys(fields, other.title_with_article), **found}
    found |= dict.fromkeys(_RESTRICTING_FIELDS, "other tools")
    return {
        normalise_spelling(name): where
        for name, where in found.items()
        if name not in convention.field_names
    }


#: Fields that spare the user a question. Without them, the agent asks: nothing is more open.
_PREAPPROVING_FIELDS = frozenset({"allowed-tools"})


def _fields_that_must_fit(convention: Convention) -> frozenset[str]:
    """The fields whose values have to fit, or the tool drops the file or the field."""
    found = convention.mandatory_fields | (_PREAPPROVING_FIELDS & convention.field_names)
    # Without these a skill or command is listed, but nothing says when to use it.
    # What lies in no folder of a tool may be a template.
    if convention.kind in ("skill", "claude-command") and convention.tool != _SPECIFICATION:
        found |= {"name", "description"}
    return found


def format_of(convention: Convention) -> Format:
    """The format of a convention; its model, stages and rules follow from the table."""
    own = _RULES_OF_CLIENTS.get(convention.kind, OwnRules((), ()))
    is_listed = convention.sort in _LISTED_SORTS
    more = (*(codes.COPY_CODES if is_listed else ()), *own.codes)
    rules = (*checks.RULES, *own.rules)
    events = hook_events(convention.kind) if convention.kind == "claude-hooks" else ()
    return Format(
        name=convention.kind,
        title=convention.title,
        model=model_of(convention),
        reading=Reading(
            syntaxes=_FORMATS[convention.syntax],
            read=partial(checks.read, convention, _header_style(convention)),
            variables=False,
        ),
        strictness={**TOLERANT, core_codes.NON_STRING_KEY: "warning"},
        shape=Shape(
            unknown=convention.unknown,
            null_is_absent=True,
            mismatch=convention.mismatch,
            worst="error" if convention.measured else "warning",
            guarded=convention.restricting_fields - _PREAPPROVING_FIELDS,
            needed=_fields_that_must_fit(convention),
            synonyms=convention.synonyms,
            elsewhere=fields_of_other_files(convention),
            lost=restrictions_of_other_agents(convention),
            instead=f"; write {' or '.join(_lists_that_restrict(convention))}",
            levels=fields_by_level(convention),
            unlisted=convention.unlisted.union(events),  # whose place has a finding of its own
            program=_program_of(convention),
            sets=convention.sort == "settings",
            describing=_DESCRIPTIVE_FIELDS - {"name", "description"},
            ignores=True,
        ),
        stages=tuple(partial(stage, convention) for stage in checks.STAGES),
        checks=tuple(partial(rule, convention) for rule in rules),
        together=Together(
            set_rules=(partial(references.names_are_unique, convention),),
            set_key=partial(references.scoped_name, convention),
            cross_rules=(partial(references.references_exist, convention),),
            codes=(codes.NAME_TAKEN, codes.UNKNOWN_REFERENCE),
            offers=names_of_file,
            weigh=references.size_and_checksum if is_listed else None,
            refers=partial(references.has_references, convention),
        ),
        codes=(*CODES, *more),
        layering=_settings_layering() if convention.kind == "claude-settings" else Layering(),
        presentation=Presentation(
            hidden=BODY,
            schema=partial(author_schema, convention),
            example=convention.example,
            example_path=convention.example_path,
            listing=partial(list_item, convention),
            ignored=partial(is_ignored, convention),
            sensitive=sensitive_of(convention),
        ),
    )


def _settings_layering() -> Layering:
    def merge(path: str, request: Request) -> Outcome | None:
        settings = convention_format("claude-settings")
        return claude_layers.merge_layers_of_file(settings, path, request)

    return Layering(layer=claude_layers.layer_of, stack=merge, unseen=claude_layers.UNSEEN)


@cache
def convention_format(name: str) -> Format:
    """The kind of a convention; its model is made when it is first asked for."""
    convention = convention_of(name)
    assert convention is not None
    return format_of(convention)
