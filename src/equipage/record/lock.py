"""The lock of a workspace: what a team commits, so that nothing about an agent changes unseen.

For every file it holds the kind, the digest of what the file means, its sources, the names of
variables, what the file refers to, what it launches and whether that is pinned, the code of tools,
and the reach of each agent in it. It lists every file that these depend on, with its hash. A lock
contains no value of a variable, no secret, and nothing that belongs to one machine.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import repeat
from typing import Any

import msgspec

from equipage.clients.catalogue import SKILL_TABLES, Field, convention_in, convention_of
from equipage.clients.file_grants import precedence_of
from equipage.clients.grants import Effect, Grant, Reach
from equipage.clients.launchers import commands_among, launch_of, split_command
from equipage.clients.plugins import OWNERS, Part, all_parts
from equipage.clients.reading import Reading, reaches_of, reading_of, unknown_keys_of
from equipage.clients.references import parse_references
from equipage.clients.unread import CODEX_RULE, EDITOR, HOOK_FILE, SUBMODULE
from equipage.core import codes
from equipage.core.frozen import convert
from equipage.core.path import Path, PathSyntaxError, format_path, parse_path, walk
from equipage.core.text import visible_json
from equipage.effect.reach import reaches_of_part
from equipage.files import System, is_below, parents_of
from equipage.files.disk import TooManyFiles, hash_files_below
from equipage.files.sandbox import real_path
from equipage.loading.pipeline import Outcome
from equipage.loading.project_root import SHARED_FILE
from equipage.loading.result import CANONICAL_VERSION, canonical_json
from equipage.loading.session import Request, Run
from equipage.project.settings import load_project_settings, projects_of
from equipage.record.commands import (
    MAX_READ,
    divide,
    files_beside_launchers,
    files_led_to,
    folders_named,
    is_private,
)
from equipage.record.dependencies import (
    CodeCache,
    CodeProblem,
    Lookups,
    NamedFiles,
    code_of,
    path_from_folder,
    program_named,
)
from equipage.record.diff import canonical_text
from equipage.record.sides import link_in_place
from equipage.syntax.suspicious import mask_secrets
from equipage.workspace import Workspace
from equipage.workspace.find import File
from equipage.workspace.load import FileLoad, Summary, identity_of

#: The version of the format.
VERSION = 3
LOCK_NAME = "equipage.lock"
#: The kind of an item that a tool reads and equipage does not: its bytes are all that is known.
UNREAD = "unread"
#: The digest of a file that is not one of the project.
_DIGEST_ELSEWHERE = hashlib.sha256(b"elsewhere").hexdigest()


class LockError(ValueError):
    """A text is not a lock; the message says why."""


class Launched(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program that fetches what it runs."""

    runs: str  #: the launcher and the package
    pin: str | None = None  #: the exact version, commit or digest; none if it is not pinned


