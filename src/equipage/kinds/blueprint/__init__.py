"""Kind `blueprint`: a flow of agents, composed with `$file` and `$agent_md`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import ROOT
from equipage.core.source import Source, Span
from equipage.files.reading import display_name
from equipage.kinds.blueprint import codes, rules
from equipage.kinds.blueprint import rules as loose_ends
from equipage.kinds.blueprint import rules_agents as projections
from equipage.kinds.blueprint import rules_agents as runners
from equipage.kinds.blueprint import rules_agents as subprocesses
from equipage.kinds.blueprint import rules_flow as dialect
from equipage.kinds.blueprint import rules_flow as verdicts
from equipage.kinds.blueprint import walks as lints
from equipage.kinds.blueprint.agent import can_be_written
from equipage.kinds.blueprint.agent_model import AGENT_KINDS, DEFAULT_KIND, AgentKind
from equipage.kinds.blueprint.agent_model import written as agent_written
from equipage.kinds.blueprint.codes import CODES
from equipage.kinds.blueprint.expand import AGENT_MD, FILE, Context, expand
from equipage.kinds.blueprint.model import Blueprint
from equipage.kinds.blueprint.rules_flow import OPERANDS
from equipage.kinds.blueprint.walks import flow_parts
from equipage.loading.kind import Item, Kind, Presentation, Reading, Sensitive
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Origins, Tree, mapping
from equipage.syntax.document import Document, Format

# --- presenting --------------------------------------------------------------------------------
# What the commands show of a blueprint: its agents and operators, and the changes that matter.


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The blueprint itself, then its agents and operators."""
    yield Item("blueprint", str(plain.get("id")), (plain.get("metadata") or {}).get("description"))
    for group, sort in (("agents", "agent"), ("operators", "operator")):
        for number, each in enumerate(plain.get(group) or ()):
            profile = each.get("profile") or {}
            yield Item(sort, str(each.get("name")), profile.get("description"), (group, number))


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


# --- schema ------------------------------------------------------------------------------------
# What the JSON Schema of a blueprint says beyond the model: references, and operands under two names.

_FILE_REFERENCE = "FileReference"
_PATH = {"type": "string", "minLength": 1}


