"""What is served: tools and skills that passed the check, frozen together.

A snapshot is made as a whole or not at all. What is right as a file but cannot be served, such as a
tool whose kind is not allowed, is left out with its reasons; the rest is served.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from equipage.core.diagnostics import Diagnostic, LoadError
from equipage.formats.toolpack.model import Toolpack
from equipage.loading.pipeline import Outcome, findings_together
from equipage.loading.result import canonical_json
from equipage.loading.session import Request
from equipage.workspace import Workspace
from equipage_serve.confinement import Unservable
from equipage_serve.platform import Platform
from equipage_serve.runtime import prepare_all
from equipage_serve.skills import ServedSkill, freeze_skill
from equipage_serve.tools import Settings, Tool

_KINDS = ("toolpack", "skill")


class ToolDescription(msgspec.Struct, frozen=True):
    """What a pack says about its tool for people and models."""

    title: str | None = None
    description: str | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """All that is served at one time."""

    tools: tuple[Tool, ...] = ()
    described: Mapping[str, ToolDescription] = {}
    skills: tuple[ServedSkill, ...] = ()
    refused: Mapping[str, tuple[str, ...]] = {}  #: why something is not served, by its name
    outcomes: Mapping[str, Outcome] = {}  #: the loads of the packs, by the id of the tool
    warnings: tuple[Diagnostic, ...] = ()

    def tools_digest(self) -> str:
        """Changes when a client would see other tools."""
        rows = [
            [each.key, msgspec.to_builtins(self.described[each.pack.id])] for each in self.tools
        ]
        return hashlib.sha256(canonical_json(rows)).hexdigest()

    def skills_digest(self) -> str:
        """Changes when a client would see other skills or files."""
        rows = [[file.uri, file.digest] for each in self.skills for file in each.files]
        return hashlib.sha256(canonical_json(rows)).hexdigest()


def take_snapshot(
    paths: Sequence[str],
    request: Request,
    settings: Settings,
    platform: Platform,
    *,
    oversize: bool = False,
) -> Snapshot:
    """The tools and skills at and below `paths`. Raises `LoadError` if any has an error."""
    found = [each for each in Workspace(paths, request).loads() if _is_relevant(each)]
    problems = [each.problem for each in found if each.problem is not None]
    outcomes = [(each.path, each.outcome) for each in found if each.outcome is not None]
    packs = [each for _, each in outcomes if each.kind.name == "toolpack"]
    # Conflicts between files, such as one id twice, are found in no single file.
    own = chain(problems, *(outcome.diagnostics for _, outcome in outcomes))
    findings = findings_together(own, packs)
    if any(each.severity == "error" for each in findings):
        raise LoadError(findings)
    by_id = {outcome.config.id: outcome for outcome in packs}
    # By id, in a fixed order: clients see equal lists after equal reloads.
    roots = {name: _module_roots(outcome) for name, outcome in by_id.items()}
    ordered: list[Toolpack] = [by_id[name].config for name in sorted(by_id)]
    tools, refused = prepare_all(ordered, settings, platform, roots)
    skills, no_skills = _skills(
        [path for path, each in outcomes if each.kind.name == "skill"], oversize=oversize
    )
    return Snapshot(
        tuple(tools),
        {name: _describe_tool(outcome) for name, outcome in by_id.items()},
        tuple(skills),
        {**refused, **no_skills},
        by_id,
        tuple(each for each in findings if each.severity == "warning"),
    )


def _is_relevant(load: Any) -> bool:
    """Whether a file is a tool or a skill, or was named by the user and is neither."""
    return load.outcome is None or load.outcome.kind.name in _KINDS


def _module_roots(outcome: Outcome) -> tuple[str, ...]:
    """Modules may also come from the root of the project, as in the lock of a pack."""
    assert outcome.session is not None
    return (outcome.session.root,)


def _describe_tool(outcome: Outcome) -> ToolDescription:
    """The texts for people. The pack itself does not keep them: they do not affect a run."""
    written: Any = outcome.tree.value if outcome.tree is not None else {}
    title, text = written.get("name"), written.get("description") or written.get("summary")
    return ToolDescription(
        title if isinstance(title, str) else None, text if isinstance(text, str) else None
    )


def _skills(
    paths: Sequence[str], *, oversize: bool
) -> tuple[list[ServedSkill], dict[str, tuple[str, ...]]]:
    skills: dict[str, ServedSkill] = {}
    refused: dict[str, tuple[str, ...]] = {}
    for path in paths:
        try:
            skill = freeze_skill(path, oversize=oversize)
        except Unservable as error:
            refused[path] = error.reasons
            continue
        # A client asks for a skill by its name, so it could never get the second one.
        if skill.name in skills:
            refused[path] = (f"another skill is named `{skill.name}`, too",)
        else:
            skills[skill.name] = skill
    return [skills[name] for name in sorted(skills)], refused