class LockedGrant(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A grant as a lock writes it: one of the first three says what about what."""

    allows: str | None = None
    asks: str | None = None
    denies: str | None = None
    at: str = ""
    base: bool = False
    default: bool = False
    level: int | None = None
    widest: bool = False
    usual: int | None = None


class LockedProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program of the machine that a lock was written on."""

    path: str
    sha256: str


class LockedCode(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The code of a tool. Its digest covers the name of the program that it starts, not the bytes:
    it is the same on every machine.
    """

    digest: str
    files: tuple[str, ...] = ()
    program: str | None = None
    installed: LockedProgram | None = None  #: the program itself, if the lock holds programs
    problem: str | None = None  #: why the code could not be found


class Item(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One configuration: an agent, a skill, a tool, a list of servers, settings."""

    kind: str
    digest: str | None = None  #: of what it means; none if it could not be loaded
    what: str = ""  #: of a file that is not read: what it is
    sources: tuple[str, ...] = ()  #: what its load read besides the file itself
    variables: tuple[str, ...] = ()
    refers: tuple[str, ...] = ()  #: agents, skills, servers and tools that it names
    folder: tuple[str, ...] = ()  #: the files of a skill, from its folder
    runs: tuple[str, ...] = ()  #: files of the project that its commands run
    executable: tuple[str, ...] = ()  #: of those, what is run by its name and may be run
    names: tuple[str, ...] = ()  #: other files of the project that it names, such as imports
    launches: tuple[Launched, ...] = ()
    code: LockedCode | None = None
    reach: dict[str, tuple[LockedGrant, ...]] = {}  #: by what has it: `agent reviewer`
    unknown: bool = False  #: whether it is not known what its client makes of it
    keys: dict[str, str] = {}  #: keys that no table has → the hash of their values


class WorkspaceLock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a workspace was made of."""

    lock: int
    canonical: int
    paths: tuple[str, ...]  #: what was locked, from the root of the project
    items: dict[str, Item]
    files: dict[str, str]  #: every file that counts → its hash
    seal: str = ""  #: sha256 of all the rest


class LockedFile(msgspec.Struct, frozen=True):
    """What a lock takes from one load: small, and packed as a whole, so that other processes can
    send it.
    """

    file: str
    item: Item
    files: tuple[tuple[str, str], ...]
    problems: tuple[str, ...] = ()  #: what could not be covered
    real: Hashable = None  #: the file itself, whatever links led to it
    yields: bool = False  #: whether another load that reads the file knows better what it is
    link: str | None = None  #: where it was found, if links led from there to the file

    def __reduce__(self) -> tuple[Any, ...]:
        packed = msgspec.msgpack.encode((self.file, self.item, self.files))
        return _unpack_locked_file, (packed, self.problems, self.real, self.yields, self.link)


_decode_packed = msgspec.msgpack.Decoder(tuple[str, Item, tuple[tuple[str, str], ...]]).decode


def _unpack_locked_file(packed: bytes, *rest: Any) -> LockedFile:
    return LockedFile(*_decode_packed(packed), *rest)


def lock_in_run(_file: File, load: FileLoad, run: Run) -> LockedFile | None:
    """The entry of a load in the lock of the project that the run is about."""
    assert run.request.project is not None
    return lock_load(load, run.request.project, run)


def lock_load(found: FileLoad, root: str, run: Run) -> LockedFile | None:
    """The entry of a load in a lock; None for a file that no tool reads."""
    outcome = found.outcome
    if outcome is None:
        if (link := link_in_place(found, run.files.system)) is not None:
            what, digest = link
            name = _name_where_found(found.path, root, run)
            return LockedFile(name, Item(UNREAD, digest, what=what), (), real=name)
        code = None if found.problem is None else found.problem.code
        if code in (codes.INTERNAL_ERROR, codes.CHECK_ENDED):
            return _lock_unloaded(found.path, root, run)
        return None if found.unread is None else _lock_unread(found.path, found.unread, root, run)
    shown = outcome.kind.presentation.ignored
    # What its tool ignores, such as notes beside agents, does nothing.
    if shown is not None and shown(outcome):
        return None
    real = identity_of(found, outcome)
    locked = lock_outcome(outcome, found.path, root, run)
    place = _name_where_found(found.path, root, run)
    return msgspec.structs.replace(
        locked, real=real, yields=found.yields, link=None if place == locked.file else place
    )


def _lock_unloaded(path: str, root: str, run: Run) -> LockedFile:
    """The entry of a file whose load did not finish: only its existence is recorded."""
    name = _name_where_found(path, root, run)
    return LockedFile(name, Item(UNREAD, what="file that cannot be loaded"), (), real=name)


def _name_where_found(path: str, root: str, run: Run) -> str:
    """Where a walk found a file, from the root, with no link in the project followed."""
    path = run.files.system.absolute(path)
    if not is_below(path, root):  # the project itself was named by a link
        start = next((each for each in parents_of(path) if real_path(each) == root), None)
        path = real_path(path) if start is None else os.path.join(root, path[len(start) + 1 :])
    return _real_path_from_root(path, root)


def lock_all(
    paths: Sequence[str],
    root: str,
    request: Request,
    *,
    kind: str | None = None,
    programs: bool = False,
    jobs: int = 0,
) -> tuple[WorkspaceLock, list[str]]:
    """The lock of what is at and below `paths` in the project at `root`, and what it lacks.

    With `programs`, it also holds the programs of this machine that tools start.
    """
    # One project decides about all paths, so that a lock never mixes the names of two. A lock says
    # only whether there are errors: nothing is spent on other findings.
    request = msgspec.structs.replace(request, project=real_path(root), errors_only=True)
    workspace = Workspace(paths, request, kind=kind, jobs=jobs)
    found = workspace.summarise(workspace.files(), lock_in_run)
    return build_lock(found, paths, root, workspace.run, programs=programs)


def build_lock(
    results: Iterable[LockedFile | Summary | None],
    paths: Sequence[str],
    root: str,
    run: Run,
    *,
    programs: bool = False,
) -> tuple[WorkspaceLock, list[str]]:
    """The lock of what was found in files, and what it lacks; `run` knows their projects.

    `programs` as for `lock_all`.
    """
    found: dict[Hashable, LockedFile] = {}
    links: list[LockedFile] = []
    for each in results:
        if isinstance(each, LockedFile):
            found.setdefault(each.real, each)
            if each.link is not None:
                # A tool takes the file for what it is where the link is.
                leads = hashlib.sha256(each.file.encode("utf-8", "surrogateescape")).hexdigest()
                links.append(
                    LockedFile(each.link, Item(UNREAD, leads, what=f"link to {each.file}"), ())
                )
        elif each is not None:  # the process that loaded it died
            found[each.path] = _lock_unloaded(each.path, root, run)
    read = {source for each in found.values() for source in each.item.sources}
    kept = [each for each in found.values() if not (each.yields and each.file in read)]
    kept += links
    if programs:
        kept = list(_add_programs(kept, run.files.system))
    kept += _lock_settings(run, root)
    kept += _lock_parts(kept, root, run)
    tops = [real_path(path) for path in paths]
    for name, commit in run.files.system.submodules_below(root).items():
        if any(is_below(os.path.join(root, name), top) for top in tops):
            kept.append(LockedFile(name, Item(UNREAD, commit, what=SUBMODULE), ()))
    problems = [f"{each.file}: {problem}" for each in kept for problem in each.problems]
    problems += [
        f"{each.file}: it is not known what its client makes of it, so any change counts"
        for each in kept
        if each.item.digest is None
    ]
    return assemble_lock(kept, sorted(path_from_root(path, root) for path in paths)), sorted(
        problems
    )


def _add_programs(locked: Iterable[LockedFile], system: System) -> Iterator[LockedFile]:
    """Add to each tool the program of this machine that it starts."""
    # Many tools start the same program.
    find_program = lru_cache(None)(partial(program_named, system=system))
    for each in locked:
        code = each.item.code
        if code is None or code.program is None:
            yield each
            continue
        try:
            found = find_program(code.program)
        except CodeProblem as error:
            yield msgspec.structs.replace(each, problems=(*each.problems, str(error)))
            continue
        code = msgspec.structs.replace(code, installed=LockedProgram(found.path, found.sha256))
        item = msgspec.structs.replace(each.item, code=code)
        yield msgspec.structs.replace(each, item=item)


def holds_programs(lock: WorkspaceLock) -> bool:
    """Whether a lock holds programs of the machine that it was written on."""
    codes = (item.code for item in lock.items.values())
    return any(code is not None and code.installed is not None for code in codes)


# Making a lock.


def _lock_unread(file: str, sort: str, root: str, run: Run) -> LockedFile | None:
    """A file that a tool reads and equipage does not: any change of it counts.

    Of the rules of Codex that are understood, what they mean counts.
    """
    real, system = real_path(file), run.files.system
    digest = system.sha256(real)
    if digest is None:
        return None
    name = path_from_root(file, root)
    runs = (name,) if sort == HOOK_FILE and system.is_executable(real) else ()
    item = Item(UNREAD, digest, what=sort, executable=runs)
    if sort == CODEX_RULE:
        from equipage.clients.codex import permissions as codex_rules  # few projects have any

        data = system.peek(real) or b""
        rules = codex_rules.rules_in(data)
        # The bytes that are parsed must be those that are hashed.
        if rules is not None and hashlib.sha256(data).hexdigest() == digest:
            reach = dict(_lock_reaches([codex_rules.reach_of_rules(rules, name)]))
            meaning = codex_rules.digest_of_rules(rules)
            item = Item(codex_rules.KIND, meaning, what=sort, reach=reach)
    return LockedFile(name, item, ((name, digest),), real=real, yields=True)


def _lock_settings(run: Run, root: str) -> Iterator[LockedFile]:
    """The settings that decide which files are read, and what is forbidden."""
    for project in projects_of(run):
        outcome = load_project_settings(project.root, run)
        file = "" if outcome is None else outcome.session.path
        if outcome is None or not run.files.system.is_inside(file, root):
            continue
        locked = lock_outcome(outcome, file, root, run)
        # Most of a `pyproject.toml` is about other things: of it, the meaning alone counts.
        files = () if os.path.basename(file) == SHARED_FILE else locked.files
        yield msgspec.structs.replace(locked, files=files)


def _lock_parts(kept: Sequence[LockedFile], root: str, run: Run) -> Iterator[LockedFile]:
    """The files that count because of others: programs of plugins, settings of editors.

    What a manifest names by a path, its own item has already.
    """
    known = {each.file for each in kept if each.item.what != EDITOR}
    owners = [
        (each.item.kind, os.path.join(root, *each.file.split("/")))
        for each in kept
        if each.item.kind in OWNERS
    ]
    roots = {root, *(real_path(each.root) for each in projects_of(run))}
    editors = (each.file for each in kept if each.item.what == EDITOR)
    roots |= {os.path.join(root, *name.split("/")[:-2]) for name in editors}
    system = run.files.system
    for part in all_parts(owners, roots, run.files):
        # Of a link that leads out, a lock has the name: what it leads to belongs to one machine.
        is_out = not system.is_inside(part.path, root)
        name = _real_path_from_root(part.path, root) if is_out else path_from_root(part.path, root)
        if name in known or is_private(name):
            continue
        known.add(name)
        if is_out:
            yield LockedFile(
                name, Item(UNREAD, _DIGEST_ELSEWHERE, what=f"{part.what}, elsewhere"), ()
            )
        elif (digest := system.sha256(part.path)) is not None:
            yield _lock_part(part, digest, name, system)


def _lock_part(part: Part, digest: str, name: str, system: System) -> LockedFile:
    data = system.peek(part.path)
    # The bytes that are parsed must be those that are hashed.
    is_same = data is not None and hashlib.sha256(data).hexdigest() == digest
    reaches = reaches_of_part(part, data, name) if data is not None and is_same else ()
    runs = (name,) if part.runs and system.is_executable(part.path) else ()
    item = Item(UNREAD, digest, what=part.what, executable=runs)
    if reaches:
        # Most of such a file is about other things: of it, what it allows counts.
        grants = dict(_lock_reaches(reaches))
        meaning = hashlib.sha256(canonical_json(msgspec.to_builtins(grants))).hexdigest()
        item = Item(part.kind, meaning, what=part.what, reach=grants)
    return LockedFile(name, item, ((name, digest),))


def lock_outcome(outcome: Outcome, file: str, root: str, run: Run) -> LockedFile:
    """The entry of a load of `file` in a lock; paths start at `root`, which has no links.

    `run` is that of loads beside it, which often name the same files.
    """
    # A file is opened by following every link, so the path of its source has none.
    first = outcome.sources[0] if outcome.sources else None
    real = first.filename if first is not None and first.filename else real_path(file)
    name = _real_path_from_root(real, root)
    files = {} if first is None else {name: first.sha256}
    sources = []
    for source in outcome.sources[1:]:
        if source.filename is not None:
            path = _real_path_from_root(source.filename, root)
            files[path] = source.sha256
            sources.append(path)
    problems: list[str] = []
    folder = tuple(_lock_skill_folder(outcome, real, root, files, problems))
    loaded, reading = outcome.loaded_or_none(), reading_of(outcome)
    plain = reading.value
    digest = _digest_as_read(reading) if loaded is None else loaded.digest
    nodes = list(walk(plain))
    commands = [words for _, words in commands_among(nodes)]
    reaches = reaches_of(outcome, reading, file=name, usual_modes=False)
    others = NamedFiles(os.path.dirname(real), root, run.cache(Lookups, run.files.system))
    commands = [*commands, *_commands_of_reaches(reaches, commands, folders_named(nodes))]
    runs = _record_files(others.files_run_by(commands), root, files)
    named = _record_files(others.files_named_in(outcome, nodes), root, files)
    # What a runner or a script reads counts, whether or not it acts for this command.
    start, system = os.path.dirname(real), run.files.system
    read, deciding = files_led_to(commands, reaches, nodes, start, root, system)
    # What decides whether a call is stopped acts as much as the command that runs it.
    runs = _sort_unique((*runs, *_record_files(others.files_at(deciding), root, files)))
    if root in read:
        problems.append(f"its commands lead to more than {MAX_READ:,} files; no more are locked")
    beside = files_beside_launchers(commands, root, system)
    _record_files(others.files_at([*read, *beside]), root, files)
    programs = (path for path, runs in read.items() if runs and system.is_executable(path))
    marked = _record_files(others.files_at(programs), root, {})
    item = Item(
        outcome.kind.name,
        digest,
        sources=_sort_unique(each for each in sources if each != name),
        variables=() if loaded is None else _sort_unique(loaded.variables),
        refers=() if loaded is None else _sort_unique(_references_of(outcome.kind.name, plain)),
        folder=folder,
        runs=tuple(each for each in runs if each != name),
        executable=marked,
        names=tuple(each for each in named if each not in (name, *runs)),
        launches=() if loaded is None else _find_launches(commands, nodes),
        code=None if loaded is None else _lock_code(outcome, root, files, run),
        reach=dict(sorted(_lock_reaches(reaches))),
        unknown=bool(reading.unknown),
        keys={
            format_path(path): hashlib.sha256(canonical_text(value).encode()).hexdigest()
            for path, value in sorted(unknown_keys_of(outcome).items(), key=str)
        },
    )
    return LockedFile(name, item, tuple(files.items()), tuple(problems))


def _digest_as_read(reading: Reading) -> str | None:
    """The digest of what a client makes of a file with errors; None if that is not known."""
    if reading.unknown:
        return None
    text = msgspec.json.encode(reading.counted_value, order="deterministic", enc_hook=str)
    return hashlib.sha256(text).hexdigest()


def _commands_of_reaches(
    reaches: Iterable[Reach], known: Iterable[list[str]], folders: Sequence[str]
) -> Iterator[list[str]]:
    """The commands that only the table of a client identifies: in a field, or in a text."""
    seen = {" ".join(words) for words in known}
    for each in reaches:
        for grant in each.grants:
            is_new = folders or "\\" in grant.name or grant.name not in seen
            if grant.sort == "program" and is_new:
                yield from divide([grant.name], folders)
            elif grant.sort == "setting" and _VARIABLE_TABLES.intersection(grant.path[:-1]):
                yield split_command(grant.name.partition(" = ")[2])  # `NODE_OPTIONS: -r ./x.js`


_VARIABLE_TABLES = frozenset({"env", "environment", "envs"})


def path_from_root(path: str, root: str) -> str:
    """A path from the root, its bytes read as UTF-8: a lock is the same under every locale."""
    return _real_path_from_root(real_path(path), root)


def _real_path_from_root(path: str, root: str) -> str:
    """As `path_from_root`, for a path without links."""
    return _decode_name(path_from_folder(path, root))


def _decode_name(name: str) -> str:
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def _sort_unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


def _lock_skill_folder(
    outcome: Outcome, file: str, root: str, files: dict[str, str], problems: list[str]
) -> Iterator[str]:
    """The files of a skill, all of which are read into prompts or run."""
    if outcome.kind.name != "skill":
        return
    folder = os.path.dirname(file)
    # A skill at the root would lock every file, build results and caches included.
    if folder == root:
        problems.append("its folder is the whole project: the files beside it are not locked")
        return
    # Of a link in it, the name of its target counts: the names of these files are not followed.
    above = _real_path_from_root(folder, root)
    read = {os.path.basename(file): each.sha256 for each in outcome.sources[:1]}
    try:
        for each in hash_files_below(folder, outcome.session.files.system, read):
            name = _decode_name(each.name)
            files[f"{above}/{name}"] = each.sha256
            yield name
    except TooManyFiles as error:
        problems.append(str(error))


@lru_cache(256)
def _referring_fields(kind: str) -> tuple[Field, ...]:
    """The few of many fields of a kind that name something; thousands of files have one kind."""
    table = convention_in(SKILL_TABLES[0]) if kind == "skill" else convention_of(kind)
    fields = () if table is None else table.fields
    return tuple(field for field in fields if field.refers is not None)


def _references_of(kind: str, plain: Any) -> Iterator[str]:
    """The agents, skills, servers and tools that the fields of a file name."""
    if not isinstance(plain, dict):
        return
    for field in _referring_fields(kind):
        value = plain.get(field.name)
        if field.refers is None or value is None:
            continue
        for each in value if isinstance(value, list | dict) else [value]:
            if isinstance(each, str):
                yield from (
                    f"{one.sort} {one.name}" for one in parse_references(each, field.refers)
                )


def _find_launches(
    commands: Sequence[list[str]], nodes: Iterable[tuple[Path, Any]]
) -> tuple[Launched, ...]:
    found: set[Launched] = set()
    for words in commands:
        launch = launch_of(words)
        if launch is not None:
            found.add(Launched(mask_secrets(f"{launch.launcher} {launch.package}"), launch.pin))
    for _, value in nodes:
        if isinstance(value, dict) and isinstance(value.get("source"), str):
            found.update(_plugin_sources(value))
    # By the pin as well: two of one package must not change places from run to run.
    return tuple(sorted(found, key=lambda each: (each.runs, each.pin or "")))


def _plugin_sources(source: Mapping[str, Any]) -> Iterator[Launched]:
    """Where a marketplace fetches a plugin from."""
    where = source.get("repo") or source.get("url") or source.get("package")
    if isinstance(where, str) and source["source"] in ("github", "url", "git-subdir", "npm", "pip"):
        pin = source.get("sha") or source.get("commit")
        version = source.get("version")
        # A range such as `^1.2` is not a pin, though it is called a version.
        if pin is None and isinstance(version, str) and re.fullmatch(r"\d+(\.\d+)+", version):
            pin = version
        yield Launched(
            mask_secrets(f"{source['source']} {where}"), pin if isinstance(pin, str) else None
        )


def _record_files(
    found: Iterable[tuple[str, str]], root: str, files: dict[str, str]
) -> tuple[str, ...]:
    """The names of files, sorted; each gets its hash in `files`."""
    names = {_real_path_from_root(path, root): digest for path, digest in found}
    files |= names
    return tuple(sorted(names))


def _lock_code(outcome: Outcome, root: str, files: dict[str, str], run: Run) -> LockedCode | None:
    if outcome.kind.name != "toolpack":
        return None
    assert outcome.session is not None
    folder, roots = os.path.dirname(outcome.session.path), (outcome.session.root,)
    known = run.cache(CodeCache, run.files.for_next_load())
    try:
        code = code_of(outcome.config, folder, roots, known, programs=False)
    except CodeProblem as error:
        return LockedCode("", problem=str(error))
    own = {_real_path_from_root(each.path, root): each.sha256 for each in code.files}
    files |= own
    named = tuple(sorted(own))
    program = None if code.program is None else code.program.name
    return LockedCode(code.digest, named, program)


def _lock_reaches(reaches: Iterable[Reach]) -> Iterator[tuple[str, tuple[LockedGrant, ...]]]:
    for each in reaches:
        yield f"{each.sort} {each.name}", tuple(map(_locked_grant, each.grants))


def _locked_grant(grant: Grant) -> LockedGrant:
    what = f"{grant.sort} {grant.name}"
    effect, at = grant.effect, _written_path(grant.path)
    return LockedGrant(
        what if effect == "allows" else None,
        what if effect == "asks" else None,
        what if effect == "denies" else None,
        at,
        grant.base,
        grant.default,
        grant.level,
        grant.widest,
        grant.usual,
    )


#: The same few fields are written in most files.
_written_path = lru_cache(4096)(format_path)


def reaches_in(lock: WorkspaceLock) -> list[Reach]:
    """The reaches that a lock holds."""
    found = []
    for file, item in lock.items.items():
        for subject, grants in item.reach.items():
            sort, _, name = subject.partition(" ")
            reach = Reach(name, sort, item.kind, "", file, tuple(_grants_of_lock(grants, file)))
            found.append(msgspec.structs.replace(reach, precedence=precedence_of(item.kind)))
    return found


def _grants_of_lock(grants: Iterable[LockedGrant], file: str) -> Iterator[Grant]:
    for each in grants:
        # The key says the effect: a grant of a lock has exactly one of the three.
        effect: Effect = "allows" if each.allows else "asks" if each.asks else "denies"
        sort, _, name = (each.allows or each.asks or each.denies or "").partition(" ")
        path = parse_path(each.at)
        flags = (each.base, each.default, each.level, each.widest, each.usual)
        yield Grant(sort, name, effect, file, path, *flags)


def assemble_lock(found: Iterable[LockedFile], paths: Sequence[str]) -> WorkspaceLock:
    """The lock of many files."""
    items: dict[str, Item] = {}
    files: dict[str, str] = {}
    for each in found:
        items[each.file] = each.item
        files |= each.files
    lock = WorkspaceLock(
        VERSION,
        CANONICAL_VERSION,
        tuple(paths),
        dict(sorted(items.items())),
        dict(sorted(files.items())),
    )
    return msgspec.structs.replace(lock, seal=_seal(lock))


def _seal(lock: WorkspaceLock) -> str:
    plain = msgspec.to_builtins(msgspec.structs.replace(lock, seal=""))
    return hashlib.sha256(canonical_json(plain)).hexdigest()


# Text.


def write(lock: WorkspaceLock) -> str:
    """The lock as a file: sorted, one thing on a line."""
    lines: list[str] = []
    _add_lines(lines, msgspec.to_builtins(lock), "")
    return visible_json("\n".join(lines)) + "\n"


#: What is longer than this is divided, an entry on each line.
_MAX_LINE_WIDTH = 100


def _add_lines(lines: list[str], value: Any, before: str, key: str = "", after: str = "") -> None:
    """Append the lines of a value: indented by `before`, behind its key, with the comma `after`."""
    # What `to_builtins` gives is of these very classes: a lock has tens of thousands of values.
    kind = type(value)
    if kind not in _CONTAINERS:
        lines.append(f"{before}{key}{_write_on_one_line(value)}{after}")
        return
    is_list = kind is not dict
    inner: Any = value if is_list else value.values()
    # A grant, or a list of a few names, is one thing.
    if _CONTAINERS.isdisjoint(map(type, inner)):
        whole = f"{before}{key}{_write_on_one_line(value)}"
        if not inner or len(whole) <= _MAX_LINE_WIDTH:
            lines.append(whole + after)
            return
    lines.append(f"{before}{key}{'[' if is_list else '{'}")
    keys = repeat("") if is_list else (f"{_write_key(each)}: " for each in value)
    left, deeper = len(value), f"{before} "
    for each, name in zip(inner, keys, strict=False):
        left -= 1
        _add_lines(lines, each, deeper, name, "," if left else "")
    lines.append(f"{before}{']' if is_list else '}'}{after}")


_CONTAINERS = frozenset({dict, list, tuple})


def _write_on_one_line(value: Any) -> str:
    """A value on one line, as `json` of Python writes it."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


#: The same dozen keys are in every item.
_write_key = lru_cache(256)(_write_on_one_line)


def read(data: bytes) -> WorkspaceLock:
    """The lock in a file. Raises `LockError`."""
    try:
        text = data.decode("utf-8")
        raw = msgspec.json.decode(text)
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError) as error:
        if b"<<<<<<<" in data:
            raise LockError("it has marks of a merge conflict; run `equipage lock`") from None
        raise LockError(f"it is damaged or cut off: {error}") from None
    version = raw.get("lock") if isinstance(raw, dict) else None
    if version != VERSION:
        shown = "no version" if version is None else f"version {version}"
        raise LockError(f"it has {shown}, this equipage reads version {VERSION}")
    if raw.get("canonical") != CANONICAL_VERSION:
        found = raw.get("canonical")
        raise LockError(
            f"its digests have version {found}, this equipage writes version {CANONICAL_VERSION}"
        )
    try:
        lock: WorkspaceLock = convert(raw, WorkspaceLock)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LockError(str(error)) from None
    # Edits that keep the form break the seal; edits that a parser does not see break the form.
    if lock.seal != _seal(lock) or write(lock) != text.replace("\r\n", "\n"):
        raise LockError("it was changed after it was written; run `equipage lock`")
    _require_grants(lock)
    # Such a lock would match whatever is in the project.
    if not lock.items or not lock.paths:
        raise LockError("it locks nothing; run `equipage lock`")
    if any(os.path.isabs(each) or ".." in each.split("/") for each in lock.paths):
        raise LockError("it locks what is outside of its project; run `equipage lock`")
    return lock


def _require_grants(lock: WorkspaceLock) -> None:
    """Raises `LockError` for grants that no lock of ours holds: anyone can compute a seal."""
    grants = [each for item in lock.items.values() for row in item.reach.values() for each in row]
    if any((each.allows, each.asks, each.denies).count(None) != 2 for each in grants):
        raise LockError("it has a grant that does not say one thing; run `equipage lock`")
    try:
        for written in {each.at for each in grants}:
            parse_path(written)
    except PathSyntaxError as error:
        raise LockError(f"it has a grant at no place: {error}") from None
