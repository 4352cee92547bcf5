"""What a toolpack may say beyond its shape, and what it must fulfil.

Two stages run before the shape is checked: old names become the current ones, and shorthands their
full form. The rules run after it. Values may be pruned then: no field is sure to exist.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from equipage.core.diagnostics import Part
from equipage.core.text import lazy_regex
from equipage.formats.toolpack import codes
from equipage.formats.toolpack.model import BLOCKS, EXECUTIONS, Block, ToolpackFile
from equipage.loading.tree import put_all
from equipage.plugin import (
    Also,
    Change,
    Fact,
    Origin,
    Outcome,
    Path,
    Remedy,
    Session,
    Shown,
    Tree,
    get,
    mapping_or_empty,
    move,
    put,
    remove,
)

# Names and shorthands.

PROTOCOLS = ("http", "https")
_CLASSES: tuple[type[Block], ...] = (ToolpackFile, *BLOCKS.values(), *EXECUTIONS.values())
#: Every camelCase name of a field.
_FIELD_NAMES = frozenset(name for cls in _CLASSES for name in cls.__struct_encode_fields__)


def rename_snake_case(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Report every snake_case name of a field, and read it as the field it means."""
    facts: list[Fact] = []
    for path, block, fields in _blocks(tree.value):
        for name in [each for each in block if "_" in each]:
            camel, place = _to_camel_case(name), (*path, name)
            if camel not in fields:
                continue
            if camel in block:
                code, remedy = codes.SNAKE_CASE_BOTH, None
                tree = remove(tree, place)
            else:
                code = codes.SNAKE_CASE_KEY
                remedy = Remedy(f"rename to `{camel}`", (Change(place, camel, "key"),))
                tree = move(tree, place, (*path, camel))
            fact = code.at(place, part="key", remedy=remedy, found=Shown(name), camel=camel)
            # No loader has ever read the snake_case names of `templating`.
            if session.options.legacy_keys == "warn" and path != ("templating",):
                fact = replace(fact, severity="warning")
            facts.append(fact)
    return tree, facts


def _blocks(root: Any) -> Iterator[tuple[Path, dict[str, Any], tuple[str, ...]]]:
    """The mappings of a pack, each with the names of its fields."""
    yield (), mapping_or_empty(root), ToolpackFile.__struct_encode_fields__
    for name, cls in BLOCKS.items():
        yield (name,), mapping_or_empty(get(root, (name,))), cls.__struct_encode_fields__
    kind = get(root, ("execution", "kind"))
    if isinstance(kind, str) and kind in EXECUTIONS:
        yield ("execution",), root["execution"], EXECUTIONS[kind].__struct_encode_fields__


def path_in_camel_case(path: Path) -> Path:
    """A path with camelCase names, at the top of the file and in its blocks."""
    depth = 2 if path and path[0] in (*BLOCKS, "execution") else 1
    names = [_to_camel_case(step) if isinstance(step, str) else step for step in path[:depth]]
    known = (new if new in _FIELD_NAMES else old for old, new in zip(path, names, strict=False))
    return (*known, *path[depth:])


