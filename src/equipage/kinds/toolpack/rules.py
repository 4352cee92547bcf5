"""What a toolpack must say beyond its shape. Values may have been pruned: nothing is sure to be there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.files.reading import display_name
from equipage.kinds.toolpack import codes
from equipage.loading.session import Session
from equipage.loading.tree import Origin, get

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome


_ID = re.compile(r"[a-z0-9]+(?:\.[a-z0-9]+)+")
_THREE_NUMBERS = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}")
#: SemVer 2.0: three numbers without leading zeros, a pre-release of such numbers or words, a build label.
_SEMVER = re.compile(
    _THREE_NUMBERS.pattern
    + r"(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
    + r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_MODULE = re.compile(rf"{_NAME}:{_NAME}")
_URL = re.compile(r"(?:https?://|\{\{)", re.IGNORECASE)
_LINE_BREAK = re.compile(r"[\r\n]")
_OLD_KEYS = ("entry", "schema", "kind")


# ------------------------------------------------------------------------------------------------- identity


def id_is_dotted(pack: Any, _session: Session) -> Iterator[Fact]:
    """`id` is dotted lower-case segments; a colon may stand for a dot."""
    name = get(pack, ("id",))
    if not isinstance(name, str) or not name or _ID.fullmatch(name):
        return
    dotted = name.replace(":", ".")
    if _ID.fullmatch(dotted):
        yield codes.ID_COLON.at(("id",), found=Shown(name), nearest=dotted)
        return
    guess = re.sub(r"[^a-z0-9]+", ".", name.strip().lower()).strip(".")
    yield codes.ID_FORM.at(
        ("id",), found=Shown(name), nearest=guess if _ID.fullmatch(guess) else None
    )


def version_is_semantic(pack: Any, _session: Session) -> Iterator[Fact]:
    """`version` has three numbers and parses as PEP 440; SemVer 2.0 is better still."""
    version = get(pack, ("version",))
    if not isinstance(version, str) or not version or _THREE_NUMBERS.fullmatch(version):
        return
    from packaging.version import InvalidVersion, Version

    try:
        release = Version(version).release
    except (InvalidVersion, ValueError):
        yield codes.VERSION_FORM.at(("version",), found=Shown(version))
        return
    if len(release) != 3:
        hint = f"write `{version.strip()}{'.0' * (3 - len(release))}`" if len(release) < 3 else None
        yield codes.VERSION_FORM.at(("version",), found=Shown(version), hint=hint)
    elif not _SEMVER.fullmatch(version):
        yield codes.VERSION_NOT_SEMVER.at(
            ("version",), found=Shown(version), nearest=".".join(map(str, release))
        )


# ---------------------------------------------------------------------------------------------- environment


def env_names_are_upper_case(pack: Any, _session: Session) -> Iterator[Fact]:
    """Names of variables are upper case, in both lists."""
    passed = get(pack, ("env", "passthrough"))
    for number, name in enumerate(passed if isinstance(passed, list) else ()):
        if isinstance(name, str) and name and not _ENV_NAME.fullmatch(name):
            yield _env_name("env.passthrough name", name, ("env", "passthrough", number), "value")
    given = get(pack, ("env", "set"))
    for name in given if isinstance(given, dict) else ():
        if not name:
            yield codes.ENV_NAME_EMPTY.at(("env", "set", name), part="key", where="env.set keys")
        elif not _ENV_NAME.fullmatch(name):
            yield _env_name("env.set key", name, ("env", "set", name), "key")


def _env_name(where: str, name: str, path: Path, part: Any) -> Fact:
    guess = re.sub(r"[^A-Z0-9]+", "_", name.strip().upper()).strip("_")
    fits = _ENV_NAME.fullmatch(guess) is not None
    remedy = (
        Remedy(f"change to `{guess}`", (Change(path, guess, part),), safe=False) if fits else None
    )
    return codes.ENV_NAME.at(
        path,
        part=part,
        remedy=remedy,
        where=where,
        found=Shown(name),
        nearest=guess if fits else None,
    )


def env_is_passed_or_set(pack: Any, _session: Session) -> Iterator[Fact]:
    """A variable is passed through or set, not both."""
    passed, given = get(pack, ("env", "passthrough")), get(pack, ("env", "set"))
    if isinstance(passed, list) and isinstance(given, dict):
        for number, name in enumerate(passed):
            if isinstance(name, str) and name and name in given:
                yield codes.ENV_SET_AND_PASSED.at(("env", "passthrough", number), found=Shown(name))


# ------------------------------------------------------------------------------------------------ execution

#: The names that can hold what is run, in the order they are looked at.
_ENTRIES = {
    "node": ("script", "node", "module"),
    "php": ("php", "script"),
    "python": ("module", "script"),
}


def execution_has_an_entry(pack: Any, _session: Session) -> Iterator[Fact]:
    """`python`, `node` and `php` name what they run in one of several fields."""
    execution = get(pack, ("execution",))
    kind = get(execution, ("kind",))
    entries = _ENTRIES.get(kind) if isinstance(kind, str) else None
    if entries is None or not isinstance(execution, dict):
        return
    empty: tuple[object, ...] = (None,) if kind == "python" else (None, "")
    if all(execution.get(name) in empty for name in entries):
        quoted = [f"'{name}'" for name in entries]
        names = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
        yield codes.EXECUTION_ENTRY.at(("execution",), part="key", kind=kind, names=names)


def module_names_a_callable(pack: Any, _session: Session) -> Iterator[Fact]:
    """The `module` of a python execution is `module:callable`."""
    if get(pack, ("execution", "kind")) != "python":
        return
    module = get(pack, ("execution", "module"))
    if not isinstance(module, str) or not module or _MODULE.fullmatch(module):
        return
    place = ("execution", "module")
    if ":" not in module or module.startswith(":") or module.endswith(":"):
        stem, _, last = module.strip(":").rpartition(".")
        hint = f"`{stem}:{last}`?" if stem and _MODULE.fullmatch(f"{stem}:{last}") else None
        yield codes.EXECUTION_MODULE.at(
            place, found=Shown(module), hint=hint and f"did you mean {hint}"
        )
    else:
        yield codes.EXECUTION_MODULE_NAME.at(place, found=Shown(module))


def requests_can_be_made(pack: Any, _session: Session) -> Iterator[Fact]:
    """The address and the headers of an http execution make a request."""
    if get(pack, ("execution", "kind")) != "http":
        return
    url = get(pack, ("execution", "url"))
    if isinstance(url, str) and url and not _URL.match(url):
        yield codes.EXECUTION_URL.at(("execution", "url"), found=Shown(url))
    headers = get(pack, ("execution", "headers"))
    for name, value in headers.items() if isinstance(headers, dict) else ():
        place = ("execution", "headers", name)
        if not name:
            yield codes.HEADER_NAME_EMPTY.at(place, part="key")
        elif isinstance(value, str) and _LINE_BREAK.search(name + value.rstrip("\r\n")):
            yield codes.HEADER_LINE_BREAK.at(place, found=Shown(name))


def dialect_is_current(pack: Any, _session: Session) -> Iterator[Fact]:
    """A pack of the dialect before this one is told as such, beside all that it lacks."""
    if isinstance(pack, dict) and "execution" not in pack:
        old = [key for key in _OLD_KEYS if key in pack]
        if len(old) > 1:
            yield codes.OLD_DIALECT.at((old[0],), part="key", found=tuple(old))


RULES = (
    id_is_dotted,
    version_is_semantic,
    env_names_are_upper_case,
    env_is_passed_or_set,
    execution_has_an_entry,
    module_names_a_callable,
    requests_can_be_made,
    dialect_is_current,
)


# --- together ----------------------------------------------------------------------------------
# What packs that are loaded together must not do to each other.


def set_key(outcome: Outcome) -> str | None:
    """Only packs with the same id, or nearly the same, concern each other."""
    name = _id_of(outcome)
    return None if name is None else _folded(name)


def _folded(name: str) -> str:
    return name.replace(":", ".")


def ids_are_unique(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Fact]]:
    """Each id occurs once; the later file is at fault, and the first is named."""
    first: dict[str, Outcome] = {}
    alike: dict[str, str] = {}
    for outcome in sorted(outcomes, key=_order):
        name = _id_of(outcome)
        if name is None:
            continue
        folded = _folded(name)
        if name in first:
            yield outcome, _duplicate(name, outcome, first[name])
        elif folded in alike:
            other = alike[folded]
            also = (Also("the other one", origin=_origin(first[other])),)
            yield (
                outcome,
                codes.SIMILAR_ID.at(("id",), also=also, id=Shown(name), other=Shown(other)),
            )
        first.setdefault(name, outcome)
        alike.setdefault(folded, name)


def _duplicate(name: str, outcome: Outcome, first: Outcome) -> Fact:
    also = (Also("first used here", origin=_origin(first)),)
    return codes.DUPLICATE_ID.at(
        ("id",), also=also, id=Shown(name), file=_file(outcome), first=_file(first)
    )


def _file(outcome: Outcome) -> str:
    """The file as the caller named it: behind a link there may be one that another pack is made of, too."""
    return (
        outcome.sources[0].name if outcome.session is None else display_name(outcome.session.path)
    )


def _order(outcome: Outcome) -> tuple[str, ...]:
    """By the parts of the path, so that a folder comes before a file whose name continues its own."""
    return tuple(_file(outcome).split("/")) if outcome.sources else ()


def _id_of(outcome: Outcome) -> str | None:
    name = get(outcome.tree.value, ("id",)) if outcome.tree is not None else None
    return name if isinstance(name, str) and name else None


def _origin(outcome: Outcome) -> Origin:
    assert outcome.tree is not None
    return outcome.tree.story(("id",)).origin
