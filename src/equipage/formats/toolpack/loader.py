"""Toolpacks for programs: load a folder of them, look tools up by id.

    loader = ToolpackLoader()
    loader.load_dir("tools")
    for pack in loader.list():
        print(pack.id, pack.execution["kind"], pack.timeout_ms)

Packs go through the pipeline of `equipage.load`, and one exception holds every problem of every
file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import LoadError
from equipage.core.text import visible
from equipage.files import expand_home, folders_argument, path_argument
from equipage.formats.toolpack import FORMAT
from equipage.formats.toolpack.model import Toolpack
from equipage.formats.toolpack.rules import SUFFIX, file_name_problem, group_key, path_in_camel_case
from equipage.loading.pipeline import findings_together, load_path, place_without_outcome
from equipage.loading.result import CANONICAL_VERSION, canonical_json
from equipage.loading.session import options_of
from equipage.plugin import (
    Diagnostic,
    Fact,
    Outcome,
    Path,
    Request,
    Source,
    System,
    nearest,
    parse_path,
)

__all__ = ["FoundToolpacks", "Toolpack", "ToolpackLoader", "ToolpackValidationError"]


class ToolpackValidationError(LoadError):
    """A folder of toolpacks is not valid; `diagnostics` holds every finding of every file.

    >>> try:
    ...     ToolpackLoader().load_dir("broken")
    ... except equipage.ToolpackValidationError as error:
    ...     print([each.code for each in error.errors])
    ['wrong-type']

    As text it has one line per error, each with the rule that the file breaks, in the words that
    programs have come to look for.
    """

    def __str__(self) -> str:
        if self._text is not None:
            return self._text
        lines = []
        for each in self.errors or self.diagnostics:  # a strict loader raises warnings alone
            rule = original_phrase(each)
            is_said = rule is None or rule in each.message
            lines.append(str(each) if is_said else f"{each} ({rule})")
        return "\n".join(lines)


class _Entry(msgspec.Struct, frozen=True):
    """What is kept of a load: a folder may hold thousands of packs, and documents are large."""

    path: str
    key: str | None
    """Packs with the same key are checked together."""
    pack: Toolpack | None
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]

    @classmethod
    def from_outcome(cls, outcome: Outcome) -> _Entry:
        assert outcome.session is not None
        path, key = outcome.session.path, group_key(outcome)
        return cls(path, key, outcome.config, outcome.sources, outcome.diagnostics)


class FoundToolpacks(msgspec.Struct, frozen=True):
    """What is in a folder: the packs that can be used, and every finding.

    >>> found = ToolpackLoader().find(".")
    >>> [pack.id for pack in found.packs], [error.code for error in found.errors]
    (['text.count'], ['wrong-type'])
    """

    packs: tuple[Toolpack, ...]
    """Those without errors, sorted by id."""
    diagnostics: tuple[Diagnostic, ...]
    """Every finding of every file."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep a pack from being used."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


class _Loaded(msgspec.Struct, frozen=True):
    """What a loader holds; replaced as a whole, so that threads see the old or the new."""

    folder: str = os.curdir
    packs: dict[str, Toolpack] = {}
    """By id, in order of the ids."""
    sources: dict[str, tuple[Source, ...]] = {}
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def digest(self) -> str:
        pairs = [[pack.id, pack.digest] for pack in self.packs.values()]
        return hashlib.sha256(
            canonical_json({"canonical": CANONICAL_VERSION, "packs": pairs})
        ).hexdigest()