def _to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def normalise_network(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """`caps.network` becomes a list of protocols in lower case.

    A single protocol and other spellings are understood. What is not a protocol stays, so that the
    finding about it shows what the author wrote.
    """
    path = ("caps", "network")
    written = get(tree.value, path)
    if isinstance(written, str):
        return put(tree, path, [_normalise_protocol(written)]), []
    listed = written if isinstance(written, list) else []
    protocols: dict[Path, Any] = {
        (*path, number): _normalise_protocol(each)
        for number, each in enumerate(listed)
        if _normalise_protocol(each) != each
    }
    return put_all(tree, protocols), []


def _normalise_protocol(each: Any) -> Any:
    lower = each.strip().lower() if isinstance(each, str) else each
    return lower if lower in PROTOCOLS else each


# Identity.

_ID = lazy_regex(r"[a-z0-9]+(?:\.[a-z0-9]+)+")
_PLAIN_VERSION = lazy_regex(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}")
# Numbers without leading zeros.
_NUMBERS = r"(?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2}"
# A part of a pre-release: a number without leading zeros, or a word with at least one letter.
_LABEL = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_SEMVER = lazy_regex(
    rf"{_NUMBERS}(?:-{_LABEL}(?:\.{_LABEL})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?", re.ASCII
)


def id_is_dotted(pack: Any, _session: Session) -> Iterator[Fact]:
    """`id` has segments in lower case, divided by dots or, with a warning, by colons."""
    name = get(pack, ("id",))
    if not isinstance(name, str) or not name or _ID.fullmatch(name):
        return
    dotted = _replace_colons(name)
    if _ID.fullmatch(dotted):
        yield codes.ID_COLON.at(("id",), found=Shown(name), nearest=dotted)
        return
    guess = re.sub(r"[^a-z0-9]+", ".", name.strip().lower()).strip(".")
    meant = guess if _ID.fullmatch(guess) else None
    yield codes.ID_FORM.at(("id",), found=Shown(name), nearest=meant)


def _replace_colons(name: str) -> str:
    return name.replace(":", ".")


_THREE_NUMBERS = "write exactly three numbers, such as `1.4.0`"


def version_is_semantic(pack: Any, _session: Session) -> Iterator[Fact]:
    """`version` has three numbers and is valid in Python; best in SemVer 2.0, too."""
    version, place = get(pack, ("version",)), ("version",)
    if not isinstance(version, str) or not version or _PLAIN_VERSION.fullmatch(version):
        return
    from packaging.version import InvalidVersion, Version  # most versions are plain

    is_semver = _SEMVER.fullmatch(version) is not None
    try:
        parsed = Version(version)
    except (InvalidVersion, ValueError):
        code = codes.VERSION_NOT_PYTHON if is_semver else codes.VERSION_FORM
        yield code.at(place, found=Shown(version), hint=_THREE_NUMBERS)
        return
    if len(parsed.release) != 3:
        missing = ".0" * (3 - len(parsed.release))
        hint = f"write `{version.strip()}{missing}`" if missing else _THREE_NUMBERS
        yield codes.VERSION_FORM.at(place, found=Shown(version), hint=hint)
    elif not is_semver:
        label = [*(parsed.pre or ()), *(() if parsed.dev is None else ("dev", parsed.dev))]
        nearest = ".".join(map(str, parsed.release))
        if label:
            nearest += f"-{'.'.join(map(str, label))}"
        yield codes.VERSION_NOT_SEMVER.at(place, found=Shown(version), nearest=nearest)


# Environment.

_ENV_NAME = lazy_regex(r"[A-Z][A-Z0-9_]*")


def env_names_are_upper_case(pack: Any, _session: Session) -> Iterator[Fact]:
    """Names of variables are in upper case, passed through or set."""
    for place, name in _passthrough_names(pack):
        if not _ENV_NAME.fullmatch(name):
            yield _env_name_fact("env.passthrough name", name, place, "value")
    for name in mapping_or_empty(get(pack, ("env", "set"))):
        if not name:
            yield codes.ENV_NAME_EMPTY.at(("env", "set", name), part="key", where="env.set keys")
        elif not _ENV_NAME.fullmatch(name):
            yield _env_name_fact("env.set key", name, ("env", "set", name), "key")


def _env_name_fact(where: str, name: str, path: Path, part: Part) -> Fact:
    guess = re.sub(r"[^A-Z0-9]+", "_", name.strip().upper()).strip("_")
    nearest, remedy = None, None
    if _ENV_NAME.fullmatch(guess):
        nearest = guess
        remedy = Remedy(f"change to `{guess}`", (Change(path, guess, part),), safe=False)
    return codes.ENV_NAME.at(
        path, part=part, remedy=remedy, where=where, found=Shown(name), nearest=nearest
    )


def env_is_passed_or_set(pack: Any, _session: Session) -> Iterator[Fact]:
    """A variable is passed through or set, not both."""
    assigned = mapping_or_empty(get(pack, ("env", "set")))
    for place, name in _passthrough_names(pack):
        if name in assigned:
            yield codes.ENV_SET_AND_PASSED.at(place, found=Shown(name))


def _passthrough_names(pack: Any) -> Iterator[tuple[Path, str]]:
    """The names of variables that are passed through; the model reports what is not a name."""
    names = get(pack, ("env", "passthrough"))
    for number, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name:
            yield ("env", "passthrough", number), name


# Execution.

#: The fields that can name what is run, in the order in which a runner looks at them.
_ENTRY_FIELDS = {
    "node": ("script", "node", "module"),
    "php": ("php", "script"),
    "python": ("module", "script"),
}
# A dotted name, in any alphabet.
_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_MODULE = lazy_regex(rf"{_NAME}:{_NAME}")
# Parts between dots that `importlib` might find, though no `import` statement can name them.
_PARTS = r"[^\s:.]+(?:\.[^\s:.]+)*"
_ENTRY = lazy_regex(rf"{_PARTS}:{_PARTS}")
# An address that starts with a template is known only when the tool runs.
_URL = lazy_regex(r"(?:https?://|\{\{)", re.IGNORECASE)
# The name of a header, by RFC 9110.
#: What the value of a header cannot contain: line breaks first, then other controls but the tab.
_UNSENDABLE = lazy_regex(r"[\r\n]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEADER_NAME = lazy_regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OLD_KEYS = ("entry", "schema", "kind")


def execution_has_an_entry(pack: Any, _session: Session) -> Iterator[Fact]:
    """`python`, `node` and `php` name what they run in one of several fields."""
    execution = mapping_or_empty(get(pack, ("execution",)))
    kind = execution.get("kind")
    names = _ENTRY_FIELDS.get(kind, ()) if isinstance(kind, str) else ()
    # The model reports empty text for `python`.
    empty: tuple[object, ...] = (None,) if kind == "python" else (None, "")
    if names and all(execution.get(name) in empty for name in names):
        *others, last = (f"'{name}'" for name in names)
        choice = f"{', '.join(others)} or {last}"
        yield codes.EXECUTION_ENTRY.at(("execution",), part="key", kind=kind, names=choice)


def module_names_a_callable(pack: Any, _session: Session) -> Iterator[Fact]:
    """The `module` of a python execution is `module:callable`."""
    place = ("execution", "module")
    module = get(pack, place)
    if get(pack, ("execution", "kind")) != "python" or not isinstance(module, str):
        return
    if not module or _MODULE.fullmatch(module):
        return
    if _ENTRY.fullmatch(module):
        yield codes.EXECUTION_MODULE_NAME.at(place, found=Shown(module))
        return
    stem, _, last = module.strip(":").rpartition(".")
    guess = f"{stem}:{last}"
    hint = f"did you mean `{guess}`?" if stem and _MODULE.fullmatch(guess) else None
    yield codes.EXECUTION_MODULE.at(place, found=Shown(module), hint=hint)


def requests_can_be_made(pack: Any, _session: Session) -> Iterator[Fact]:
    """The address and the headers of an http execution make a request."""
    execution = mapping_or_empty(get(pack, ("execution",)))
    if execution.get("kind") != "http":
        return
    url = execution.get("url")
    if isinstance(url, str) and url and not _URL.match(url):
        yield codes.EXECUTION_URL.at(("execution", "url"), found=Shown(url))
    for name, value in mapping_or_empty(execution.get("headers")).items():
        place = ("execution", "headers", name)
        if not name:
            yield codes.HEADER_NAME_EMPTY.at(place, part="key")
        elif not _HEADER_NAME.fullmatch(name):
            yield codes.HEADER_NAME.at(place, part="key", found=Shown(name))
        # Also at the end, where YAML block text has one: no client sends such a value as it is.
        unsent = _UNSENDABLE.search(value) if isinstance(value, str) else None
        if unsent is not None:
            is_break = unsent[0] in "\r\n"
            what = "a line break" if is_break else f"the control character U+{ord(unsent[0]):04X}"
            advice = "remove the line break; after `|` or `>` write `-`, as in `|-`"
            advice = advice if is_break else "remove the character"
            yield codes.HEADER_LINE_BREAK.at(place, found=Shown(name), what=what, advice=advice)


def dialect_is_current(pack: Any, _session: Session) -> Iterator[Fact]:
    """A pack of the older dialect is reported as such, beside everything it lacks."""
    old = tuple(key for key in _OLD_KEYS if key in mapping_or_empty(pack))
    if len(old) > 1 and "execution" not in pack:
        yield codes.OLD_DIALECT.at((old[0],), part="key", found=old)


# The file.

#: How the name of a pack ends. A loader of a folder reads no other files.
SUFFIX = ".tool.yaml"
_NEAR_SUFFIX = lazy_regex(r"(?P<stem>.*)\.tool\.(?:yaml|yml|json)", re.IGNORECASE | re.DOTALL)


def file_name_problem(file: str) -> Fact | None:
    """A finding about a file that is nearly named like a pack, which loaders skip; else None."""
    name = os.path.basename(file)
    near = None if name.endswith(SUFFIX) else _NEAR_SUFFIX.fullmatch(name)
    if near is None:
        return None
    return codes.TOOLPACK_OVERLOOKED.at(suffix=SUFFIX, name=Shown(near["stem"] + SUFFIX))


def file_is_found_by_loaders(_pack: Any, session: Session) -> Iterator[Fact]:
    """The name of the file ends as loaders expect."""
    if fact := file_name_problem(session.path):
        yield fact


RULES = (
    file_is_found_by_loaders,
    id_is_dotted,
    version_is_semantic,
    env_names_are_upper_case,
    env_is_passed_or_set,
    execution_has_an_entry,
    module_names_a_callable,
    requests_can_be_made,
    dialect_is_current,
)

# Packs that are loaded together.


def group_key(outcome: Outcome) -> str | None:
    """Only packs with the same id, or nearly the same, concern each other.

    Loaders read no file that they overlook, so its id is not taken.
    """
    name = _id_of(outcome)
    return (
        None
        if name is None or file_name_problem(_shown_file(outcome)) is not None
        else _replace_colons(name)
    )


def _id_of(outcome: Outcome) -> str | None:
    name = get(outcome.tree.value, ("id",)) if outcome.tree is not None else None
    return name if isinstance(name, str) and name else None


def ids_are_unique(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Fact]]:
    """Each id occurs once; the later file is at fault, and the first is named."""
    first: dict[str, Outcome] = {}
    alike: dict[str, str] = {}
    for outcome in sorted(outcomes, key=_sort_key):
        name = _id_of(outcome)
        if name is None:
            continue
        other = alike.setdefault(_replace_colons(name), name)
        if name in first:
            also = [Also("first used here", origin=_id_origin(first[name]))]
            fact = codes.DUPLICATE_ID.at(
                ("id",),
                also=also,
                id=Shown(name),
                file=_shown_file(outcome),
                first=_shown_file(first[name]),
            )
            yield outcome, fact
        elif other != name:
            also = [Also("the other one", origin=_id_origin(first[other]))]
            fact = codes.SIMILAR_ID.at(("id",), also=also, id=Shown(name), other=Shown(other))
            yield outcome, fact
        first.setdefault(name, outcome)


def _sort_key(outcome: Outcome) -> tuple[str, ...]:
    """By the parts of the path: a folder comes before a file whose name continues its own."""
    return tuple(_shown_file(outcome).split("/")) if outcome.sources else ()


def _shown_file(outcome: Outcome) -> str:
    """The file as the caller named it: several packs may be links to one file."""
    return outcome.session.files.name_of(outcome.session.path)


def _id_origin(outcome: Outcome) -> Origin:
    assert outcome.tree is not None
    return outcome.tree.provenance(("id",)).origin