def with_references(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the model, with `$file` allowed for every text and `$agent_md` for every agent and operator."""
    definitions = {name: _texts_from_files(each) for name, each in schema["$defs"].items()}
    for operator, names in OPERANDS.items():
        owner = definitions[operator.capitalize()]
        owner["oneOf"] = [{"required": [name]} for name in names]
    for owner in ("Agent", "Operator"):
        definitions[f"{owner}Reference"] = _reference(definitions[owner])
    properties = definitions["Blueprint"]["properties"]
    for key, owner in (("agents", "Agent"), ("operators", "Operator")):
        choices = [{"$ref": f"#/$defs/{owner}"}, {"$ref": f"#/$defs/{owner}Reference"}]
        properties[key] = {**properties[key], "items": {"anyOf": choices}}
    definitions[_FILE_REFERENCE] = {
        "title": "The text of a file",
        "type": "object",
        "properties": {FILE: {**_PATH, "description": "a path from the blueprint's folder"}},
        "required": [FILE],
        "additionalProperties": False,
    }
    return {**schema, "$defs": definitions}


def _texts_from_files(schema: Any) -> Any:
    """A copy in which every text may come from a file. A single word is a tag, which says what its mapping is."""
    if isinstance(schema, list):
        return [_texts_from_files(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    words = schema.get("enum", ())
    if schema.get("type") == "string" or len([each for each in words if isinstance(each, str)]) > 1:
        kept = {key: schema[key] for key in ("title", "description", "default") if key in schema}
        inner = {key: each for key, each in schema.items() if key not in kept}
        return {**kept, "anyOf": [inner, {"$ref": f"#/$defs/{_FILE_REFERENCE}"}]}
    return {
        key: each if key in ("enum", "default") else _texts_from_files(each)
        for key, each in schema.items()
    }


def _reference(owner: dict[str, Any]) -> dict[str, Any]:
    """A reference to an agent file, with any field of its owner beside it."""
    path = {**_PATH, "description": "the path of an agent file, from the blueprint's folder"}
    return {
        "title": "An agent file",
        "type": "object",
        "properties": {AGENT_MD: path, **owner["properties"]},
        "required": [AGENT_MD],
        "additionalProperties": False,
    }


# --- blueprint.kind ----------------------------------------------------------------------------
# The kind `blueprint` as a value.

FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
_JSON_OBJECT = re.compile(r"""\s*\{\s*["}]""")

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


class BlueprintOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller may decide about a blueprint, and the document may not."""

    default_agent_kind: AgentKind | None = (
        None  #: of agents from files, where the blueprint does not say it
    )
    include_roots: tuple[
        str, ...
    ] = ()  #: folders where references are looked for after the blueprint's own


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """Read by extension, and by nothing else; a string is JSON if it starts like an object."""
    if source.path is None:
        wanted: Format | None = "json" if _JSON_OBJECT.match(source.text) else "yaml"
    else:
        extension = _extension(source.name)
        wanted = FORMATS.get(extension.lower())
        if wanted is None:
            values: dict[str, object] = {"extension": Shown(extension) if extension else "none"}
            return None, [Fact(codes.UNSUPPORTED_EXTENSION, values=values, span=Span(source, 0, 0))]
    document, facts = session.parse(source, wanted)
    if wanted == "json" and document is not None and document.value is None:
        expected = "a mapping (`blueprint`)"  # the file is not empty: it says `null`
        values = {"expected": expected, "found": Shown(None, as_found=True)}
        return None, [Fact(core_codes.WRONG_TYPE, values=values, origin=Origin(document))]
    return document, [_judged(each) for each in facts]


def _extension(name: str) -> str:
    """What follows the last dot, with the dot; a dot at the start makes a hidden file, not an extension."""
    stem, dot, rest = os.path.basename(name).rpartition(".")
    return dot + rest if stem else ""


def _judged(each: Fact) -> Fact:
    """Numbers and truth values can be written as text; null, collections and infinity cannot be a key."""
    if each.code != core_codes.NON_STRING_KEY:
        return each
    usable = can_be_written(each) and each.values.get("sort") != "null"
    return msgspec.structs.replace(each, severity="warning" if usable else "error")


def _expand(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    cwd = session.files.cwd
    roots = [os.path.join(cwd, root) for root in session.options.include_roots]
    bases = (session.base, *roots)
    shown = ", ".join(["the blueprint's folder", *(display_name(root, cwd) for root in roots)])
    kind = default_kind(tree, session.options)
    context = Context(bases, (*bases, *session.roots), shown, kind, tree.value)
    return expand(tree, session, context)


def default_kind(tree: Tree, options: BlueprintOptions) -> Tree:
    """The kind of agents whose reference does not say it: the blueprint's default, the caller's, or `operator`.

    A default that cannot be read yet, such as a `$file`, still keeps the caller's from counting.
    """
    if "default_agent_kind" in mapping(tree.value):
        given = tree.value["default_agent_kind"]
        if isinstance(given, str) and given in AGENT_KINDS:
            document = tree.story(ROOT).origin.document
            return Tree(given, Origins(Origin(document, ("default_agent_kind",))))
        return Tree(DEFAULT_KIND, Origins())
    return Tree(options.default_agent_kind or DEFAULT_KIND, Origins())


def written(config: Blueprint) -> Any:
    """The blueprint as plain data. Paths of a flow that today's programs read are in the form they print."""
    plain = agent_written(config)
    if dialect.runs_today(plain):
        for part in flow_parts(plain):
            if part.tag == "op" and part.name == "path":
                part.value["at"] = dialect.canonical_path(part.value["at"])
    return plain


KIND = Kind(
    name="blueprint",
    title="blueprint",
    model=Blueprint,
    reading=Reading(formats=FORMATS, read=_read, options=BlueprintOptions),
    strictness={
        "yaml:duplicate-key": "error",
        core_codes.EXTRA_DOCUMENT: "error",
        core_codes.UNKNOWN_TAG: "error",
        core_codes.MERGE_KEY: "error",
    },
    stages=(_expand,),
    rules=(
        rules.schema_version_is_semver,
        rules.time_to_live_fits,
        rules.origin_has_no_further_keys,
        rules.layers_exist,
        rules.document_names_no_folders,
        rules.names_are_unique,
        rules.steps_name_agents,
        rules.agents_are_used,
        rules.operators_exist,
        rules.other_names_exist,
        rules.agents_have_what_their_kind_needs,
        rules.hashes_are_those_of_prompts,
        rules.targets_are_paths,
        rules.placement_is_usable,
        dialect.operand_is_given_once,
        dialect.forms_are_not_mixed,
        dialect.paths_are_well_formed,
        verdicts.verdicts_are_read_as_promised,
        projections.projection_names_differ,
        subprocesses.templates_are_usable,
        subprocesses.programs_stream_in_a_known_way,
        subprocesses.scripts_have_no_mcp_tools,
        runners.strict_binding_binds,
        lints.lints_have_an_effect,
        loose_ends.names_are_not_empty,
        loose_ends.operators_are_used,
        loose_ends.audits_name_steps,
    ),
    codes=CODES,
    presentation=Presentation(
        schema=with_references, dump=written, example=EXAMPLE, listing=listing, sensitive=SENSITIVE
    ),
)


__all__ = ["KIND"]