class ToolpackLoader:
    """The toolpacks of a folder. Loading either succeeds as a whole or changes nothing.

    `strict`: warnings fail, too. `legacy_keys="warn"` reads the snake_case names of older packs.
    `roots` are further folders that references may lead into.

    >>> loader = ToolpackLoader()
    >>> loader.load_dir("tools")
    >>> len(loader), "text.count" in loader, [pack.id for pack in loader]
    (1, True, ['text.count'])
    """

    def __init__(
        self,
        *,
        legacy_keys: Literal["error", "warn"] = "error",
        roots: Iterable[str | os.PathLike[str]] = (),
        strict: bool = False,
    ) -> None:
        self._options = {"legacy_keys": legacy_keys}
        options_of(FORMAT, Request(env={}, options=self._options))  # now, not at the first folder
        self._roots = folders_argument("roots", roots)
        self._strict = strict
        self._loaded = _Loaded()

    def load_dir(self, path: str | os.PathLike[str]) -> None:
        """Load every `*.tool.yaml` below `path`, at any depth, in place of what was loaded before.

        Raises `ToolpackValidationError` with every error found; what was loaded before then stays.
        """
        folder, entries, found = self._load_folder(path)
        fails = ("error", "warning") if self._strict else ("error",)
        if any(each.severity in fails for each in found):
            raise ToolpackValidationError(found)
        packs = {each.pack.id: (each.pack, each.sources) for each in entries if each.pack}
        self._loaded = _Loaded(
            folder,
            {name: packs[name][0] for name in sorted(packs)},
            {name: sources for name, (_, sources) in packs.items()},
            tuple(found),
        )

    def find(self, path: str | os.PathLike[str]) -> FoundToolpacks:
        """Every pack below `path` that can be used, beside the errors of the others.

        What was loaded before stays. Two packs that claim one id are both left out.

        >>> found = ToolpackLoader().find("tools")
        >>> [pack.id for pack in found.packs], found.errors
        (['text.count'], ())
        """
        _, entries, found = self._load_folder(path)
        bad = {each.name for each in found if each.severity == "error"}
        packs = [
            each.pack
            for each in entries
            if each.pack is not None and each.sources[0].name not in bad
        ]
        # One of two packs with an id has no error, but is not more right than the other.
        ids = Counter(each.pack.id for each in entries if each.pack is not None)
        usable = sorted((each for each in packs if ids[each.id] == 1), key=lambda each: each.id)
        return FoundToolpacks(tuple(usable), tuple(found))

    def _load_folder(
        self, path: str | os.PathLike[str]
    ) -> tuple[str, list[_Entry], list[Diagnostic]]:
        """The folder, what is kept of each file in it, and every finding."""
        request = Request(env={}, options=self._options, roots=self._roots)
        folder = request.system.absolute(expand_home(path_argument("path", path)))
        request = msgspec.structs.replace(request, folders=(folder,))
        if not request.system.is_folder(folder):
            raise ToolpackValidationError([_missing_folder(folder, request.system)])
        run = request.new_run()
        files, problems = pack_files(folder, request.system)
        entries = [_Entry.from_outcome(load_path(each, FORMAT, request, run)) for each in files]
        by_key: dict[str | None, list[_Entry]] = {}
        for entry in entries:
            by_key.setdefault(entry.key, []).append(entry)
        # Only packs with nearly the same id must be loaded at once to be compared.
        alike = [each for key, group in by_key.items() if key and len(group) > 1 for each in group]
        again = [load_path(each.path, FORMAT, request, run) for each in alike]
        own = [each for entry in entries for each in entry.diagnostics]
        return folder, entries, findings_together([*problems, *own], again)

    def list(self) -> list[Toolpack]:
        """The packs, sorted by id."""
        return [*self._loaded.packs.values()]

    def get(self, tool_id: str) -> Toolpack:
        """The pack with that id. Raises `KeyError`, which names the nearest id."""
        packs = self._loaded.packs
        if tool_id not in packs:
            guess = nearest(str(tool_id), packs)
            hint = f"; did you mean {guess!r}?" if guess else ""
            raise KeyError(f"there is no toolpack {tool_id!r}{hint}")
        return packs[tool_id]

    def __len__(self) -> int:
        return len(self._loaded.packs)

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._loaded.packs

    def __iter__(self) -> Iterator[Toolpack]:
        return iter(self.list())

    def __repr__(self) -> str:
        return f"ToolpackLoader({', '.join(self._loaded.packs)})"

    @property
    def digest(self) -> str:
        """sha256 over the ids and digests of the packs, wherever their files are."""
        return self._loaded.digest

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What was found in the packs that were loaded; errors would have been raised."""
        return self._loaded.warnings

    def snapshot(self, root: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Everything that was loaded, as plain data: each pack, its digest, the hash of every file.

        Paths are relative to `root`, by default the folder that was loaded. Of the variables and
        headers that a pack sets, the snapshot has only the names, and addresses come without user
        and password, because it is kept and passed on. A change of a value changes the digest.
        """
        loaded, system = self._loaded, Request(env={}).system
        base = system.real(loaded.folder if root is None else path_argument("root", root))
        packs = []
        for pack in loaded.packs.values():
            sources = sorted(loaded.sources[pack.id], key=lambda source: source.filename or "")
            hashes = {
                _relative(each.filename or each.name, base, system): each.sha256 for each in sources
            }
            plain = pack.to_dict()
            for block, name in _SECRET_MAPPINGS:
                if plain.get(block, {}).get(name):
                    plain[block][name] = dict.fromkeys(plain[block][name])
            if "url" in plain["execution"]:
                plain["execution"]["url"] = _strip_credentials(plain["execution"]["url"])
            packs.append(
                {
                    "id": pack.id,
                    "digest": pack.digest,
                    "path": _relative(str(pack.source_path), base, system),
                    "sources": hashes,
                    "pack": plain,
                }
            )
        return {"canonical": CANONICAL_VERSION, "digest": loaded.digest, "packs": packs}


