"""What the content of a file says about its kind: the signs, without importing any kind.

A content counts only if two signs agree, because words such as `server`, `tools` or `name` mean
something else in most files that have them. One sign is enough for a note, and for a file that a
person names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, TypeVar

import msgspec

from equipage.core.text import Guesses, lazy_regex
from equipage.syntax.document import Syntax

T = TypeVar("T")

# YAML and JSON: the shape of the value.

#: The parts of a server with the type each must have to count as a sign.
_SERVER_PARTS: dict[str, type] = {
    **dict.fromkeys(("tools", "resources", "prompts", "phases"), list),
    "baseline": dict,
}
_SERVER_FILE_KEYS = {"server", "metadata", "behavior", "logging", "unknown_methods", *_SERVER_PARTS}
_SERVER_KEYS = {"name", "version", "state_scope", "stateScope", "capabilities"}


def is_server(value: Any) -> bool:
    """Two signs agree: a server with a name, even a wrong one, and a part of the right shape."""
    server = value.get("server") if isinstance(value, dict) else None
    return (
        isinstance(server, dict)
        and isinstance(server.get("name"), str | int | float)
        and _has_part(value)
    )


def may_be_server(value: Any, *, named: bool) -> bool:
    """One sign. In a walk, a `server` counts only with nothing but keys of a server around it."""
    if not isinstance(value, dict):
        return False
    included, server = value.get("$include"), value.get("server")
    if isinstance(included, str):
        return included.endswith((".yaml", ".yml")) and value.keys() <= {"$include", "override"}
    if named or not isinstance(server, dict):
        return isinstance(server, dict)
    is_whole = "name" in server and server.keys() <= _SERVER_KEYS
    return (is_whole or _has_part(value)) and _are_keys_of_server(value)


def _has_part(value: dict[str, Any]) -> bool:
    return any(isinstance(value.get(key), type_) for key, type_ in _SERVER_PARTS.items())


def _are_keys_of_server(value: dict[str, Any]) -> bool:
    """Whether every key is one of a server file, or a slip for one."""
    odd = value.keys() - _SERVER_FILE_KEYS
    if len(odd) > 2:
        return False
    guesses = Guesses()
    return all(guesses.nearest(str(key), _SERVER_PARTS) for key in odd)


#: What a library keeps for servers to include, and what each must have to count as a sign.
_PATTERNS = {"tool": "inputSchema", "resource": "uri", "prompt": "name"}
_PATTERN_KEYS = frozenset({*_PATTERNS, "response", "behavior"})
_ANSWER_KEYS = frozenset({"content", "contents", "messages", "match", "sequence", "handler"})


def is_pattern(value: Any) -> bool:
    """What is offered, and a response that answers something."""
    response = value.get("response") if isinstance(value, dict) else None
    return (
        isinstance(response, dict)
        and not _ANSWER_KEYS.isdisjoint(response)
        and any(field in _mapping(value, key) for key, field in _PATTERNS.items())
    )


def may_be_pattern(value: Any, *, named: bool) -> bool:
    """One sign: what is offered beside a response, or with a schema. In a walk, nothing else."""
    if not isinstance(value, dict) or not (named or value.keys() <= _PATTERN_KEYS):
        return False
    has_own = any(isinstance(value.get(key), dict) for key in _PATTERNS)
    return has_own and ("response" in value or "inputSchema" in _mapping(value, "tool"))


def _mapping(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def is_attack(value: Any) -> bool:
    """An attack, and the version of the format it is written in."""
    return isinstance(value, dict) and "oatf" in value and isinstance(value.get("attack"), dict)


def is_blueprint(value: Any) -> bool:
    """A flow with a kind, and an id; a blueprint that forgot its id still has agents."""
    if not isinstance(value, dict) or not isinstance(value.get("flow"), dict):
        return False
    return "kind" in value["flow"] and ("id" in value or "agents" in value)


def is_registry_entry(value: Any) -> bool:
    """A name, and packages or remotes like those of the registry of MCP servers."""
    if not isinstance(value, dict) or "name" not in value:
        return False
    packages, remotes = _tables(value, "packages"), _tables(value, "remotes")
    of_package = ({"registryType"}, {"registry_type"}, {"registry_name", "name"})
    return any(each.keys() >= keys for each in packages for keys in of_package) or any(
        each.get("type", each.get("transport_type")) in ("streamable-http", "sse") and "url" in each
        for each in remotes
    )


def is_bundle(value: Any) -> bool:
    """A version that is text, and a server with an entry point; browsers number their manifests."""
    if not isinstance(value, dict) or not isinstance(value.get("server"), dict):
        return False
    version = value.get("manifest_version", value.get("dxt_version"))
    return isinstance(version, str) and bool(value["server"].keys() & {"entry_point", "mcp_config"})


def is_docker_agent(value: Any) -> bool:
    """Agents by name, each with an instruction or a model, at least one with what only it has."""
    agents = value.get("agents") if isinstance(value, dict) else None
    if not isinstance(agents, dict) or not agents:
        return False
    keys = [set(each) if isinstance(each, dict) else set[str]() for each in agents.values()]
    return all(each & {"model", "instruction"} for each in keys) and any(
        "model" in each and each & {"instruction", "toolsets", "sub_agents"} for each in keys
    )


def is_declarative_agent(value: Any) -> bool:
    """One of the sorts of the schema, and instructions."""
    return (
        isinstance(value, dict)
        and value.get("kind") in ("Prompt", "Hosted")
        and isinstance(value.get("instructions"), str)
    )


def is_recipe(value: Any) -> bool:
    """A title, a description and a text, and parameters or extensions like those of Goose."""
    if not isinstance(value, dict) or not {"title", "description"} <= value.keys():
        return False
    parameters, extensions = _tables(value, "parameters"), _tables(value, "extensions")
    of_recipe = any({"key", "requirement"} <= each.keys() for each in parameters) or any(
        {"type", "name"} <= each.keys() for each in extensions
    )
    return of_recipe and bool({"instructions", "prompt"} & value.keys())


def _tables(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The entries of a list that are tables."""
    entries = value.get(key)
    return [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []


# A cheap look before parsing. Repositories hold megabytes of YAML and JSON of other programs, so it
# works on bytes: nothing is decoded, and only values that a sign needs are built.

#: What precedes the first entry of a YAML text: blank lines, comments, the start of the document.
_BEFORE_ROOT = lazy_regex(
    rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n|---[ \t]*(?:#[^\n]*)?\r?\n)*"
)
#: A text that starts otherwise may hide its keys behind tags, anchors or explicit keys.
_PLAIN_START = lazy_regex(rb"( *)[A-Za-z0-9_\"'$]")
#: Begins a key that is not written as it is: behind a tag or an anchor, or an explicit one.
_ODD_KEYS = b"?!&*"
_ODD_MARKS = (b"?", b"!", b"&", b"*")
#: What a key may begin with beside letters and digits, see `_PLAIN_START`.
_PLAIN_MARKS = (b"_", b'"', b"'", b"$")


def may_have_key(keys: tuple[str, ...], data: bytes) -> bool:
    """Whether the root of a YAML text may be a mapping with one of the keys.

    A no is certain, a yes is not: parsing decides.
    """
    data = data.replace(b"\r", b"\n")
    found = _lines_have_key(keys, data) if len(data) <= _SHORT_TEXT_BYTES else None
    return next(_key_offsets(keys, data), None) is not None if found is None else found


#: A text so short is looked at line by line: the expressions take longer to compile.
_SHORT_TEXT_BYTES = 1 << 12


def _lines_have_key(keys: tuple[str, ...], data: bytes) -> bool | None:
    """Whether `_key_offsets` yields any; None if the text does not begin with a key in column 0."""
    lines = data.split(b"\n")
    first = next((at for at, each in enumerate(lines) if each and not each.startswith(b"#")), None)
    if first is None or not (lines[first][:1].isalnum() or lines[first].startswith(_PLAIN_MARKS)):
        return None
    names = tuple(mark + each.encode() for each in keys for mark in (b"", b'"', b"'"))
    return any(
        each.startswith(names)
        or (each.startswith(b'"') and b"\\" in each)
        or (at > 0 and each.startswith(_ODD_MARKS))
        for at, each in enumerate(lines[first:])
    )


_ANYWHERE = -1
#: The bytes that are searched for starts of lines before the rest of a line is skipped.
_SEARCH_WINDOW = 1 << 14


def _key_offsets(keys: tuple[str, ...], data: bytes) -> Iterator[int]:
    """Where the root may have one of the keys; `_ANYWHERE` if its lines do not say it."""
    start = _BEFORE_ROOT.match(data)
    root = start.end() if start is not None else 0
    if data.startswith((b"- ", b"-\n", b"["), root):
        return  # a list
    plain = _PLAIN_START.match(data, root)
    if plain is None:
        yield _ANYWHERE
        return
    first, others, width = _root_key_patterns(keys, plain[1])
    if first.match(data, plain.end(1)):
        yield plain.end(1)
    # An expression looks at every byte. Most of what machines wrote is in lines of many thousands,
    # whose ends are found several times faster.
    position = data.find(b"\n")
    while position >= 0:
        end = position + _SEARCH_WINDOW
        for match in others.finditer(data, position, end + width):
            hit, end = match.end() - 1, max(end, match.end())
            if data[hit] in _ODD_KEYS or first.match(data, hit):
                yield hit
        position = data.find(b"\n", end)


@lru_cache(maxsize=256)
def _root_key_patterns(
    keys: tuple[str, ...], indent: bytes
) -> tuple[re.Pattern[bytes], re.Pattern[bytes], int]:
    """Two patterns, and how many bytes the second one matches.

    The first matches the start of one of the keys, or of something that may hide one. The second
    matches the start of a line that may begin so, by its first character alone.

    All keys of the root are in one column: one pass over the starts of lines finds them, and one
    character tells nearly all lines apart, before anything is compared. A name in double quotes
    hides one if there is a backslash.
    """
    names = [each.encode() for each in keys]
    begins = rb"[\"']?(?:%b)|\"[^\n]*\\" % b"|".join(map(re.escape, names))
    starts = re.escape(b"".join(sorted({each[:1] for each in names})) + _ODD_KEYS + b"\"'")
    others = rb"\n%b[%b]" % (indent, starts)
    return re.compile(begins), re.compile(others), len(b"\n?") + len(indent)


def may_have_sign(keys: tuple[str, ...], data: bytes) -> bool:
    """As `may_have_key`, but one of the keys must have a value of the type that its sign needs.

    Lists of packages that a package manager wrote are large, and no sign of anything.
    """
    data, seen = data.replace(b"\r", b"\n"), False
    for hit in _key_offsets(keys, data):
        seen = True
        if hit == _ANYWHERE or _may_be_sign(keys, data, hit):
            return True
    # A text that does not parse is judged by what its lines begin with.
    if not (seen and may_have_broken_keys(data)):
        return False
    return bool(keys_of_broken_text(data.decode("utf-8", "replace"), "yaml"))


def _may_be_sign(keys: tuple[str, ...], data: bytes, hit: int) -> bool:
    entry = _entry_pattern(keys).match(data, hit)
    if entry is None:  # a longer name, unless something hides the name
        return data[hit] in _ODD_KEYS + b"\"'"
    key = entry["key"].decode()
    beside = _COMPANION_KEYS.get(key)
    if beside is not None and not may_have_key((beside,), data):
        return False
    needed = SIGN_TYPES.get(key)
    return needed is None or needed in _types_at(data, entry.end())


@cache
def _entry_pattern(keys: tuple[str, ...]) -> re.Pattern[bytes]:
    """One of the keys, up to its colon."""
    named = b"|".join(re.escape(each.encode()) for each in keys)
    return re.compile(rb"([\"']?)(?P<key>%b)\1[ \t]*:(?=[ \t\n]|\Z)" % named)


def _types_at(data: bytes, position: int) -> tuple[type, ...]:
    """The types that the value behind a colon may have, as far as its first character says it."""
    is_same_line, rest = True, b""
    while not rest or rest.startswith(b"#"):
        end = data.find(b"\n", position)
        rest = data[position : end if end >= 0 else len(data)].strip(b" \t")
        if rest and not rest.startswith(b"#"):
            break
        if end < 0:
            return ()  # there is none
        is_same_line, position = False, end + 1
    if rest.startswith((b"[", b"- ", b"-\t")) or rest == b"-":
        return (list,)
    if rest.startswith(b"{"):
        return (dict,)
    if rest[:1].isalnum() or rest.startswith((b'"', b"'", b"_")):
        # On a line of its own it may also be the first key of a mapping.
        return (str,) if is_same_line else (str, dict)
    return (str, list, dict)  # behind a tag or an anchor, an alias, a block of text


def mentions_key(keys: Iterable[str], text: str) -> bool:
    """Whether a text that does not parse as JSON has one of the keys anywhere."""
    # Without quotes it is not JSON, but its author may have thought so.
    return "\\u" in text or any(f'"{key}"' in text or f"{key}:" in text for key in keys)


#: What the signs of this module look for at the root of a JSON text, and the type it must have to
#: be looked into; without one, only its name counts.
SIGN_TYPES: dict[str, type | None] = {
    **_SERVER_PARTS,
    **dict.fromkeys(("server", "flow", "agents", "attack", "response", *_PATTERNS), dict),
    **dict.fromkeys(("packages", "remotes", "parameters", "extensions"), list),
    **dict.fromkeys(("$include", "instructions", "manifest_version", "dxt_version"), str),
    **dict.fromkeys(("name", "id", "title", "description", "oatf")),
}
#: Keys that are a sign only with another one beside them.
_COMPANION_KEYS = {
    "packages": "name",
    "remotes": "name",
    "parameters": "title",
    "extensions": "title",
}
#: The first byte of a value of each type.
_TYPES_BY_FIRST_BYTE: dict[bytes, type] = {b"{": dict, b"[": list, b'"': str}
_ABSENT = msgspec.Raw()


def skim_json(data: bytes, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """The members of a JSON object that have these keys or that signs need; see `json_members`.

    Also empty if none of the keys has a value of the type that its sign needs.
    """
    found = _decode_or_none(_skim_decoder(keys), data)
    if found is None:
        return None
    raws = msgspec.structs.astuple(found)
    own = raws[: len(keys)]
    if own == _all_absent(keys) or not any(map(_may_be_value, own, map(SIGN_TYPES.get, keys))):
        return {}  # nearly always
    pairs = zip(_skim_keys(keys), raws, strict=True)
    return _outline({key: raw for key, raw in pairs if raw is not _ABSENT}, keys)


@cache
def _all_absent(keys: tuple[str, ...]) -> tuple[msgspec.Raw, ...]:
    return (_ABSENT,) * len(keys)


def _may_be_value(raw: msgspec.Raw, needed: type | None) -> bool:
    return raw is not _ABSENT and (needed is None or _type_of(raw) is needed)


@cache
def _skim_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*keys, *SIGN_TYPES)))


