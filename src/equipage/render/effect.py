"""What agents may do more or less than before, as text, as data, and as a comment on a change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from equipage.core.text import visible
from equipage.effect.reach import Difference, Step
from equipage.record.sides import Unjudged
from equipage.render.text import Style

VERBS = {"allows": "allowed", "asks": "asks", "denies": "denied"}
#: More lines about one agent than this hide what matters.
_MAX_LINES = 40


#: So many files with one cause are named, and the others counted.
_MAX_NAMES = 3


def group_unjudged(found: Iterable[Unjudged]) -> Iterator[tuple[str, Unjudged]]:
    """One entry for each cause: the files, and one of what was found."""
    groups: dict[tuple[str, bool], list[Unjudged]] = {}
    for each in found:
        groups.setdefault((each.reason, each.counts), []).append(each)
    for group in groups.values():
        names = ", ".join(each.file for each in group[:_MAX_NAMES])
        is_long = len(group) > _MAX_NAMES
        yield f"{len(group)} files ({names} …)" if is_long else names, group[0]


def lines_of_reach(each: Difference, style: Style) -> Iterator[str]:
    """The agent, and each thing that it may do more or less."""
    word = "reach widened" if each.widening_steps else "reach narrowed"
    reach = each.reach
    status = " (new)" if each.before is None else " (removed)" if each.after is None else ""
    painted = style.paint("warning" if each.widening_steps else "place", word)
    yield f"{painted}: {visible(reach.file)}: {visible(f'{reach.sort} {reach.name}')}{status}"
    for step in each.steps[:_MAX_LINES]:
        effects = f"{VERBS[step.before]} → {VERBS[step.after]}"
        place = _place_note(step, visible)
        where = f" ({place})" if place else ""
        yield f"  {step.how}: {_describe_target(step)}: {effects}{where}"
    if len(each.steps) > _MAX_LINES:
        yield f"  … and {len(each.steps) - _MAX_LINES} more"


def _describe_target(step: Step) -> str:
    name = "everything else" if step.name == "*" and step.now and step.now.base else step.name
    return visible(f"{step.sort} {name}")


def _place_note(step: Step, spell: Callable[[str], str]) -> str:
    """The field that decides, or that is absent; empty if there is none."""
    grant = step.grant
    if grant is None or not grant.field:
        return ""
    return spell(grant.field) + (" is absent" if grant.default else "")


def reach_to_dict(each: Difference) -> dict[str, Any]:
    reach = each.reach
    return {
        "file": reach.file,
        "kind": reach.kind,
        "sort": reach.sort,
        "name": reach.name,
        "widened": bool(each.widening_steps),
        "steps": [
            {
                "how": step.how,
                "sort": step.sort,
                "name": step.name,
                "before": step.before,
                "after": step.after,
                "path": "" if step.grant is None else step.grant.field,
                "default": step.grant is not None and step.grant.default,
            }
            for step in each.steps
        ],
    }


# A comment on a pull request.


def render_markdown(found: Iterable[Difference], unjudged: Sequence[Unjudged] = ()) -> str:
    """The agents that may do more than before, those that may do less, and what cannot be judged;
    empty without any of it.
    """
    changed, lines = [*found], list[str]()
    for word in ("more", "less"):
        shown = [each for each in changed if bool(each.widening_steps) == (word == "more")]
        if shown:
            several = f"{len(shown)} agents or settings may do {word}"
            lines += [f"### {f'One agent may do {word}' if len(shown) == 1 else several}", ""]
        for each in shown:
            lines += _agent_table(each)
    if unjudged:
        count = len(unjudged)
        lines += [f"### {count} change{'s' if count != 1 else ''} that cannot be judged", ""]
        groups = [*group_unjudged(unjudged)]
        lines += [
            f"- {_inline_code(files)}: {_inline_code(each.reason)}"
            for files, each in groups[:_MAX_LINES]
        ]
        if len(groups) > _MAX_LINES:
            lines += ["", f"… and {len(groups) - _MAX_LINES} more"]
    return "\n".join(lines).rstrip() + "\n" if lines else ""


def _agent_table(each: Difference) -> Iterator[str]:
    reach = each.reach
    new = ", new" if each.before is None else ", removed" if each.after is None else ""
    subject = f"**{_strip_markup(reach.sort)} {_inline_code(reach.name)}**"
    yield f"{subject} in {_inline_code(reach.file)}{new}"
    yield ""
    yield "| | what | before | after | where |"
    yield "|---|---|---|---|---|"
    for step in each.steps[:_MAX_LINES]:
        cells = (
            "**wider**" if step.how == "widened" else "narrower",
            f"{step.sort} {_inline_code(step.name)}",
            VERBS[step.before],
            VERBS[step.after],
            _place_note(step, _inline_code),
        )
        yield f"| {' | '.join(cells)} |"
    if len(each.steps) > _MAX_LINES:
        yield ""
        yield f"… and {len(each.steps) - _MAX_LINES} more"
    yield ""


def _inline_code(text: str) -> str:
    """Text as code. What a file holds must not become markup, nor end a cell or a line."""
    shown = visible(text).replace("|", "\\|").replace("\n", " ")
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    padding = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{padding}{shown or ' '}{padding}{ticks}"


def _strip_markup(text: str) -> str:
    return "".join(letter for letter in visible(text) if letter.isalnum() or letter in " -_")