#: Mappings whose values may be secrets.
_SECRET_MAPPINGS = (("env", "set"), ("execution", "headers"))


def _strip_credentials(url: Any) -> Any:
    """An address without user and password: everything before the last `@` of the host."""
    return re.sub(r"(?<=://)[^/?#\\]*@", "", url) if isinstance(url, str) else url


def _relative(path: str, base: str, system: System) -> str:
    """A path from `base`. Links in its folder are followed; the file itself keeps its name."""
    real = os.path.join(system.real(os.path.dirname(path)), os.path.basename(path))
    return os.path.relpath(real, base).replace(os.sep, "/")


def pack_files(folder: str, system: System) -> tuple[list[str], list[Diagnostic]]:
    """Every `*.tool.yaml` below a folder, sorted by the parts of its path; and the folders that
    cannot be read, and near misses. Folders behind links are not entered.
    """
    found: list[tuple[str, ...]] = []
    problems: list[Diagnostic] = []
    stack: list[tuple[str, ...]] = [()]
    while stack:
        parts = stack.pop()
        try:
            for entry in system.entries(os.path.join(folder, *parts)):
                if entry.name.endswith(SUFFIX):
                    found.append((*parts, entry.name))
                elif entry.is_dir(follow_symlinks=False):
                    stack.append((*parts, entry.name))
                elif fact := file_name_problem(entry.name):
                    shown = system.name_of(entry.path)
                    problems.append(place_without_outcome(fact, shown))
        except OSError as error:
            # An error, not a warning: a program that loads a folder relies on having all of it.
            shown = system.name_of(os.path.join(folder, *parts))
            values: dict[str, Any] = {"folder": shown, "reason": error.strerror or str(error)}
            fact = Fact(core_codes.FOLDER_UNREADABLE, values=values, severity="error")
            problems.append(place_without_outcome(fact, shown))
    if not found and not problems:
        shown = system.name_of(folder)
        message = f"no toolpacks in {shown}: no file there is named `*{SUFFIX}`"
        problems.append(Diagnostic(core_codes.FILE_MISSING.name, "warning", message, file=shown))
    return [os.path.join(folder, *parts) for parts in sorted(found)], problems


def _missing_folder(folder: str, system: System) -> Diagnostic:
    shown = system.name_of(folder)
    if system.exists(folder):
        code, reason = core_codes.FILE_UNREADABLE, "is a file, not a folder"
    else:
        code, reason = core_codes.FILE_MISSING, "does not exist"
    message = f"Toolpacks directory not found: {visible(shown)} {reason}"
    return Diagnostic(code.name, "error", message, file=shown)


# The sentences of the original loader, for programs that look for them in an exception's text. A
# finding says in equipage's words what it found; `original_phrase` says which rule that breaks,
# such as `timeoutMs must be a positive integer`. It needs only the code, the path and what the
# message quotes.

