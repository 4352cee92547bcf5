"""The two wire forms of expressions, and the paths in them.

The older form writes `le`, `ge`, `operand`, `operands`, `of` and `exists` with a path; the newer one `lte`, `gte`,
`arg` and `args`, has `mod` and `call_extern`, and reads paths when it loads. Files of both are around under one
version number, so both load. A flow that mixes them runs nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.diagnostics import Also, Change, Fact, Remedy, Severity, Shown, fact
from equipage.kinds.blueprint.parts import FlowPart, flow_parts, items
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

#: Operators that only one form has: older to newer name, and back.
_NEWER_OPERATORS: dict[str, str | None] = {"le": "lte", "ge": "gte"}
_OLDER_OPERATORS: dict[str, str | None] = {"lte": "le", "gte": "ge", "mod": None, "call_extern": None}
#: The field of an operator, in the newer and in the older form.
OPERANDS: dict[str, tuple[str, str]] = {
    "not": ("arg", "operand"),
    "and": ("args", "operands"),
    "or": ("args", "operands"),
    "exists": ("arg", "at"),
    "len": ("arg", "of"),
}
_SEGMENT = re.compile(r"""\.?\["(?P<quoted>[^"]+)"\]|\.(?P<plain>[^.\[]+)""")


#: Fields that came after the last program which reads the older form, by where they stand. The `lints` of an agent
#: are not among them: in a header they were a key like any other.
_LATER: dict[str, tuple[str, ...]] = {
    "blueprint": (
        *("default_init_ctx", "default_agent_ctx", "default_context_policy", "metas", "projection_placement"),
        *("audits", "degradation_policy", "runners", "default_runner", "check_policy", "blueprint_ref_includes"),
        "subprocesses",
    ),
    "metadata": ("strict_verdict_handling", "lints"),
    "strategy": ("strict_binding",),
    "agent": ("runner", "runner_ref", "verdict"),
    "meta": ("ctx", "context_policy", "meta_ref", "projection_name"),
}


class _Mark(msgspec.Struct, frozen=True):
    """A spelling that only one of the forms has."""

    path: Path
    spelled: str
    instead: str | None
    is_key: bool = False


class _Forms(msgspec.Struct, frozen=True):
    older: list[_Mark] = []
    newer: list[_Mark] = []


def _forms(config: Any) -> _Forms:
    forms = _Forms([], [])
    for part in flow_parts(config):
        if part.tag == "op":
            _note(part, forms)
    return forms


def _note(part: FlowPart, forms: _Forms) -> None:
    name = part.name
    if name in _NEWER_OPERATORS:
        forms.older.append(_Mark((*part.path, "op"), name, _NEWER_OPERATORS[name]))
    elif name in _OLDER_OPERATORS:
        forms.newer.append(_Mark((*part.path, "op"), name, _OLDER_OPERATORS[name]))
    elif name in OPERANDS:
        newer, older = OPERANDS[name]
        if newer in part.value and older in part.value:
            return  # told as such
        if newer in part.value:
            forms.newer.append(_Mark((*part.path, newer), newer, older, is_key=True))
        if older in part.value:
            forms.older.append(_Mark((*part.path, older), older, newer, is_key=True))


def operand_is_given_once(config: Any, _session: Session) -> Iterator[Fact]:
    """`not`, `and`, `or`, `exists` and `len` have one operand, under either of its names."""
    for part in flow_parts(config):
        newer, older = OPERANDS.get(part.name, ("", "")) if part.tag == "op" else ("", "")
        if not newer:
            continue
        if newer not in part.value and older not in part.value:
            expected = "a list of expressions" if newer == "args" else "an expression"
            owner = f"`{part.name}`"
            yield fact("missing-field", part.path, part="key", field=newer, owner=owner, expected=expected)
        elif newer in part.value and older in part.value:
            yield fact("operand-twice", (*part.path, older), part="key", older=older, newer=newer, op=part.name)


