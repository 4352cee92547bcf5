"""The kind `profile`: its rules, and the agents of all layers.

`discover_profiles` returns a mapping of names to profiles, or raises every error. `find_profiles`
returns the good ones beside every finding.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import msgspec

from equipage.core.diagnostics import Diagnostic
from equipage.core.frozen import FrozenDict
from equipage.core.text import glob_covers, is_literal, lazy_regex
from equipage.formats.defect import codes, hooks
from equipage.formats.defect import profile_model as stages
from equipage.formats.defect.codes import PROFILE_CODES
from equipage.formats.defect.discovery import (
    Discovery,
    Found,
    LayeredMapping,
    LayerFolders,
    LayerName,
    StrPath,
    discover,
    find_layer_folders,
)
from equipage.formats.defect.hooks import EVENTS, Hook
from equipage.formats.defect.profile_model import (
    AGENTS,
    NOT_UTF8,
    READ_ONLY_TOOLS,
    AgentProfile,
    ProfileOptions,
    RequestLimit,
    Sampling,
    Variant,
    layer_of,
    limit_facts,
    request_limit,
    sampling_facts,
    variant_of,
)
from equipage.loading.header import STRICT_YAML, known_names
from equipage.plugin import (
    Also,
    Fact,
    Format,
    Guesses,
    Item,
    Layering,
    Offer,
    Outcome,
    Path,
    Presentation,
    Reading,
    Sensitive,
    Session,
    Shape,
    Shown,
    Span,
    Together,
    entries_at,
    get,
    nearest,
)

Finding = tuple[Outcome, Fact]

#: The tools every agent knows; others come from MCP servers as `mcp__server__tool`.
# fmt: off
TOOLS = (
    "bash", "read_file", "write_file", "edit_file", "fetch", "search", "skill", "spawn_agent",
)
# fmt: on


def texts_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    """An empty description, model or prompt loads, but is rarely meant."""
    for path in (("description",), ("model",), ("prompt", "text")):
        text = get(config, path)
        if isinstance(text, str) and (not text or text.isspace()):
            # The prompt may be the body of the file, or a file of its own.
            what = "the prompt" if path[0] == "prompt" else f"`{path[0]}`"
            yield codes.TEXT_EMPTY.at(path, what=what)


def numbers_are_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    """The request limit makes sense, and models accept the sampling parameters."""
    yield from limit_facts(config, ())
    yield from sampling_facts(config, ("sampling",))


def allowed_tools_can_match(config: Any, _session: Session) -> Iterator[Fact]:
    """Every allowed pattern is valid, and no name is a misspelling of a built-in tool."""
    for path, entry in entries_at(config, ("tools", "allow")):
        if not isinstance(entry, str):
            continue
        if not is_literal(entry):
            yield from hooks.check_glob(entry, path)
        # Any other name may be a tool that a program adds, so only near misses are reported.
        elif entry not in TOOLS and not entry.startswith("mcp__"):
            guess = nearest(entry, TOOLS)
            if guess is not None:
                yield codes.UNKNOWN_TOOL.at(path, tool=Shown(entry), nearest=guess)


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    return hooks.check(config)


# Profiles name MCP servers, which settings and lists of servers define.

#: A tool of a server, or a pattern over its tools. The name of the server has no `__`.
_SERVER_TOOL = lazy_regex(r"mcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__.*", re.DOTALL)


def servers_exist(own: Sequence[Outcome], offers: Sequence[Offer]) -> Iterator[Finding]:
    """The servers whose tools a profile allows are defined, if any server is."""
    defined = known_names(offers, ("mcp", "settings"))
    for outcome in own:
        known = defined.visible_from(outcome.path)
        if not known:
            continue
        guesses, ordered = Guesses(), sorted(known)
        for place, tool, server in _allowed_server_tools(outcome):
            if server not in known:
                guess = guesses.nearest(server, ordered)
                shown, name = Shown(tool), Shown(server)
                fact = codes.UNKNOWN_SERVER.at(place, tool=shown, server=name, nearest=guess)
                yield outcome, fact


def has_server_references(outcome: Outcome) -> bool:
    """Whether a profile allows tools of a server."""
    return next(_allowed_server_tools(outcome), None) is not None


def _allowed_server_tools(outcome: Outcome) -> Iterator[tuple[Path, str, str]]:
    """The allowed tools of servers: path, tool, server."""
    value = outcome.tree.value if outcome.tree is not None else None
    for path, entry in entries_at(value, ("tools", "allow")):
        match = _SERVER_TOOL.fullmatch(entry) if isinstance(entry, str) else None
        if match is not None:
            yield path, entry, match["server"]


# Several profiles: one name twice, and the user's profile replaced by a project's.


class Member(msgspec.Struct, frozen=True):
    """A profile among others, with its name and the `agents` folder that holds it."""

    outcome: Any
    name: str
    folder: str
    layer: str | None

    @property
    def start(self) -> Span:
        return Span(self.outcome.sources[0], 0, 0)


def members(outcomes: Sequence[Outcome]) -> Iterator[Member]:
    """The profiles that could be read, each with the name that its path gives it."""
    for outcome in outcomes:
        if not outcome.sources or outcome.session is None:
            continue
        folder, name = _folder_and_name(outcome.session)
        layer = layer_of(outcome.sources[0], outcome.session)
        yield Member(outcome, name, folder, layer)


def _folder_and_name(session: Session) -> tuple[str, str]:
    folder, _, name = session.path.replace(os.sep, "/").rpartition("/")
    # A profile in a folder is named by the folder, its file is always `config.toml`.
    if name.endswith(".toml"):
        folder, _, name = folder.rpartition("/")
        return folder, name
    return folder, name.removesuffix(".md")


def group_key(outcome: Outcome) -> str | None:
    """Only profiles whose names are the same, or nearly, concern each other."""
    return next((_fold_name(each.name) for each in members([outcome])), None)


def _fold_name(name: str) -> str:
    # Names that differ in case or in the form of a letter are one file on some systems.
    plain = name if name.isascii() else unicodedata.normalize("NFKC", name)
    return plain.casefold()


def names_are_unique(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """No two profiles of a folder have the same name."""
    seen: dict[tuple[str, str], Member] = {}
    for each in members(outcomes):
        first = seen.setdefault((each.folder, each.name), each)
        if first is not each:
            also = (Also("the other one", span=first.start),)
            fact = codes.DUPLICATE_PROFILE.at(span=each.start, also=also, name=Shown(each.name))
            yield each.outcome, fact


def project_replaces_user(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """A profile of the project replaces the user's, which is worse if it may do more."""
    found = list(members(outcomes))
    of_user = {each.name: each for each in found if each.layer == "user"}
    for new in found:
        old = of_user.get(new.name) if new.layer == "project" else None
        if old is not None:
            also = (Also("the user's profile", span=old.start),)
            before, after = old.outcome.config, new.outcome.config
            ways = [] if before is None or after is None else list(_added_rights(before, after))
            at: dict[str, Any] = {"span": new.start, "also": also, "name": Shown(new.name)}
            for way, more in ways:
                yield new.outcome, codes.PROFILE_LOOSENS.at(**at, way=way, more=more)
            if not ways:
                yield new.outcome, codes.PROFILE_SHADOWS.at(**at)