_NOT_JSON_PHRASE = "templating.context must be JSON serialisable"
#: The rule for keys that are not text, by block.
_KEY_PHRASES: dict[Path, str] = {
    ("env", "set"): "env.set keys must be non-empty strings",
    ("execution", "headers"): "headers must use non-empty string keys",
    ("templating", "context"): _NOT_JSON_PHRASE,
}
#: The rule for the shape of a field. In a sentence `{0}` is the field, `{1}` what is in brackets.
_SHAPE_PHRASES = (
    (r"", "Expected mapping at the top"),
    (r"(?:.*\.)?<<", "Failed to parse YAML"),
    (r"(id|version)", "Field '{1}' in toolpack must be a non-empty string"),
    (r"deterministic|caps\.subprocess", "{0} must be a boolean"),
    (r"timeoutMs|execution\.timeoutMs", "{0} must be a positive integer"),
    (r"limits\.(.+)", "limits['{1}'] must be a positive integer"),
    (
        r"(limits|(?:caps|env|templating|execution)(?:\.(?:filesystem|set|context|headers))?)",
        "field '{1}' must be a mapping",
    ),
    (r"inputSchema|outputSchema", "{0} must be a mapping"),
    (r"caps\.network", "{0} must be a string or list of strings"),
    (r"caps\.filesystem\.\w+|env\.passthrough", "{0} must be a list"),
    (r"env\.set\.(.+)", "env.set['{1}'] must be a string"),
    (r"templating\.engine", "templating.engine must be one of {{'jinja2'}}"),
    (r"execution\.kind", "unsupported execution.kind"),
    (r"execution\.cmd", "cli execution requires 'cmd' list"),
    (r"execution\.args", "node execution args must be a list"),
    (r"execution\.headers\.(.+)", "header '{1}' must be a string"),
    (r".*", "{0} must be a non-empty string"),
)
#: Findings about a text that could not be parsed at all.
_SYNTAX_CODES = {
    core_codes.ALIAS_BOMB, core_codes.CONTROL_CHARACTER, core_codes.EXTRA_DOCUMENT,
    core_codes.JSON_SYNTAX, core_codes.NESTING_TOO_DEEP, core_codes.NOT_UTF8,
    core_codes.RECURSIVE_ALIAS, core_codes.UNDEFINED_ALIAS, core_codes.UNKNOWN_TAG,
    core_codes.YAML_SYNTAX,
}  # fmt: skip
#: Findings about a value that does not fit its field.
_MISFIT_CODES = {
    core_codes.INVALID_VALUE, core_codes.OUT_OF_RANGE, core_codes.PATTERN_MISMATCH,
    core_codes.WRONG_LENGTH, core_codes.WRONG_TYPE,
}  # fmt: skip


def original_phrase(each: Diagnostic) -> str | None:
    """The rule that a finding breaks, in the words of the original; None where it had none."""
    if each.code in _SYNTAX_CODES:
        return _syntax_phrase(each)
    if each.code.startswith("schema-") and not each.code.startswith(
        ("schema-ref", "schema-not-mapping")
    ):
        return "schema failed validation"
    try:
        path = parse_path(each.path)
    except ValueError:
        return None
    if each.code == core_codes.NON_STRING_KEY:
        return _KEY_PHRASES.get(path[:2])
    if each.code == core_codes.NOT_FINITE:
        return _NOT_JSON_PHRASE if path[:2] == ("templating", "context") else None
    if each.code == core_codes.MISSING_FIELD:
        return _missing_field_phrase(each, path)
    if each.code == core_codes.UNKNOWN_FIELD:
        if path[:2] == ("caps", "filesystem"):
            return f"caps.filesystem[{path[-1]}] is not supported"
        return f"{path[0]} contains unknown key '{path[-1]}'" if len(path) == 2 else None
    return _shape_phrase(each, path_in_camel_case(path)) if each.code in _MISFIT_CODES else None


def _syntax_phrase(each: Diagnostic) -> str:
    name = each.name or ""
    if each.code == core_codes.UNKNOWN_TAG and each.path.startswith("templating.context"):
        return _NOT_JSON_PHRASE
    if name.endswith((".tool.yaml", ".tool.yml")):
        return "Failed to parse YAML"
    verb = "parse" if name.endswith((".yaml", ".yml")) else "load"
    return f"failed to {verb} schema {name}"


def _missing_field_phrase(each: Diagnostic, path: Path) -> str:
    match = re.search(r"`([^`]+)`", each.message)
    field = match[1] if match else ""
    if path == ("limits",):
        return f"limits missing required key '{field}'"
    if path != ("execution",):
        return f"missing required field '{field}'"
    named = {"cmd": "cli execution requires 'cmd' list", "url": "http execution requires 'url'"}
    return named.get(field, f"execution.{field} is required")


def _shape_phrase(each: Diagnostic, path: Path) -> str:
    if path[:2] == ("caps", "network") and each.code == core_codes.INVALID_VALUE:
        # A message that quotes an empty protocol starts with two backticks.
        match = re.search(r"`([^`]+)`", each.message)
        if match and not each.message.startswith("``"):
            return f"caps.network has unsupported protocol '{match[1]}'"
    name = ".".join(map(str, path[:2])) + "".join(f"[{step}]" for step in path[2:])
    written = ".".join(map(str, path))
    matches = ((re.fullmatch(pattern, written), sentence) for pattern, sentence in _SHAPE_PHRASES)
    return next(
        sentence.format(name, *match.groups()) for match, sentence in matches if match is not None
    )
