"""The server itself, and the two forms of a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.kinds.server.items import SORTS
from equipage.session import Session
from equipage.tree import mapping

#: More bytes make a name unusual.
LONG_NAME = 100


def server_has_a_name(config: Any, _session: Session) -> Iterator[Fact]:
    name = mapping(mapping(config).get("server")).get("name")
    if name == "":
        yield fact("empty-field", ("server", "name"), field="name")
    elif isinstance(name, str) and len(name.encode("utf-8", "replace")) > LONG_NAME:
        yield fact("long-name", ("server", "name"), length=len(name.encode("utf-8", "replace")))


def form_is_one(config: Any, _session: Session) -> Iterator[Fact]:
    """Items at the top level and a baseline, or phases, exclude each other."""
    config = mapping(config)
    phased = next((key for key in ("baseline", "phases") if config.get(key) is not None), None)
    if phased is None:
        return
    for sort in SORTS:
        if config.get(sort.plural) is not None:
            also = Also(f"`{phased}` makes it the phased form", (phased,), "key")
            yield fact("mixed-forms", (sort.plural,), part="key", also=[also], key=sort.plural, phased=phased)


def phases_have_a_baseline(config: Any, _session: Session) -> Iterator[Fact]:
    config = mapping(config)
    simple = any(config.get(sort.plural) is not None for sort in SORTS)
    if config.get("phases") and "baseline" not in config and not simple:
        yield fact("no-baseline", ("phases",), part="key")


def defaults_are_needed(config: Any, _session: Session) -> Iterator[Fact]:
    """What is only a default of the baseline has no effect beside the baseline's own."""
    config = mapping(config)
    baseline, server = mapping(config.get("baseline")), mapping(config.get("server"))
    for path, holder in ((("server", "capabilities"), server), (("behavior",), config)):
        key = path[-1]
        if holder.get(key) is not None and baseline.get(key) is not None:
            said: dict[str, Any] = {"key": ".".join(path), "winner": f"baseline.{key}"}
            yield fact("superseded-default", path, part="key", **said)


def dates_are_dates(config: Any, _session: Session) -> Iterator[Fact]:
    metadata = mapping(mapping(config).get("metadata"))
    for key in ("created", "updated"):
        written = metadata.get(key)
        if isinstance(written, str) and not _is_date(written):
            yield fact("not-a-date", ("metadata", key), found=Shown(written))


def _is_date(written: str) -> bool:
    try:
        return date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False


RULES = (server_has_a_name, form_is_one, phases_have_a_baseline, defaults_are_needed, dates_are_dates)