#: How many patterns are compared, each with each tool.
_MAX_PATTERNS = 32


def _added_rights(old: AgentProfile, new: AgentProfile) -> Iterator[tuple[str, object]]:
    """What a profile may do that the one it replaces may not: in words, with the details."""
    allowed = frozenset(old.tools.allow)
    patterns = [each for each in old.tools.allow if not is_literal(each)][:_MAX_PATTERNS]
    tools = [
        each
        for each in dict.fromkeys(new.tools.allow)
        if each not in allowed and not any(glob_covers(pattern, each) for pattern in patterns)
    ]
    if tools:
        yield "may use more tools", Shown(tuple(tools))
    # A hook may stop an agent, so each one that is missing is a right that was added.
    dropped = [
        event
        for event in hooks.EVENTS
        if not _anonymous_hooks(old, event) <= _anonymous_hooks(new, event)
    ]
    if dropped:
        yield "lacks hooks that the user's has", Shown(tuple(dropped))
    before = request_limit(old.request_limit, old.request_limit_mode)
    after = request_limit(new.request_limit, new.request_limit_mode)
    if _strictness(after) < _strictness(before):
        yield "has a looser request limit", Shown((_format_limit(after),))


def _anonymous_hooks(profile: AgentProfile, event: str) -> set[msgspec.Struct]:
    """The hooks of an event, without their names and layers."""
    found: Iterable[hooks.Hook] = getattr(profile.hooks, event)
    return {msgspec.structs.replace(each, name=None, source=None) for each in found}


