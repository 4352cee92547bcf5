"""The two wire forms of a flow, and the paths in it.

The older form writes `le`, `ge`, `operand`, `operands`, `of` and `exists` with a path. The newer
form writes `lte`, `gte`, `arg` and `args`, adds `mod` and `call_extern`, and reads paths when it
loads. Files of both are in use under one version number, so both load. A flow that mixes them runs
nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Part, Remedy, Severity, Shown
from equipage.core.path import Path
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.rules import canonical_path, entries, expressions, nodes
from equipage.loading.session import Session
from equipage.loading.tree import get, mapping

#: The field of an operator, in the newer and in the older form.
OPERANDS: dict[str, tuple[str, str]] = {
    "not": ("arg", "operand"),
    "and": ("args", "operands"),
    "or": ("args", "operands"),
    "exists": ("arg", "at"),
    "len": ("arg", "of"),
}
#: Operators that only one of the forms has, each with its name in the other form.
_OLDER: dict[str, str | None] = {"le": "lte", "ge": "gte"}
_NEWER: dict[str, str | None] = {"lte": "le", "gte": "ge", "mod": None, "call_extern": None}
#: Fields that no program of the older form knows, by the path of their owner. The `lints` of an
#: agent are not among them: in a header those programs read them as a key like any other.
_LATER_FIELDS: dict[Path, tuple[str, ...]] = {
    (): (
        "default_init_ctx", "default_agent_ctx", "default_context_policy", "metas",
        "projection_placement", "audits", "degradation_policy", "runners", "default_runner",
        "check_policy", "blueprint_ref_includes", "subprocesses",
    ),
    ("metadata",): ("strict_verdict_handling", "lints"),
    ("strategy",): ("strict_binding",),
}  # fmt: skip
_LATER_OF_AGENTS = ("runner", "runner_ref", "verdict")
_LATER_OF_META = ("ctx", "context_policy", "meta_ref", "projection_name")
#: Fields of nodes that are written to, so that only a path makes sense there.
_TARGETS = {
    "step": ("out",),
    "loop": ("counter",),
    "fanout": ("bind", "out"),
    "try": ("err_at",),
    "assign": ("at",),
}


class _Mark(msgspec.Struct, frozen=True):
    """A spelling that only one of the forms has."""

    path: Path
    spelled: str
    instead: str | None  #: the spelling of the other form
    part: Part = "value"


def _marks(config: Any) -> tuple[list[_Mark], list[_Mark]]:
    """The spellings of the older form in a flow, and those of the newer form."""
    older: list[_Mark] = []
    newer: list[_Mark] = []
    for part in expressions(config, {*_OLDER, *_NEWER, *OPERANDS}):
        name, place = part.name, (*part.path, "op")
        if name in _OLDER:
            older.append(_Mark(place, name, _OLDER[name]))
        elif name in _NEWER:
            newer.append(_Mark(place, name, _NEWER[name]))
        else:
            new, old = OPERANDS[name]
            # `operand_is_given_once` reports an operator with both.
            if new in part.value and old not in part.value:
                newer.append(_Mark((*part.path, new), new, old, "key"))
            elif old in part.value and new not in part.value:
                older.append(_Mark((*part.path, old), old, new, "key"))
    return older, newer


def operand_is_given_once(config: Any, _session: Session) -> Iterator[Fact]:
    """`not`, `and`, `or`, `exists` and `len` have one operand, under either of its names."""
    for part in expressions(config, OPERANDS):
        newer, older = OPERANDS[part.name]
        if newer in part.value and older in part.value:
            yield codes.OPERAND_TWICE.at(
                (*part.path, older), part="key", older=older, newer=newer, op=part.name
            )
        elif newer not in part.value and older not in part.value:
            expected = "a list of expressions" if newer == "args" else "an expression"
            owner = f"`{part.name}`"
            yield core_codes.MISSING_FIELD.at(
                part.path, part="key", field=newer, owner=owner, expected=expected
            )


def forms_are_not_mixed(config: Any, _session: Session) -> Iterator[Fact]:
    """A flow has one wire form. The rarer one is the odd one out; so is the older form in a
    blueprint with fields that no program of that form knows."""
    older, newer = _marks(config)
    later = next(_later_fields(config), None)
    if newer:
        odd, rest = (older, newer) if len(older) <= len(newer) else (newer, older)
        form, other = ("older", "newer") if odd is older else ("newer", "older")
        reason = f"the rest of this flow uses the {other} form"
        also = Also(f"`{rest[0].spelled}` is {other}", path=rest[0].path, part=rest[0].part)
    elif later is not None:
        odd, form = older, "older"
        reason = f"programs of that form do not know `{later[-1]}`"
        also = Also("added later", path=later, part="key")
    else:
        return
    for mark in odd:
        yield codes.MIXED_WIRE_FORMS.at(
            mark.path,
            part=mark.part,
            also=[also],
            remedy=_renaming(mark),
            spelled=mark.spelled,
            form=form,
            reason=reason,
            instead=mark.instead,
        )


def _later_fields(config: Any) -> Iterator[Path]:
    """The fields of a blueprint that programs of the older form refuse."""
    owners = list(_LATER_FIELDS.items())
    owners += [(path, _LATER_OF_AGENTS) for path, _ in entries(config, "agents")]
    owners += [
        ((*path, "meta"), _LATER_OF_META)
        for key in ("agents", "operators")
        for path, _ in entries(config, key)
    ]
    for path, fields in owners:
        value = mapping(get(config, path))
        yield from ((*path, field) for field in fields if field in value)


def _renaming(mark: _Mark) -> Remedy | None:
    """The fix that writes the other spelling. `exists` takes another sort of value in each form, so
    its operand cannot just be renamed."""
    if mark.instead is None or "at" in (mark.spelled, mark.instead):
        return None
    change = Change(mark.path, mark.instead, mark.part)
    return Remedy(f"write `{mark.instead}`", (change,), safe=False)


def paths_are_well_formed(config: Any, _session: Session) -> Iterator[Fact]:
    """A path is `$`, then `.key` or `["key"]`. Only programs of the newer form read it at load."""
    older, newer = _marks(config)
    severity: Severity | None = "error" if newer and not older else None
    for part in expressions(config, ("path", "exists")):
        at = part.value.get("at")
        if isinstance(at, str) and canonical_path(at) is None:
            path, hint = (*part.path, "at"), _path_hint(at)
            yield codes.MALFORMED_PATH.at(path, severity=severity, found=Shown(at), hint=hint)


def _path_hint(at: str) -> str:
    if re.fullmatch(r"\$?[A-Za-z_][\w.-]*", at):  # a path that lacks its `$.`: `notes`, `$notes`
        return f"write `$.{at.lstrip('$')}`"
    if re.search(r"\[\d+\]", at):
        return "paths have no list indexes"
    return 'write `$`, then `.key` or `["key"]` for each step'


def runs_today(config: Any) -> bool:
    """Whether current programs can read every expression of a flow."""
    older, _ = _marks(config)
    paths = (part.value.get("at") for part in expressions(config, ("path",)))
    return not older and all(canonical_path(at) is not None for at in paths if isinstance(at, str))


def targets_are_paths(config: Any, _session: Session) -> Iterator[Fact]:
    """A node writes its results to a path; no other expression can be written to."""
    for part in nodes(config, _TARGETS):
        for field in _TARGETS[part.name]:
            op = get(part.value, (field, "op"))
            if isinstance(op, str) and op != "path":
                path = (*part.path, field)
                yield codes.TARGET_NOT_PATH.at(path, field=field, node=part.name, op=Shown(op))


RULES = (operand_is_given_once, forms_are_not_mixed, paths_are_well_formed, targets_are_paths)