@cache
def _skim_decoder(keys: tuple[str, ...]) -> msgspec.json.Decoder[msgspec.Struct]:
    """Decodes the members that `skim_json` returns, and builds none of the others."""
    names = {f"member{number}": key for number, key in enumerate(_skim_keys(keys))}
    fields = [(each, msgspec.Raw, _ABSENT) for each in names]
    return msgspec.json.Decoder(msgspec.defstruct("Skimmed", fields, rename=names, gc=False))


def json_members(text: str, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """The members of a JSON object: these keys and what the signs look for.

    Of the other members, which may be many thousands, only the names are there, and so of those
    that do not have the type that a sign needs. None if it takes a parser to say what a text holds.
    """
    found = _decode_or_none(_members_decoder(), text)
    return None if found is None else _outline(found, keys)


@cache
def _members_decoder() -> msgspec.json.Decoder[dict[str, msgspec.Raw]]:
    return msgspec.json.Decoder(dict[str, msgspec.Raw])


def _outline(found: dict[str, msgspec.Raw], keys: tuple[str, ...]) -> dict[str, Any] | None:
    """The names of members, with the values that signs ask for."""
    value: dict[str, Any] = dict.fromkeys(found)
    for key in {*SIGN_TYPES, *keys} & found.keys():
        type_ = _type_of(found[key])
        needed = SIGN_TYPES.get(key) or (type_ if key in keys else None)
        if type_ is None or type_ is not needed:
            continue
        # Of a part of a server only the type counts.
        value[key] = (
            type_() if key in _SERVER_PARTS else _decode_or_none(_any_decoder(), found[key])
        )
        if value[key] is None:
            return None  # it turns out to be no JSON
    return value


def _type_of(raw: msgspec.Raw) -> type | None:
    """The type of a value by its first byte, if it may be a sign."""
    return _TYPES_BY_FIRST_BYTE.get(memoryview(raw)[:1].tobytes())


@cache
def _any_decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder()


def _decode_or_none(decoder: msgspec.json.Decoder[T], data: bytes | str | msgspec.Raw) -> T | None:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


#: Begins a line of a text that does not parse: which kind its author may have meant.
_KEY_AT_START = lazy_regex(r"""^[\ufeff{]*\s*["']?(server|flow)["']?[ \t]*:""", re.MULTILINE)
#: The keys of a pattern, of which there must be two.
_PATTERN_KEY_AT_START = lazy_regex(
    rf"""^\ufeff?["']?(response|{"|".join(_PATTERNS)})["']?[ \t]*:""", re.MULTILINE
)
#: The same in JSON, which may be all on one line: two signs, one inside the other.
_TWO_SIGNS = lazy_regex(r"""["'](server|flow)["']\s*:\s*\{\s*["'](?:name|kind)["']\s*:""")


#: A key and its colon, and what may not be before it; each begins with plain text, which is found
#: quickly.
_BEFORE_COLON = tuple(
    lazy_regex(rb"%b[\"']?[ \t]*:" % each) for each in (b"server", b"flow", b"response")
)
_NOT_BEFORE_KEY = frozenset(range(33, 128)) - frozenset(b"\"'{")


def may_have_broken_keys(data: bytes) -> bool:
    """Whether `keys_of_broken_text` may find a key at the start of a line. False is certain."""
    return any(
        not match.start() or data[match.start() - 1] not in _NOT_BEFORE_KEY
        for each in _BEFORE_COLON
        for match in each.finditer(data)
    )


def keys_of_broken_text(text: str, syntax: Syntax) -> set[str]:
    """Which keys a text that does not parse seems to have at its root."""
    found = {match[1] for match in _KEY_AT_START.finditer(text)}
    if len(parts := set(_PATTERN_KEY_AT_START.findall(text))) > 1 and "response" in parts:
        found.add("response")
    return found | {match[1] for match in _TWO_SIGNS.finditer(text) if syntax == "json"}


# Large files that other programs write. They are recognised by their path and by a beginning that
# no kind has. If both match, the rest of the file is not read.

#: The words of a browser extension, or of a program that keeps them in the same way, in a language.
_CATALOGUE_PATH = lazy_regex(r"/_?locales/[^/]+/messages\.json\Z")
_CATALOGUE_START = lazy_regex(rb'\s*\{\s*"\w{1,200}"\s*:\s*\{\s*"(?:message|description)"\s*:\s*"')
#: Requests and answers that tests play back.
_RECORDING_START = lazy_regex(rb"(?:version: 1\r?\n)?interactions:\r?\n {0,8}- \w+:")
#: How many bytes of a file are its beginning.
BEGINNING_BYTES = 1024


def may_be_foreign_file(path: str, syntax: Syntax) -> bool:
    """Whether a file lies where another program keeps such files; its beginning decides."""
    if syntax == "yaml":
        return "/cassettes/" in path
    return path.endswith("/messages.json") and _CATALOGUE_PATH.search(path) is not None


def begins_as_foreign_file(beginning: bytes, syntax: Syntax) -> bool:
    """Whether a file in such a place begins as those of the other program do."""
    return (_RECORDING_START if syntax == "yaml" else _CATALOGUE_START).match(beginning) is not None