def _strictness(limit: RequestLimit | None) -> tuple[float, ...]:
    """Greater for a limit that allows less. None is a limit that the program chooses."""
    if limit is None or limit.number is None:
        return (1,) if limit is None else (0,)
    # A smaller number allows less, and `fixed` cannot be raised while the agent runs.
    return (2, -limit.number, limit.mode == "fixed")


def _format_limit(limit: RequestLimit | None) -> str:
    if limit is None:
        return "left to the program"
    return limit.mode if limit.number is None else f"{limit.mode} {limit.number}"


def names_do_not_look_alike(outcomes: Sequence[Outcome]) -> Iterator[Finding]:
    """No two names look the same to people or to a file system."""
    seen: dict[str, Member] = {}
    for each in members(outcomes):
        first = seen.setdefault(_fold_name(each.name), each)
        if first.name != each.name:
            also = (Also("the other one", span=first.start),)
            name, other = Shown(each.name), Shown(first.name)
            fact = codes.PROFILE_NAMES_ALIKE.at(span=each.start, also=also, name=name, other=other)
            yield each.outcome, fact


# The kind.

EXAMPLE = """\
---
description: Reviews a change and reports problems. Use it before a merge.
tools:
  allow: [read_file, search]
request_limit: 20
request_limit_mode: fixed
---
You review changes. Read the files that changed, and the tests beside them.

Report each problem with file and line, the worst first. Do not edit anything.
"""
_NAME = lazy_regex(r"(?:.*/)?(?:(?P<folder>[^/]+)/config\.toml|(?P<file>[^/]+)\.md)\Z")


def _list_agent(plain: Any, file: str) -> Iterator[Item]:
    """One agent, named by its file or folder; none if the program cannot read that name."""
    match = _NAME.match(file)
    name = (match["folder"] or match["file"]) if match is not None else file
    if not NOT_UTF8.search(name):
        yield Item("agent", name, plain.get("description"))


#: Agents of the `.defect` convention: `agents/<name>.md` and `agents/<name>/config.toml`.
FORMAT = Format(
    name="profile",
    title="agent profile",
    model=AgentProfile,
    reading=Reading(
        options=ProfileOptions,
        syntaxes={".md": "yaml", ".toml": "toml"},
        read=stages.read,
        variables=False,
    ),
    strictness=STRICT_YAML,
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(stages.keep_text, stages.fold_model, stages.bring_prompt, stages.prepare_hooks),
    checks=(texts_are_not_empty, numbers_are_plausible, allowed_tools_can_match, hooks_can_run),
    codes=PROFILE_CODES,
    together=Together(
        set_rules=(names_are_unique, project_replaces_user, names_do_not_look_alike),
        set_key=group_key,
        cross_rules=(servers_exist,),
        codes=(
            codes.DUPLICATE_PROFILE,
            codes.PROFILE_LOOSENS,
            codes.PROFILE_SHADOWS,
            codes.PROFILE_NAMES_ALIKE,
            codes.UNKNOWN_SERVER,
        ),
        refers=has_server_references,
    ),
    layering=Layering(
        layers=("user", "project"),
        identity=stages.identity,
        discovered=True,
        layer=AGENTS.layer_of,
        beside=AGENTS.check_folder,
        above=AGENTS.project_folder,
        elsewhere=AGENTS.user_folder,
    ),
    presentation=Presentation(
        hidden="source",
        example=EXAMPLE,
        example_path=".defect/agents/NAME.md",
        listing=_list_agent,
        sensitive=(
            Sensitive("tools.allow", "permission", default=READ_ONLY_TOOLS),
            Sensitive("hooks.**", "permission"),
            Sensitive("prompt.*", "prompt"),
            Sensitive("description", "prompt"),
        ),
    ),
)