def forms_are_not_mixed(config: Any, _session: Session) -> Iterator[Fact]:
    """One flow, one wire form; the rarer one is the odd one out, and the older one beside fields that came later."""
    forms = _forms(config)
    if not forms.older:
        return
    if forms.newer:
        older_is_odd = len(forms.older) <= len(forms.newer)
        odd, rest = (forms.older, forms.newer) if older_is_odd else (forms.newer, forms.older)
        also = Also(
            f"`{rest[0].spelled}` is of the other form", path=rest[0].path, part="key" if rest[0].is_key else "value"
        )
        form = "older" if older_is_odd else "newer"
        yield from (_mixed(mark, also, form, "the rest of this flow does not") for mark in odd)
        return
    later = next(_later_fields(config), None)
    if later is not None:
        also = Also("no program that reads it knows this field", path=later, part="key")
        yield from (_mixed(mark, also, "older", f"`{later[-1]}` came later") for mark in forms.older)


def _mixed(mark: _Mark, also: Also, form: str, rest: str) -> Fact:
    return fact(
        "mixed-wire-forms",
        mark.path,
        part="key" if mark.is_key else "value",
        also=[also],
        remedy=_renaming(mark),
        spelled=mark.spelled,
        form=form,
        rest=rest,
        instead=mark.instead,
    )


def _later_fields(config: Any) -> Iterator[Path]:
    """Fields of a blueprint that the programs of the older form refuse."""
    for owner, path, value in _owners(mapping(config)):
        yield from ((*path, field) for field in _LATER[owner] if field in value)


def _owners(config: dict[str, Any]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    yield "blueprint", (), config
    for name in ("metadata", "strategy"):
        yield name, (name,), mapping(config.get(name))
    for key in ("agents", "operators"):
        for number, each in items(config.get(key)):
            if key == "agents":
                yield "agent", (key, number), mapping(each)
            yield "meta", (key, number, "meta"), mapping(mapping(each).get("meta"))


def _renaming(mark: _Mark) -> Remedy | None:
    """The other spelling, where the rest stays as it is. `exists` takes another sort of value in each form."""
    if mark.instead is None or mark.spelled == "at" or mark.instead == "at":
        return None
    change = Change(mark.path, mark.instead, "key" if mark.is_key else "value")
    return Remedy(f"write `{mark.instead}`", (change,), safe=False)


def paths_are_well_formed(config: Any, _session: Session) -> Iterator[Fact]:
    """`$` followed by `.key` or `["key"]`. The older form takes any text and fails when it runs."""
    forms = _forms(config)
    strict = bool(forms.newer) and not forms.older
    for part in flow_parts(config):
        at = part.value.get("at") if part.tag == "op" and part.name in ("path", "exists") else None
        if isinstance(at, str) and canonical_path(at) is None:
            hint = _path_hint(at)
            severity: Severity | None = "error" if strict else None
            yield fact("malformed-path", (*part.path, "at"), severity=severity, found=Shown(at), hint=hint)


def _path_hint(at: str) -> str | None:
    if re.fullmatch(r"\$?[A-Za-z_][\w.-]*", at):
        return f"write `$.{at.lstrip('$')}`"
    if re.search(r"\[\d+\]", at):
        return "there are no list indexes in paths"
    return 'write `$`, then `.key` or `["key"]` for each step'


def canonical_path(at: str) -> str | None:
    """The path as today's programs print it; None if they cannot read it."""
    if not at.startswith("$"):
        return None
    offset, steps = 1, ["$"]
    while offset < len(at):
        match = _SEGMENT.match(at, offset)
        if match is None:
            return None
        key = match["plain"] or match["quoted"]
        steps.append(f'["{key}"]' if re.search(r"[.\[\]]", key) else f".{key}")
        offset = match.end()
    return "".join(steps)


def runs_today(config: Any) -> bool:
    """Whether today's programs can read every expression of a flow."""
    return not _forms(config).older and all(
        not isinstance(part.value.get("at"), str) or canonical_path(part.value["at"]) is not None
        for part in flow_parts(config)
        if part.tag == "op" and part.name == "path"
    )
