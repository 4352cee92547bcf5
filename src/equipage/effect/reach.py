"""Who may do what: for each agent and each tool, server, skill and mode, the answer and its reason.

An answer is what the fields of the agent say together with the settings around it. Its reasons are
the grants that decide it: a file and a field, or the default that counts because no file says
anything.

Two reaches can be compared: a `Difference` has what an agent may do more or less than before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from equipage.clients.catalogue import ACTIVITIES, State, client_of
from equipage.clients.file_grants import default_grants, guess_grants, reach_of_value
from equipage.clients.grants import (
    EFFECTS,
    EVERYTHING,
    Effect,
    Grant,
    GrantIndex,
    PatternIndex,
    Reach,
    covers,
    is_unrestricted,
)
from equipage.clients.plugins import MONITORS, parse_json
from equipage.clients.reading import MAIN_AGENT, merge_layers
from equipage.loading.format import Format, Sensitive

if TYPE_CHECKING:
    from equipage.clients.plugins import Part


How = Literal["widened", "narrowed"]
#: How far a step goes that lets everything of a sort through, everything of a server or a tool, or
#: something new that runs or is sent to; other names count one for each effect.
_EVERYTHING_WEIGHT, _GROUP_WEIGHT, _HEAVY_WEIGHT = 10_000, 50, 100
#: Of a number, every step would count.
_MAX_LEVELS = 10
#: Sorts of which one more is more than one tool more: each brings code or a place to send to.
_HEAVY_SORTS = frozenset({"server", "program", "host", "plugin"})

#: Sorts of subjects that add reach by existing. Settings only change the reach of others.
_ACTING_SORTS = frozenset(
    {"agent", "command", "skill", "tool", "team", "workflow", "recipe", "input", "listed plugin"}
)
#: Those that the main agent reads and acts by.
_TEXT_SORTS = frozenset({"command", "skill"})
#: Sorts of subjects that bring much of their own, and what restricts others.
_PLUGIN_SORTS = frozenset({"plugin", "extension", "listed plugin"})


def reaches_of_part(part: Part, data: bytes, name: str) -> tuple[Reach, ...]:
    """The reaches in a part that only a table describes; none if it cannot be read."""
    value = parse_json(data)
    if part.kind == MONITORS and isinstance(value, list):
        value = {"monitors": value}
    if not part.has_only_table or not isinstance(value, dict):
        return ()
    return reach_of_value(Format(dict, part.kind, part.what), value, name)


# Comparing.


def compare_reaches(
    before: Reach | None, after: Reach | None, rules: str | None = None
) -> Difference:
    """How a reach changed, the farthest widening first.

    An agent that is new had no reach, one that is gone has none, unless its client brings one of
    that name. Where settings are missing, what the client does without them counts; so it does for
    a new skill or command that `rules` do not name: the main agent could do as much before.
    """
    if before is None and after is not None:
        is_named = rules is None or mentions_any(rules, (after.name,))
        if after.sort in _TEXT_SORTS and not is_named:
            found = difference_between(_reach_when_absent(after), after)
            return msgspec.structs.replace(found, before=None)
        is_wide = after.name in client_of(after.program).wide_agents
        is_new = after.sort in _ACTING_SORTS and not is_wide
        before = None if is_new else _reach_when_absent(after)
    elif after is None and before is not None and before.sort in _ACTING_SORTS:
        # What a client has of its own may do what was forbidden.
        after = None if leaves_nothing(before) else msgspec.structs.replace(before, grants=())
    elif after is None and before is not None and before.sort not in _PLUGIN_SORTS:
        after = _reach_when_absent(before)
    return difference_between(before, after)


def leaves_nothing(reach: Reach) -> bool:
    """Whether a subject adds reach, and its client has none of that name without it."""
    is_built_in = reach.name in client_of(reach.program).agents
    return reach.sort in _ACTING_SORTS and not (is_built_in and reach.sort == "agent")


def differences(
    before: Iterable[Reach], after: Iterable[Reach], *, rules: str | None = None
) -> list[Difference]:
    """The subjects whose reach changed, those that widened most first.

    `rules` are the names in the rules of both sides, where they are known.
    """
    old = {each.key: each for each in before}
    new = {each.key: each for each in after}
    if rules is not None:
        _follow_names(old, new, rules)
    keys = dict.fromkeys((*old, *new))
    found = [compare_reaches(old.get(key), new.get(key), rules) for key in keys]
    return sorted((each for each in found if each.steps), key=lambda each: -each.far)


_Key = tuple[str, str, str]


def _follow_names(old: dict[_Key, Reach], new: dict[_Key, Reach], rules: str) -> None:
    """Give what is called otherwise now, in the same file, the name of today, if no rule and no
    client knows one of the names."""
    for key in [*new.keys() - old.keys()]:
        gone, come = (
            [other for other in side.keys() - without.keys() if other[:2] == key[:2]]
            for side, without in ((old, new), (new, old))
        )
        is_one = len(gone) == len(come) == 1 and not mentions_any(rules, (gone[0][2], key[2]))
        if is_one and leaves_nothing(old[gone[0]]) and leaves_nothing(new[key]):
            old[key] = old.pop(gone[0])


def successors(before: Iterable[Reach], after: Iterable[Reach]) -> Iterator[Difference]:
    """What agents, commands and skills may do more that count in place of others of their name,
    which are gone. Which of several counts, clients decide in different ways."""
    was, now = (
        {each.key: each for each in side if each.sort in ("agent", "command", "skill")}
        for side in (before, after)
    )
    gone = {(was[key].program, *key[1:]): was[key] for key in was.keys() - now.keys()}
    for key in sorted(was.keys() & now.keys()):
        other = gone.get((now[key].program, *key[1:]))
        found = None if other is None else difference_between(other, now[key])
        if found is not None and found.widening_steps:
            yield msgspec.structs.replace(found, steps=tuple(found.widening_steps))


_SORTS_OF_RULES = frozenset({"tool", "agent", "skill", "mode"})


def names_in_rules(reaches: Iterable[Reach]) -> str:
    """What rules are about that may name an agent, a command or a skill."""
    grants = (grant for each in reaches for grant in each.grants)
    # A mode may be one of many, by name: `skillOverrides.deploy`.
    named = (each for each in grants if each.sort in _SORTS_OF_RULES and not each.default)
    return "\n".join({each.name for each in named})


def mentions_any(text: str, names: Iterable[str]) -> bool:
    """Whether one of some names is a word of a text, or fits one with wildcards: `dep-*`."""
    return any(
        re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)
        or any(fnmatchcase(name, each) for each in _wildcards_in(text))
        for name in names
    )


@lru_cache(maxsize=8)
def _wildcards_in(text: str) -> tuple[str, ...]:
    """The words of a text that have wildcards and something else."""
    words = dict.fromkeys(re.findall(r"[\w*?.-]+", text))
    return tuple(each for each in words if each.strip("*?.") and {"*", "?"} & {*each})


def _reach_when_absent(reach: Reach) -> Reach:
    """The reach that holds without what is written about a subject."""
    grants = default_grants(reach.kind, len(reach.path))
    if reach.sort == MAIN_AGENT:
        grants = tuple(merge_layers((), reach.program))
    return msgspec.structs.replace(reach, grants=grants, inherited=())


#: How much of each sort one matrix shows.
_MAX_COLUMNS = 60


class Answer(msgspec.Struct, frozen=True):
    """Whether an agent may, and the grants that decide it; of a mode, its value."""

    state: State
    reasons: tuple[Grant, ...] = ()
    value: str = ""
    #: whether the agent may run commands, which do what its tools may not
    by_commands: bool = False

    @property
    def is_default(self) -> bool:
        """Whether no file says so."""
        return bool(self.reasons) and all(each.default for each in self.reasons)


class Column(msgspec.Struct, frozen=True):
    """One thing that agents may or may not do."""

    sort: str  #: activity, mode, tool, server or skill
    name: str


class Matrix(msgspec.Struct, frozen=True):
    """The agents of one client, and an answer for each column of each."""

    program: str
    columns: tuple[Column, ...]
    agents: tuple[Reach, ...]
    answers: tuple[tuple[Answer | None, ...], ...]  #: None: it does not apply
    left_out: int = 0  #: columns that few agents name


def matrices(reaches: Iterable[Reach]) -> tuple[Matrix, ...]:
    """One matrix for each client that has agents; `reaches` come from `read_folder`."""
    programs: dict[str, list[Reach]] = {}
    for each in reaches:
        if each.sort in (MAIN_AGENT, "agent") and not _is_disabled(each):
            programs.setdefault(each.program, []).append(each)
    return tuple(_matrix(program, agents) for program, agents in sorted(programs.items()))


def _is_disabled(reach: Reach) -> bool:
    switch = client_of(reach.program).disabled_by
    return any(each.mode == switch and each.level == 0 for each in reach.grants_of("mode"))


def _matrix(program: str, agents: list[Reach]) -> Matrix:
    known = [name for name in ACTIVITIES if _is_known_activity(program, name)]
    columns = [Column("activity", name) for name in known or ACTIVITIES]
    left_out = 0
    for sort in ("mode", "tool", "server", "skill"):
        names = Counter(name for each in agents for name in set(_names_of_sort(each, sort)))
        common = sorted(names, key=lambda name: (-names[name], name))
        left_out += max(0, len(common) - _MAX_COLUMNS)
        columns += (Column(sort, name) for name in sorted(common[:_MAX_COLUMNS]))
    agents = sorted(agents, key=lambda each: (each.sort != MAIN_AGENT, each.name, each.file))
    # Agents of one folder share what they inherit: it is put in order once.
    given = {id(each.inherited): index_inherited(each) for each in agents}
    answers = tuple(
        tuple(answer(each, column, given[id(each.inherited)]) for column in columns)
        for each in agents
    )
    return Matrix(program, tuple(columns), tuple(agents), answers, left_out)


def _is_known_activity(program: str, activity: str) -> bool:
    client = client_of(program)
    return activity in client.tools_by_activity or activity in client.modes_by_activity


def _names_of_sort(reach: Reach, sort: str) -> Iterator[str]:
    """What an agent and its settings name of a sort."""
    program = reach.program
    if sort == "mode":
        yield from (each.mode for each in reach.grants_of("mode") if not each.default)
    elif sort == "tool":
        for each in _all_grants(reach, "tool"):
            name = tool_of(program, each.name)
            if not each.default and EVERYTHING not in name and _server_in(program, name) is None:
                yield name
    else:
        yield from (each.name for each in _all_grants(reach, sort) if EVERYTHING not in each.name)
        if sort == "server":
            found = (_server_in(program, each.name) for each in reach.grants_of("tool"))
            yield from (name for name in found if name and EVERYTHING not in name)


def known_tools(matrix: Matrix) -> set[str]:
    """The tools that files name or that the client is known to have."""
    client = client_of(matrix.program)
    own = {*client.tools, *client.aliases, *client.unasked_tools, *client.other_tools}
    named = (each.name for each in matrix.columns if each.sort == "tool")
    return own.union(named, *client.tools_by_activity.values())


def tool_meant(matrix: Matrix, word: str) -> Column | None:
    """The tool that a word means, in letters of either case; None if nothing is known of it."""
    if Column("server", _server_in(matrix.program, word) or "") in matrix.columns:
        return Column("tool", word)
    tool, bracket, rest = word.partition("(")
    found = {each.lower(): each for each in known_tools(matrix)}.get(tool.lower())
    if found is None:
        return None
    return Column("tool", f"{tool_of(matrix.program, found)}{bracket}{rest}")


def _all_grants(reach: Reach, sort: str) -> Iterator[Grant]:
    return (each for each in (*reach.inherited, *reach.grants) if each.sort == sort)


def tool_of(program: str, name: str) -> str:
    """The tool that a grant is about: `Bash` for `Bash(git:*)`."""
    tool = name.partition("(")[0].strip()
    return client_of(program).aliases.get(tool, tool)


def _server_in(program: str, name: str) -> str | None:
    """The server in the name of a tool; None for a tool of the client itself."""
    tool = name.partition("(")[0]  # what is in the brackets may be a path
    if tool.startswith("mcp__"):
        return tool[5:].partition("__")[0]
    # The name of a server may have a slash: its tool is behind the last one.
    server, slash, last = tool.rpartition("/")
    if tool.startswith("@") and tool != client_of(program).built_in_tools:
        return (server or last)[1:]
    return server if slash else None


# ---------------------------------------------------------------------------------------- answers


#: What an agent inherits, by sort and name.
InheritedGrants = dict[tuple[str, str], tuple[Grant, ...]]


def index_inherited(reach: Reach) -> InheritedGrants:
    """The grants that an agent inherits, indexed by sort and name."""
    found: dict[tuple[str, str], list[Grant]] = {}
    for each in reach.inherited:
        found.setdefault((each.sort, each.name), []).append(each)
    return {key: tuple(grants) for key, grants in found.items()}


def answer(reach: Reach, column: Column, given: InheritedGrants | None = None) -> Answer | None:
    """Whether an agent may do something; None if the question does not apply to it.

    `given` is what `index_inherited` returns, for callers that ask more than once.
    """
    if reach.unknown and column.sort in ("activity", "tool", "server"):
        return Answer("unknown", reach.grants)
    given = index_inherited(reach) if given is None else given
    if column.sort == "activity":
        return may_do(reach, column.name)
    if column.sort == "mode":
        found = next((each for each in reach.grants_of("mode") if each.mode == column.name), None)
        value = "" if found is None else found.name.partition(" = ")[2]
        return None if found is None else Answer(found.effect, (found,), value)
    if column.sort == "tool":
        return may_use(reach, column.name)
    of_sort = _may_use_server if column.sort == "server" else _may_use_skill
    return of_sort(reach, column.name, given)


#: Where tools decide: what commands do as well, which no tool keeps them from.
_RUNS, _DONE_BY_COMMANDS = ACTIVITIES[2], frozenset({*ACTIVITIES[:2], ACTIVITIES[3]})


def may_do(reach: Reach, activity: str) -> Answer | None:
    """Whether an agent may do an activity; None where its file says nothing of it."""
    client = client_of(reach.program)
    modes = client.modes_by_activity.get(activity)
    silent = Answer("unknown") if reach.sort == MAIN_AGENT else None
    if modes is not None:
        decided = [
            each
            for each in (_answer_by_mode(reach, *mode) for mode in modes.items())
            if each is not None
        ]
        return min(decided, key=lambda each: _STATES_WIDEST_FIRST.index(each.state), default=silent)
    if activity not in client.tools_by_activity:
        return Answer("unknown")
    tools = client.tools_by_activity[activity]
    answers = [each for each in (may_use(reach, tool) for tool in tools) if each is not None]
    if not answers:
        return silent
    widest = min(answers, key=lambda each: _STATES_WIDEST_FIRST.index(each.state))
    if widest.state == "denies" and (unknown := tuple(_unknown_tools(reach))):
        return Answer("unknown", unknown)
    reasons = (grant for each in answers if each.state == widest.state for grant in each.reasons)
    is_done = widest.state == "denies" and activity in _DONE_BY_COMMANDS
    runs = may_do(reach, _RUNS) if is_done else None
    by_commands = runs is not None and runs.state != "denies"
    return Answer(widest.state, tuple(dict.fromkeys(reasons)), by_commands=by_commands)


def _unknown_tools(reach: Reach) -> Iterator[Grant]:
    """The tools that a list does not deny and of which nothing is known."""
    client = client_of(reach.program)
    known = frozenset((EVERYTHING, client.built_in_tools, *client.other_tools))
    known = known.union(*client.tools_by_activity.values())
    for each in () if client.tools else reach.grants_of("tool"):
        tool = tool_of(reach.program, each.name)
        is_known = tool in known or _server_in(reach.program, tool)
        if not (each.base or is_known) and each.effect != "denies":
            yield each


def _answer_by_mode(reach: Reach, name: str, states: dict[str, State]) -> Answer | None:
    """What a mode decides: that of the agent, else that of its settings, else the default."""
    own = [each for each in reach.grants_of("mode") if each.mode == name]
    given = [each for each in reach.inherited if each.sort == "mode" and each.mode == name]
    written = [each for each in own if not each.default]
    found = next(iter((*written, *given, *own)), None)
    if found is None:
        return None
    value = found.name.partition(" = ")[2]
    return Answer(states.get(value, "unknown"), (found,), value)


_STATES_WIDEST_FIRST: tuple[State, ...] = ("allows", "unknown", "partly", "asks", "denies")


def may_use(reach: Reach, tool: str) -> Answer | None:
    """Whether an agent may use a tool; None where its file says nothing of tools."""
    program = reach.program
    own = [each for each in reach.grants if each.sort == "tool"]
    if reach.precedence == "last":
        return _last_match(program, list(_all_grants(reach, "tool")), tool)
    decided = _strictest_match(program, own, tool)
    if decided is None or decided.state == "denies":
        return decided
    if reach.sort == MAIN_AGENT:
        return _skip_question(reach, tool, decided)
    # Settings cannot give an agent a tool that its own list leaves out, but they can forbid one.
    given = [each for each in reach.inherited if each.sort == "tool" and each.effect == "denies"]
    denied = [each for each in given if _is_for(program, each.name, tool) and not each.base]
    if denied:
        return Answer("denies", tuple(denied))
    partly = [each for each in given if tool_of(program, each.name) == tool and not each.base]
    return Answer("partly", (*decided.reasons, *partly)) if partly else decided


def _skip_question(reach: Reach, tool: str, decided: Answer) -> Answer:
    """The answer about the main agent, which in some modes does not ask."""
    modes = client_of(reach.program).unasked_by_mode
    for each in reach.grants_of("mode") if decided.state == "asks" else ():
        if not {tool, EVERYTHING}.isdisjoint(modes.get(each.name, ())):
            return Answer("allows", (each,))
    # As long as a skill or a command runs, what it names is not asked about.
    named = [each for each in reach.inherited if each.effect == "allows" and each.sort == "tool"]
    named = [each for each in named if tool in (each.name, tool_of(reach.program, each.name))]
    return Answer("partly", tuple(named)) if named and decided.state == "asks" else decided


def _strictest_match(program: str, grants: Sequence[Grant], tool: str) -> Answer | None:
    own = _server_in(program, tool) is None
    everything = client_of(program).built_in_tools if own else None
    matching = [
        each for each in grants if each.name == everything or _is_for(program, each.name, tool)
    ]
    explicit = [each for each in matching if not each.base]
    # What holds for all tools of a server is closer than what holds for all tools.
    longest = max((len(each.name) for each in matching), default=0)
    chosen = explicit or [each for each in matching if len(each.name) == longest]
    if not chosen:
        return None
    effect = min((each.effect for each in chosen), key=EFFECTS.index)
    reasons = tuple(each for each in chosen if each.effect == effect)
    # `Bash(git:*)` gives a part of `Bash`, and denying it or asking about it takes a part away.
    parts = [
        each
        for each in grants
        if tool_of(program, each.name) == tool and not _is_for(program, each.name, tool)
        if each.effect != effect
    ]
    return Answer("partly", (*parts, *reasons)) if parts else Answer(effect, reasons)


def _last_match(program: str, grants: Sequence[Grant], tool: str) -> Answer | None:
    """The last grant that matches counts; grants for a part of the tool after it make it partly."""
    decided: Grant | None = None
    parts: list[Grant] = []
    for each in sorted(grants, key=lambda each: not each.base):  # stable: the base comes first
        if each.name == tool or _is_for(program, each.name, tool):
            decided, parts = each, []
        elif tool_of(program, each.name) == tool:
            parts.append(each)
    if decided is None:
        return None
    # What every agent of a client asks about by default tells no agent from another.
    parts = [each for each in parts if each.effect != decided.effect and not each.default]
    if parts:
        return Answer("partly", (decided, *parts))
    return Answer(decided.effect, (decided,))


def _is_for(program: str, name: str, tool: str) -> bool:
    """Whether a grant is about the whole of a tool, by any of its names."""
    return covers(name, tool) or ("(" not in name and tool_of(program, name) == tool)


def _may_use_server(reach: Reach, server: str, given: InheritedGrants) -> Answer | None:
    """Whether an agent may call the tools of a server; None if it has none of that name."""
    own = [each for each in reach.grants_of("server") if each.name == server]
    tools = [each for each in _all_grants(reach, "tool") if not each.base]
    asked = [each for each in tools if _server_in(reach.program, each.name) == server]
    everything = [each for each in reach.grants_of("tool") if each.name == EVERYTHING and each.base]
    listed = own or given.get(("server", server), ())
    if any(each.effect == "denies" for each in own) or (
        listed and all(each.effect == "denies" for each in listed)
    ):
        return Answer("denies", tuple(listed))
    allowed = [each for each in asked if each.effect != "denies"]
    denied = [each for each in asked if each.effect == "denies"]
    if not (listed or asked):
        return None  # it is of another client, or only other agents name it
    if not asked:
        base = everything[0].effect if everything else "allows"
        decided = Answer(base, (*everything, *listed))
        return _skip_question(reach, server, decided) if reach.sort == MAIN_AGENT else decided
    whole = {f"mcp__{server}", f"mcp__{server}__*", f"{server}/*", f"@{server}", f"@{server}/*"}
    if denied and any(each.name in whole for each in denied):
        return Answer("denies", tuple(denied))
    if any(each.name in whole for each in allowed) and not denied:
        return Answer("allows", tuple(allowed))
    if allowed or (everything and everything[0].effect != "denies"):
        return Answer("partly", tuple(asked))
    return Answer("denies", (*denied, *everything))


def _may_use_skill(reach: Reach, skill: str, given: InheritedGrants) -> Answer | None:
    own = [each for each in reach.grants_of("skill") if covers(each.name, skill)]
    if own:
        effect = min((each.effect for each in own), key=EFFECTS.index)
        return Answer(effect, tuple(own))
    there = given.get(("skill", skill), ())
    if not there:
        return None
    tool = client_of(reach.program).skill_tool
    decided = may_use(reach, tool) if tool is not None else None
    if decided is None:
        return Answer("allows", there)
    return Answer(decided.state, (*decided.reasons, *there))


class Step(msgspec.Struct, frozen=True):
    """One thing that an agent may do more or less than before."""

    how: How
    sort: str
    name: str
    before: Effect
    after: Effect
    far: int  #: only comparable with that of others
    was: Grant | None = None  #: the grant that decided before
    now: Grant | None = None  #: the grant that decides now

    @property
    def grant(self) -> Grant | None:
        """The grant to show: the new one, where one is written."""
        if self.now is None or self.was is None:
            return self.now or self.was
        # What an absent field means is shown where the field was, unless another field decides now.
        is_elsewhere = self.now.default and self.now.path != self.was.path
        return self.was if is_elsewhere else self.now


class Difference(msgspec.Struct, frozen=True):
    """What changed in the reach of one subject."""

    before: Reach | None
    after: Reach | None
    steps: tuple[Step, ...]  #: those that widen first, the farthest at the top

    @property
    def reach(self) -> Reach:
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def widening_steps(self) -> tuple[Step, ...]:
        return tuple(each for each in self.steps if each.how == "widened")

    @property
    def far(self) -> int:
        """How far it widens; negative if it only narrows."""
        wider = sum(each.far for each in self.widening_steps)
        return wider or -sum(each.far for each in self.steps)


def difference_between(before: Reach | None, after: Reach | None) -> Difference:
    """How a reach changed. A subject that is new had no reach; one that is gone has none."""
    counted = _drop_moot_grants(before, after)
    steps = [*_mode_steps(counted, after), *_name_steps(counted, after)]
    steps = [*_drop_implied(steps)]
    steps.sort(key=lambda each: (each.how != "widened", -each.far, each.sort, each.name))
    return Difference(before, after, tuple(steps))


def _drop_moot_grants(before: Reach | None, after: Reach | None) -> Reach | None:
    """What was, without what restricted only servers that are gone, or a subject that is."""
    if before is None:
        return None
    gone = {(each.file, each.path) for each in servers_gone(before, after)}
    restricts_others = before.sort in _PLUGIN_SORTS

    def counts(grant: Grant) -> bool:
        if not _restricts(grant):
            return True
        if after is None and (grant.level is not None or not restricts_others):
            return False
        depths = range(1, len(grant.path) + 1)
        return gone.isdisjoint((grant.file, grant.path[:depth]) for depth in depths)

    return msgspec.structs.replace(before, grants=tuple(filter(counts, before.grants)))


def servers_gone(before: Reach, after: Reach | None) -> list[Grant]:
    """The servers that were started, and are not any more."""
    here = {} if after is None else _started_servers(after)
    return [each for key, each in _started_servers(before).items() if key not in here]


def _started_servers(reach: Reach) -> dict[tuple[object, ...], Grant]:
    """The servers by name and place; the number of one in a list may be another."""
    started = (each for each in reach.grants_of("server") if each.effect == "allows")
    return {(each.name, *filter(_is_key, each.path)): each for each in started}


def _is_key(step: object) -> bool:
    return isinstance(step, str)


def _restricts(grant: Grant) -> bool:
    if grant.level is not None:
        return grant.usual is not None and grant.level < grant.usual
    return grant.effect != "allows"


def _mode_steps(before: Reach | None, after: Reach | None) -> Iterator[Step]:
    old, new = _levels(before), _levels(after)
    for mode in dict.fromkeys((*old, *new)):
        was, now = old.get(mode), new.get(mode)
        # Where nothing is written, the mode is as usual.
        levels = [_level(was, now), _level(now, was)]
        if levels[0] == levels[1]:
            continue
        far = min(abs(levels[1] - levels[0]), _MAX_LEVELS) * _HEAVY_WEIGHT
        if levels[1] > levels[0] and now is not None and now.widest:
            far += _EVERYTHING_WEIGHT
        shown = now or was
        assert shown is not None
        how: How = "widened" if levels[1] > levels[0] else "narrowed"
        effects: list[Effect] = ["denies" if each is None else each.effect for each in (was, now)]
        yield Step(how, "mode", shown.name, effects[0], effects[1], far, was, now)


def _level(grant: Grant | None, other: Grant | None) -> int:
    found = grant.level if grant is not None else other.usual if other is not None else None
    return -1 if found is None else found


def _levels(reach: Reach | None) -> dict[str, Grant]:
    if reach is None:
        return {}
    return {each.mode: each for each in reach.grants if each.level is not None}


def _name_steps(before: Reach | None, after: Reach | None) -> Iterator[Step]:
    """The names that either side mentions, judged by both."""
    sides = [each for each in (before, after) if each is not None]
    named = dict.fromkeys(
        (grant.sort, grant.name) for reach in sides for grant in reach.grants if grant.level is None
    )
    hidden = [_hidden_values(reach) for reach in (before, after)]
    indexes = [None if reach is None else GrantIndex(reach) for reach in (before, after)]
    for sort, name in named:
        was, now = (
            None if index is None else index.deciding_grant(sort, name) for index in indexes
        )
        effects = [_effect(was, now), _effect(now, was)]
        ranks = [EFFECTS.index(each) for each in effects]
        if _is_question_gone(was, now):
            yield Step("widened", sort, name, "asks", "allows", _weight(sort, name, now), was, now)
            continue
        if ranks[0] == ranks[1]:
            values = [each.get((sort, name)) for each in hidden]
            # What it was and is stays hidden; that it is another may let an agent do more.
            if None not in values and values[0] != values[1]:
                shown, far = f"{name} (another value)", _weight(sort, name, now)
                yield Step("widened", sort, shown, "denies", "allows", far, was, now)
            continue
        wider = ranks[1] > ranks[0]
        far = abs(ranks[1] - ranks[0]) * _weight(sort, name, now if wider else was)
        how: How = "widened" if wider else "narrowed"
        yield Step(how, sort, name, effects[0], effects[1], far, was, now)


def _is_question_gone(was: Grant | None, now: Grant | None) -> bool:
    """Whether a rule that asks is gone: settings of the user may allow what is not asked here."""
    if was is None or was.base or was.effect != "asks":
        return False
    return now is None or (now.base and now.effect == "asks")


def _hidden_values(reach: Reach | None) -> dict[tuple[str, str], list[str]]:
    """The hidden values of a reach by what they are about, each in order."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in () if reach is None else reach.grants:
        if each.hidden is not None:
            found.setdefault((each.sort, each.name), []).append(each.hidden.value)
    return {key: sorted(values) for key, values in found.items()}


