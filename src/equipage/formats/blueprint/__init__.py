"""Kind `blueprint`: a flow of agents, composed with `$file` and `$agent_md`.

`FORMAT` loads blueprints from files and strings. `expand` is for programs that hold one as a value:
it replaces the references, and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from operator import is_not
from typing import Any, cast

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import LoadError, UsageError
from equipage.core.frozen import (
    MAX_ADDED_NODES,
    MAX_DEPTH,
    is_deeper_than,
    levels,
    outweighs,
    plain_data,
)
from equipage.core.text import lazy_regex
from equipage.files import display_name, folder_argument, folders_argument
from equipage.formats.blueprint import codes, rules, rules_agents, rules_flow
from equipage.formats.blueprint.agent import AGENT_MD_KEY, FILE, ReferenceContext, expand_references
from equipage.formats.blueprint.model import AGENT_KINDS, DEFAULT_KIND, AgentKind, Blueprint
from equipage.formats.blueprint.rules import canonical_path, expressions
from equipage.loading.pipeline import place_in_outcome, place_without_outcome
from equipage.plugin import (
    ROOT,
    Diagnostic,
    Document,
    Fact,
    Format,
    Item,
    Origin,
    Origins,
    Outcome,
    Presentation,
    Reading,
    Request,
    Sensitive,
    Session,
    Severity,
    Shown,
    Source,
    Span,
    Tree,
    mapping_or_empty,
)
from equipage.syntax.document import Syntax

__all__ = ["FORMAT", "expand", "expand_and_report", "pre_read_default_agent_kind"]

FORMATS: dict[str, Syntax] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
#: A brace, then a quoted key or the other brace. In YAML `{a: 1}` starts with a brace, too.
_JSON_OBJECT = lazy_regex(r"""\s*\{\s*["}]""")


class BlueprintOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options for loading a blueprint, which the document itself cannot set."""

    default_agent_kind: AgentKind | None = None
    """The kind of agents from files, where neither the reference nor the blueprint says it."""
    include_roots: tuple[str, ...] = ()
    """Further folders in which references are looked up, after the blueprint's own."""


# Reading and expanding.


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """Only the extension of a file decides its format; a string is JSON if it starts like it."""
    if source.filename is None:
        wanted: Syntax | None = "json" if _JSON_OBJECT.match(source.text) else "yaml"
    else:
        # A dot at the start makes a hidden file, not an extension.
        stem, dot, rest = os.path.basename(source.name).rpartition(".")
        extension = dot + rest if stem else ""
        wanted = FORMATS.get(extension.lower())
        if wanted is None:
            shown = Shown(extension) if extension else "none"
            span = Span(source, 0, 0)
            return None, [codes.UNSUPPORTED_EXTENSION.at(span=span, extension=shown)]
    document, facts = session.parse(source, wanted)
    if wanted == "json" and document is not None and document.value is None:
        # The file is not empty: it says `null`.
        expected, found = "a mapping (`blueprint`)", Shown(None, as_found=True)
        here = Origin(document)
        return None, [core_codes.WRONG_TYPE.at(origin=here, expected=expected, found=found)]
    return document, facts


def _key_severity(each: Fact) -> Severity:
    """Numbers and truth values can be written as text; null, collections and infinity cannot."""
    return "warning" if each.values.get("sort") == "scalar" else "error"


def _expand(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    cwd = session.files.cwd
    roots = [os.path.join(cwd, root) for root in session.options.include_roots]
    bases = (session.base, *roots)
    shown = ", ".join(["the blueprint's folder", *(display_name(root, cwd) for root in roots)])
    kind = _default_kind(tree, session.options)
    return expand_references(
        tree, session, ReferenceContext(bases, (*bases, *session.roots), shown, kind, tree.value)
    )


def _default_kind(tree: Tree, options: BlueprintOptions) -> Tree:
    """The kind of agents whose reference does not say it, and where that was decided.

    The blueprint decides before the caller, even with a value that is not known yet, such as a
    `$file`. If neither does, it is `operator`.
    """
    key = "default_agent_kind"
    if key not in mapping_or_empty(tree.value):
        return Tree(options.default_agent_kind or DEFAULT_KIND, Origins())
    kind = pre_read_default_agent_kind(tree.value)
    if kind != tree.value[key]:
        return Tree(kind, Origins())
    return Tree(kind, Origins(Origin(tree.provenance(ROOT).origin.document, (key,))))


# The JSON Schema: what references and operands under two names add to that of the model.

_PATH = {"type": "string", "minLength": 1}
_FROM_FILE = {"$ref": "#/$defs/FileReference"}


def add_references_to_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the model, with `$file` for every text, `$agent_md` for agents and operators,
    and exactly one of the two names of an operand."""
    definitions = {name: _allow_text_from_files(each) for name, each in schema["$defs"].items()}
    for operator, names in rules_flow.OPERANDS.items():
        owner = definitions[operator.capitalize()]
        owner["oneOf"] = [{"required": [name]} for name in names]
    properties = definitions["Blueprint"]["properties"]
    for key, owner in (("agents", "Agent"), ("operators", "Operator")):
        path = {**_PATH, "description": "the path of an agent file, from the blueprint's folder"}
        fields = {AGENT_MD_KEY: path, **definitions[owner]["properties"]}
        definitions[f"{owner}Reference"] = _mapping_of("An agent file", fields, AGENT_MD_KEY)
        choices = [{"$ref": f"#/$defs/{owner}"}, {"$ref": f"#/$defs/{owner}Reference"}]
        properties[key] = {**properties[key], "items": {"anyOf": choices}}
    path = {**_PATH, "description": "a path from the blueprint's folder"}
    definitions["FileReference"] = _mapping_of("The text of a file", {FILE: path}, FILE)
    return {**schema, "$defs": definitions}


def _allow_text_from_files(schema: Any) -> Any:
    """A copy of a schema in which every text may come from a file.

    A choice of a single word stays: it is the tag that says what its mapping is.
    """
    if isinstance(schema, list):
        return [_allow_text_from_files(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    words = [each for each in schema.get("enum", ()) if isinstance(each, str)]
    if schema.get("type") == "string" or len(words) > 1:
        kept = {key: schema[key] for key in ("title", "description", "default") if key in schema}
        inner = {key: each for key, each in schema.items() if key not in kept}
        return {**kept, "anyOf": [inner, _FROM_FILE]}
    return {
        key: each if key in ("enum", "default") else _allow_text_from_files(each)
        for key, each in schema.items()
    }


def _mapping_of(title: str, properties: dict[str, Any], needed: str) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": [needed],
        "additionalProperties": False,
    }


# What commands show and write.

SENSITIVE = (
    Sensitive("agents.*.profile.tools", "permission"),
    Sensitive("operators.*.profile.tools", "permission"),
    Sensitive("runners.*.runner.tools", "permission"),
    Sensitive("**.system_prompt", "prompt"),
    Sensitive("agents.*.profile.description", "prompt"),
    Sensitive("subprocesses.*", "tool"),
    Sensitive("agents.*", "agent"),
    Sensitive("operators.*", "agent"),
)

EXAMPLE = """\
id: NAME
default_agent_kind: agent_block
flow:
  kind: step
  ref: writer
  in: {op: path, at: $.task}
  out: {op: path, at: $.answer}
agents:
  - name: writer
    kind: agent_block
    profile:
      system_prompt: You answer the task in one paragraph.
      model: sonnet
"""


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The blueprint itself, then its agents and operators."""
    yield Item("blueprint", str(plain.get("id")), (plain.get("metadata") or {}).get("description"))
    for group, sort in (("agents", "agent"), ("operators", "operator")):
        for number, each in enumerate(plain.get(group) or ()):
            profile = each.get("profile") or {}
            yield Item(sort, str(each.get("name")), profile.get("description"), (group, number))


def dump_blueprint(config: Blueprint) -> Any:
    """The blueprint as plain data, as the programs that read blueprints write it.

    Fields of the first version have their defaults, later ones are there only if they are set.
    Paths are canonical if current programs can read the flow.
    """
    plain = plain_data(config, spelled_out=True)
    if rules_flow.is_in_current_form(plain):
        for part in expressions(plain, ("path",)):
            part.value["at"] = canonical_path(part.value["at"])
    return plain


FORMAT = Format(
    name="blueprint",
    title="blueprint",
    model=Blueprint,
    reading=Reading(syntaxes=FORMATS, read=_read, options=BlueprintOptions, variables=False),
    strictness={
        "yaml:duplicate-key": "error",
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.MERGE_KEY: "error",
        core_codes.NON_STRING_KEY: _key_severity,
    },
    stages=(_expand,),
    checks=(*rules.RULES, *rules_agents.RULES, *rules_flow.RULES),
    codes=codes.CODES,
    presentation=Presentation(
        schema=add_references_to_schema,
        dump=dump_blueprint,
        example=EXAMPLE,
        listing=listing,
        sensitive=SENSITIVE,
    ),
)


# References in values.


def expand(
    value: Any,
    base: str | os.PathLike[str],
    default_kind: AgentKind = DEFAULT_KIND,
    *,
    include_roots: Iterable[str | os.PathLike[str]] = (),
) -> Any:
    """A value with its `$file` and `$agent_md` references replaced by what they mean.

    The value alone, as `expand_file_refs` of the original returns it, so that the result can be
    used as it is, whether it is a mapping, a list or a text. Errors raise `LoadError`. A program
    that looks at warnings calls `expand_and_report`, which takes these arguments as well.

    >>> equipage.expand({"prompt": {"$file": "greeting.txt"}}, ".")
    {'prompt': 'Hello!'}
    """
    return expand_and_report(value, base, default_kind, include_roots=include_roots)[0]


def expand_and_report(
    value: Any,
    base: str | os.PathLike[str],
    default_kind: AgentKind = DEFAULT_KIND,
    *,
    include_roots: Iterable[str | os.PathLike[str]] = (),
) -> tuple[Any, tuple[Diagnostic, ...]]:
    """A value with its references replaced, and the warnings about the files they lead to.

    Paths start at the folder `base`, then at `include_roots`, and may not leave them. Agents from
    files are of the kind `default_kind` unless a `kind` beside the reference says otherwise. The
    value given is not changed, and need not be a whole blueprint. Parts without references are
    shared with the result, not copied; tuples count as lists.

    Raises `LoadError` with every error found, and `UsageError` for an unknown kind.

    >>> from equipage.blueprints import expand_and_report
    >>> value, warnings = expand_and_report({"prompt": {"$file": "greeting.txt"}}, ".")
    >>> value, warnings
    ({'prompt': 'Hello!'}, ())
    """
    if default_kind not in AGENT_KINDS:
        known = ", ".join(AGENT_KINDS)
        raise UsageError(f"there is no agent kind `{default_kind}` (known: {known})")
    folder = folder_argument("base", base)
    bases = (folder, *folders_argument("include_roots", include_roots))
    request = Request(env={}, project=folder)
    session = Session(FORMAT, request, request.new_run(), folder, base=folder)
    if is_deeper_than(value, MAX_DEPTH):  # also if it contains itself
        _refuse(core_codes.NESTING_TOO_DEEP.at(limit=MAX_DEPTH))
    value = _replace_tuples(value, {})
    _check_value(value)
    kind, shown = Tree(default_kind, Origins()), ", ".join(map(session.files.name_of, bases))
    context = ReferenceContext(bases, bases, shown, kind, value, whole=False)
    tree, facts = expand_references(_tree_of_value(value, ""), session, context)
    if facts:  # only findings need the value as a text, which costs more than all the rest
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        tree, facts = expand_references(_tree_of_value(value, text), session, context)
    outcome = Outcome(FORMAT, None, (), session, tree, tuple(session.documents))
    diagnostics = place_in_outcome(outcome, facts)
    if any(each.severity == "error" for each in diagnostics):
        raise LoadError(diagnostics)
    return tree.value, tuple(diagnostics)


def pre_read_default_agent_kind(value: Any) -> AgentKind:
    """The kind that a blueprint gives to agents whose reference does not say it.

    `operator` if the blueprint does not say it either, or names a kind that does not exist.

    >>> equipage.pre_read_default_agent_kind({"id": "a", "default_agent_kind": "lua"})
    'lua'
    """
    kind = mapping_or_empty(value).get("default_agent_kind")
    is_known = isinstance(kind, str) and kind in AGENT_KINDS
    return cast(AgentKind, kind) if is_known else DEFAULT_KIND


def _tree_of_value(value: Any, text: str) -> Tree:
    """A value as if it came from a document with this text, so that findings have a place in it."""
    return Tree.from_document(Document(Source.of_text("<value>", text), "json", value))


def _refuse(fact: Fact) -> None:
    raise LoadError([place_without_outcome(fact, "<value>")])


def _check_value(value: Any) -> None:
    """Raise `LoadError` for a value that cannot be written as a document, or is too large."""
    containers = {id(node): node for level in levels(value) for node in level}.values()
    keys = (key for node in containers if isinstance(node, dict) for key in node)
    odd = [key for key in keys if not isinstance(key, str | int | float | None)]
    if odd:
        _refuse(core_codes.NON_STRING_KEY.at(key=Shown(str(odd[0])), quoted=Shown(str(odd[0]))))
    # Parts that are shared, as aliases make them, are walked wherever they occur.
    if outweighs(value, MAX_ADDED_NODES + sum(1 + len(node) for node in containers)):
        _refuse(core_codes.COMPOSED_TOO_LARGE.at(limit=f"{MAX_ADDED_NODES} values"))


def _replace_tuples(value: Any, known: dict[int, Any]) -> Any:
    """The value with lists for tuples; a part without tuples below it stays the same object."""
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) not in known:
        old = list(value.values() if isinstance(value, dict) else value)
        new = [_replace_tuples(child, known) for child in old]
        changed = isinstance(value, tuple) or any(map(is_not, new, old))
        copy = dict(zip(value, new, strict=True)) if isinstance(value, dict) else new
        known[id(value)] = copy if changed else value
    return known[id(value)]
