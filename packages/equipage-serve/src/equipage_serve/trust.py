"""Whether tools may run: how they differ from the lock, and what a person should know first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from os.path import exists

import msgspec

from equipage.files.disk import process_variables
from equipage.record.dependencies import Code, Program
from equipage.record.lock import LockedProgram, WorkspaceLock
from equipage_serve.snapshot import Snapshot
from equipage_serve.tools import Tool


def differences(snapshot: Snapshot, locks: Sequence[WorkspaceLock]) -> dict[str, str]:
    """Why tools are not what was locked, by their ids: the first difference of each."""
    found = {}
    for tool in snapshot.tools:
        problem = _difference(tool, snapshot, locks)
        if problem is not None:
            found[tool.pack.id] = problem
    return found


def _difference(tool: Tool, snapshot: Snapshot, locks: Sequence[WorkspaceLock]) -> str | None:
    loaded = snapshot.outcomes[tool.pack.id].loaded_or_none()
    assert loaded is not None
    file = os.path.basename(str(tool.pack.source_path))
    items = [
        (name, item)
        for lock in locks
        for name, item in lock.items.items()
        if item.kind == loaded.kind
    ]
    same = [each for each in items if each[1].digest == loaded.digest]
    named = [each for each in items if os.path.basename(each[0]) == file]
    if not same:
        return f"{named[0][0]} changed since the lock was written" if named else "no lock covers it"
    code = _portable_code(tool.code).digest
    covered = [each.code for _, each in same if each.code and each.code.digest == code]
    if not covered:
        return "the code that it runs changed since the lock was written"
    program = tool.code.program
    if program is None:
        return None
    here = LockedProgram(program.path, program.sha256)
    # A lock that holds no programs leaves them to the machine.
    if any(each.installed in (None, here) for each in covered):
        return None
    return f"the program {program.path} changed since the lock was written"


def _portable_code(code: Code) -> Code:
    """The code as the digest of a lock covers it: with the names of programs, not their bytes."""
    program = None if code.program is None else Program(code.program.name, "", "")
    return msgspec.structs.replace(code, program=program)


# What would run.


def missing_variables(tool: Tool) -> list[str]:
    """The variables that a pack passes through and that this process does not have."""
    here = process_variables()
    return [name for name in tool.pack.env.get("passthrough") or () if name not in here]


def plan(snapshot: Snapshot, refused: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What would be served, tool by tool: what runs, what is enforced, what is not."""
    for tool in snapshot.tools:
        if tool.pack.id not in refused:
            yield f"{tool.pack.id} ({tool.kind})"
            yield from (f"  {line}" for line in _tool_lines(tool))
    for skill in snapshot.skills:
        size = sum(len(each.data) for each in skill.files)
        yield f"{skill.name} (skill)"
        yield f"  serves: {len(skill.files)} files, {size} bytes"
        if skill.left_out:
            yield f"  left out: {', '.join(skill.left_out)}"
    for name, reasons in refused.items():
        yield f"{name} is not served"
        yield from (f"  {reason}" for reason in reasons)


#: The most files of code that are named.
_MAX_NAMES = 8


def _tool_lines(tool: Tool) -> Iterator[str]:
    yield f"runs: {_describe_run(tool)}"
    yield f"caps: {_describe_caps(tool)}"
    confinement = tool.confinement
    yield f"isolation: {confinement.level} ({confinement.summary})"
    yield from (f"enforced: {each}" for each in confinement.enforced)
    yield from (f"not enforced: {each}" for each in confinement.open)
    if tool.base != tool.folder:
        yield f"works in: {tool.base}"
    if names := [each.name for each in tool.code.files]:
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        shown = ", ".join(names[:_MAX_NAMES])
        yield f"code: {len(names)} files, sha256 {tool.code.digest[:16]} ({shown}{more})"
    if absent := missing_variables(tool):
        yield f"variables that are not set: {', '.join(absent)}"
    # Python compares what it imports; other programs load what they can read.
    loads = confinement.forks or tool.kind != "python"
    read = [f"what it loads from {each}" for each in confinement.read if loads]
    if uncovered := [*tool.code.uncovered, *read]:
        yield f"code that no lock covers: {', '.join(uncovered)}"
    if absent := [each for each in (*confinement.read, *confinement.write) if not exists(each)]:
        yield f"paths that are not there: {', '.join(absent)}"


def _describe_run(tool: Tool) -> str:
    execution = tool.pack.execution
    if tool.kind == "http":
        return f"{execution.get('method') or 'POST'} {execution['url']}"
    if tool.kind == "cli":
        return " ".join(execution["cmd"])
    if execution.get("module") and tool.kind == "python":
        return str(execution["module"])
    program = tool.code.program.path if tool.code.program is not None else "python"
    return f"{program} {os.path.relpath(tool.code.entry, tool.folder)}"


def _describe_caps(tool: Tool) -> str:
    caps = tool.pack.caps
    words = [*(caps.get("network") or ())]
    files = caps.get("filesystem") or {}
    words += [f"{mode} {path}" for mode in ("read", "write") for path in files.get(mode) or ()]
    words += ["subprocess"] if caps.get("subprocess") else []
    return ", ".join(words) or "none"