class Profile(msgspec.Struct, frozen=True, gc=False):
    """One agent, ready to use: its profile with defaults filled in, and where it came from.

    >>> writer = equipage.discover_profiles(".", local=True)["writer"]
    >>> writer.description, writer.layer, writer.file.name, writer.model
    ('Writes', 'project', 'writer.md', None)
    """

    name: str
    """The name of its folder or file, by which agents choose it."""
    layer: LayerName
    """Whose it is: the user's or the project's."""
    variant: Variant
    """`folder` or `file`: which of the two forms it has."""
    file: FilePath
    """The profile's own file, absolute."""
    dir: FilePath
    """Its folder; for a single file, the `agents` folder."""
    description: str
    """When to use the agent."""
    system_prompt_text: str
    """Its system prompt, wherever that is written."""
    model: str | None
    """The model to use; None: the caller's."""
    tool_allow: tuple[str, ...]
    """Names and patterns of the tools that it may use."""
    sampling: Sampling | None
    """Sampling parameters of the model; None: the caller's."""
    inherit_project_prompt: bool
    """Whether the project's own instructions come before the prompt."""
    request_limit: RequestLimit | None
    """How many requests one turn may make; None: left to the program."""
    hooks: Mapping[str, tuple[Hook, ...]]
    """What runs at which event; only events that have hooks."""


class Profiles(LayeredMapping[Profile]):
    """The profiles that count, by name, in order of their names.

    >>> profiles = equipage.discover_profiles(".", local=True)
    >>> list(profiles), profiles.shadowed, profiles.loaded("writer").kind
    (['writer'], (), 'profile')
    """

    what = "profile"

    def __init__(self, discovery: Discovery) -> None:
        super().__init__(discovery, _build_profile)
        self.shadowed = tuple(_build_profile(each) for each in self.found if each.shadowed_by)


def discover_profiles(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    home_dir: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Profiles:
    """The agents that can be called from `cwd`: the user's, and over them the project's.

    A profile of the project replaces the user's profile of that name as a whole. With `local`, the
    user's profiles are left out. `discovery.find_layer_folders` says where the layers are.

    Raises `LoadError` with every error of every profile, shadowed ones included: a broken profile
    neither hides the errors of the others nor is left out.

    >>> equipage.discover_profiles(".", local=True)["writer"].system_prompt_text
    'You write.'
    """
    places = find_layer_folders(
        cwd, local=local, xdg_config_home=xdg_config_home, home=home, home_dir=home_dir, env=env
    )
    return Profiles(profiles_of(places))


class FoundProfiles(msgspec.Struct, frozen=True):
    """The profiles that can be used, and every finding.

    >>> found = equipage.find_profiles(".", local=True)
    >>> [each.name for each in found.profiles], found.errors
    (['writer'], ())
    """

    profiles: tuple[Profile, ...]
    """Those without errors, sorted by name."""
    diagnostics: tuple[Diagnostic, ...]
    """Every finding of every profile."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep a profile from being used."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


def find_profiles(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    home_dir: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> FoundProfiles:
    """The agents that can be called from `cwd`, and what is wrong with the others.

    Looks where `discover_profiles` looks, and never raises on bad files. A name whose profile is
    broken, or that a layer has twice, is left out: the user's profile does not take the place of a
    broken one of the project.

    >>> equipage.find_profiles(".", local=True).profiles[0].description
    'Writes'
    """
    places = find_layer_folders(
        cwd, local=local, xdg_config_home=xdg_config_home, home=home, home_dir=home_dir, env=env
    )
    discovery = profiles_of(places)
    winning = [each for each in discovery.found if each.shadowed_by is None]
    count = Counter(each.name for each in winning)
    good = [each for each in winning if each.outcome.ok and count[each.name] == 1]
    profiles = map(_build_profile, sorted(good, key=lambda each: each.name))
    return FoundProfiles(tuple(profiles), discovery.diagnostics)


def profiles_of(places: LayerFolders) -> Discovery:
    """Every profile of every layer, checked. Never raises on bad files."""
    return discover(AGENTS, FORMAT, places)


def _build_profile(found: Found) -> Profile:
    config: AgentProfile = found.outcome.config
    used = {event: hooks for event in EVENTS if (hooks := getattr(config.hooks, event))}
    return Profile(
        name=found.name,
        layer=found.layer,
        variant=variant_of(str(found.file)),
        file=found.file,
        dir=found.file.parent,
        description=config.description,
        system_prompt_text=config.prompt.text or "",
        model=config.model,
        tool_allow=config.tools.allow,
        sampling=config.sampling,
        inherit_project_prompt=config.inherit_project_prompt,
        request_limit=request_limit(config.request_limit, config.request_limit_mode),
        hooks=FrozenDict(used),
    )