def _effect(grant: Grant | None, other: Grant | None) -> Effect:
    """What a grant does; without one, the opposite of what the other side had to write down."""
    if grant is not None:
        return grant.effect
    return "allows" if other is not None and other.effect == "denies" else "denies"


def _weight(sort: str, name: str, grant: Grant | None) -> int:
    if grant is not None and grant.name == name and is_unrestricted(grant):
        return _EVERYTHING_WEIGHT
    if name.endswith(("/*", "(*)")) or name == EVERYTHING:
        return _GROUP_WEIGHT
    return _HEAVY_WEIGHT if sort in _HEAVY_SORTS else 1


def _drop_implied(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps without those that a wider one of the same sort and effects already says."""
    groups: dict[tuple[str, ...], list[tuple[str, Step]]] = {}
    for each in steps:
        key = (each.sort, each.how, each.before, each.after)
        groups.setdefault(key, []).append((each.name, each))
    indexes = {key: PatternIndex(group) for key, group in groups.items()}
    for each in steps:
        wider = indexes[each.sort, each.how, each.before, each.after].candidates(each.name)
        # A deny or ask that went is worth a line of its own.
        went = each.was is not None and not each.was.base
        if went or not any(
            covers(other.name, each.name, each.sort)
            and not covers(each.name, other.name, each.sort)
            for other in wider
        ):
            yield each


def compare_by_patterns(sensitive: Sequence[Sensitive], before: Any, after: Any) -> Difference:
    """How two values differ in what they allow, by the patterns of their permissions alone."""
    sides = (
        Reach("", "settings", "", "", "", tuple(guess_grants(sensitive, value, "")))
        for value in (before, after)
    )
    return difference_between(*sides)
