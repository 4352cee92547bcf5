"""Hooks: programs that a tool runs at certain events. Most tools share the shape, none the words.

A misspelt event never fires and nothing is reported, so a hook that guards something is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from equipage.clients.catalogue import Field, Group, list_of


def events_group(title: str, names: Iterable[str], entries: Any, *more: Field) -> Group:
    """The table of hooks by event: each event holds a list of `entries`."""
    fields = tuple(
        Field(name, f"what runs at the event `{name}`", list_of(entries), restricts=True)
        for name in names
    )
    return Group(title, (*fields, *more), unknown="acts")


def hooks_field(tool: str, events: Iterable[str], entries: Any) -> Field:
    """The field of a file that holds the hooks of a tool, and little else."""
    group = events_group(f"the hooks of {tool}", events, entries)
    return Field("hooks", "what runs, by event", group, required="warning")


def matcher_group(title: str, handler: Group, *more: Field) -> Group:
    """A matcher, and the handlers that run for what it matches."""
    return Group(
        title,
        (
            Field("matcher", "the tools or sources it is for; without it, all of them"),
            Field("hooks", "what runs", list_of(handler), required="warning"),
            *more,
        ),
    )
