"""Which kind a file is of, and why.

The first of these that says something counts:

1. the settings of the project: a glob with a kind,
2. the path: the place that a tool gives its files,
3. the plugin around the file, whose manifest names its parts,
4. the content, if two signs of it agree.

What belongs to a tool and is not read (see `clients.unread`) is recognised, too: by its path
before the content is looked at, or by its content. Below a skill, only the skill itself is of a
kind: the other files are its material. One sign of a header is a guess, which gives no errors. One
sign of other content is a note below a folder, and enough for a file that a person names. What a
header or a part says yields to another load that reads the file. Only light predicates are used, so
that looking at a file imports no kind but its own.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from equipage.clients.headers import MAX_HEADER_BYTES, kind_of_header
from equipage.clients.plugins import Plugins, is_below_skill, kind_of_plugin_part, plugins_around
from equipage.core.codes import FIXTURE_SKIPPED, NOT_READ, POSSIBLE_KIND, UNRECOGNISED
from equipage.core.diagnostics import Code, Diagnostic
from equipage.core.text import lazy_regex
from equipage.files import MAX_BYTES, System
from equipage.files.reading import Files, require_text
from equipage.files.sandbox import FileProblem
from equipage.files.walking import GlobRule, PlaceIndex
from equipage.loading.project_root import root_of_folder
from equipage.loading.session import Run
from equipage.project import registry
from equipage.project.registry import Recognition, conventions
from equipage.project.signs import (
    BEGINNING_BYTES,
    begins_as_foreign_file,
    json_members,
    keys_of_broken_text,
    may_be_foreign_file,
    may_have_key,
    may_have_sign,
    mentions_key,
    skim_json,
)
from equipage.syntax import SyntaxProblem, yaml
from equipage.syntax.document import Syntax, load_value

_FORMATS: dict[str, Syntax] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}

T = TypeVar("T")
Basis = Literal["settings", "path", "plugin", "header", "content"]


class Recognised(msgspec.Struct, frozen=True):
    """A file's kind, or why it cannot be recognised. Both None: not a configuration."""

    kind: str | None = None
    problem: Diagnostic | None = None
    by: Basis | None = None  #: what decided
    why: str = ""  #: the same in words, as in “its path matches `.claude/agents/**/*.md`”
    sure: bool = True  #: False for a guess, which gives no errors
    unread: str | None = None  #: what a file is that belongs to a tool and is not read
    is_part: bool = False  #: whether it may be a part of another file


class Claims(Protocol):
    """What a project says about its files."""

    conventions: bool  #: whether the files of other agent tools are recognised
    claims_any: bool  #: whether it gives files kinds, whatever their names

    def kind_of(self, path: str) -> str | None:
        """The kind that the settings give a file, by its absolute path."""
        ...


class Surroundings(msgspec.Struct, frozen=True):
    """What a folder says about every file in it. Files in equal surroundings are judged alike."""

    folder: str  #: absolute, with `/` between its steps and none at its end
    inside: str  #: the folder from the root of the project on, with `/` at its end
    project: Claims
    conventions: bool  #: whether the files of other agent tools are recognised
    below_skill: bool  #: whether its files are material of a skill
    plugins: tuple[Plugins, ...]  #: whose manifests may name its files, the nearest first
    has_place: bool  #: whether the settings or a place may say what its files are

    def is_material(self, path: str) -> bool:
        """Whether a file of the folder belongs to a skill, and is not the skill itself."""
        return self.below_skill and not path.endswith("/SKILL.md")


class _KnownSurroundings(dict[str, Surroundings]):
    """The folders of one run, as the paths of files write them."""


def surroundings_of(path: str, project: Claims, run: Run) -> Surroundings:
    """What the folder of a file says about it, worked out once for each folder of a run."""
    known = run.around.cache(_KnownSurroundings)
    folder = path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
    if folder not in known:
        known[folder] = _look_around(folder, project, run)
    return known[folder]


def _look_around(folder: str, project: Claims, run: Run) -> Surroundings:
    whole = os.path.normpath(os.path.join(run.files.cwd, folder))
    absolute = whole.replace(os.sep, "/").rstrip("/")
    any_file = f"{absolute}/file"
    # From the project on: a folder above it may be called `agents`, too.
    root = root_of_folder(run, absolute or "/").replace(os.sep, "/")
    return Surroundings(
        absolute,
        any_file.removeprefix(root)[: -len("file")],
        project,
        project.conventions,
        project.conventions and is_below_skill(any_file, run),
        plugins_around(any_file, run) if project.conventions else (),
        project.claims_any or _is_place_folder(absolute, run.around.cache(IrrelevantFolders)),
    )


def recognise(
    path: str, project: Claims, run: Run, *, named: bool = True, files: Files | None = None
) -> Recognised:
    """The kind of a file. Whether one that is not recognised exists matters only if it is named.

    Nearly every file that a walk meets is of no kind: what its folder says is known already, and
    the cheap questions come first.
    """
    files = files or run.files.for_next_load()
    if path.endswith(_NO_FILE_NAMES):
        path = os.path.normpath(os.path.join(files.cwd, path))
    around = surroundings_of(path, project, run)
    slashed = f"{around.folder}/{path[max(path.rfind('/'), path.rfind(os.sep)) + 1 :]}"
    found = recognise_place(slashed, around)
    if found is not None:
        in_doubt = not named and found.by == "path" and around.inside != "/"
        if in_doubt and found.kind in _PLAIN_NAMES and not _has_known_key(path, found.kind, files):
            problem = _finding(POSSIBLE_KIND, path, files.system, kind=found.kind)
            return Recognised(problem=problem)
        return found
    extension = os.path.splitext(path)[1].lower()
    is_part = around.conventions and not around.is_material(slashed)
    part = _recognise_part(slashed, extension, around, files) if is_part else None
    if part is not None:
        return part
    sort = _unread_sort(path, slashed, around, files) if is_part and not named else None
    if sort is not None:
        return _recognise_unread(path, sort, "place", files)
    # A schema describes files of one's own: it takes none from a client that reads it.
    if (claimed := _claimed_kind(slashed, around)) is not None:
        return Recognised(claimed, by="settings", why=_CLAIMED)
    if extension == ".md" and is_part:
        name = slashed[len(around.folder) + 1 :]
        return _recognise_header(path, around.inside + name, files, named=named)
    if extension in _FORMATS:
        walked = run.request.folders
        found = _recognise_file_content(path, _FORMATS[extension], files, walked, named=named)
        return found if is_part or found.unread is None else Recognised()
    if named:  # the caller may have a reason for another name: what the file holds decides
        found = (
            Recognised()
            if extension == ".md"
            else _recognise_file_content(path, "yaml", files, named=True)
        )
        return found if found.kind is not None else _problem_of_reading(path, files)
    return Recognised()


def _recognise_part(
    slashed: str, extension: str, around: Surroundings, files: Files
) -> Recognised | None:
    """The kind of a part of the plugin or extension around it."""
    if extension == ".md" and around.plugins:
        part = kind_of_plugin_part(slashed, around.plugins)
        if part is not None:
            return Recognised(part, by="plugin", why="it is a part of the plugin around it")
    if extension == ".json" and any(slashed in each.hooks for each in around.plugins):
        return Recognised("claude-hooks", by="plugin", why="a manifest names it")
    if extension == ".toml":
        above, found_folder, _ = slashed.rpartition("/commands/")
        if found_folder and files.exists(f"{above}/gemini-extension.json"):
            why = "it is a part of the extension around it"
            return Recognised("gemini-command", by="plugin", why=why)
    return None


def _unread_sort(path: str, slashed: str, around: Surroundings, files: Files) -> str | None:
    """What a file is that a client reads and equipage does not, by its place."""
    if _may_have_place(slashed, around):
        from equipage.clients.unread import (  # only a walk meets such files
            GEMINI_VARIABLES,
            TASKS,
            unread_sort,
        )

        sort = unread_sort(slashed)
        is_other = sort == GEMINI_VARIABLES and not _is_for_gemini(path, around, files)
        is_other |= sort == TASKS and _STARTS_TASK.search(files.peek(path) or b"") is None
        if sort is not None and not is_other:
            return sort
    return sort_in_other_letters(slashed)


#: Kinds whose files have a name that others may have, too, below the root of a project.
_PLAIN_NAMES = frozenset({"opencode-config", "amp-settings"})


def _has_known_key(path: str, kind: str, files: Files) -> bool:
    """Whether a JSON file has a key of its kind at its root, or cannot be read to tell."""
    text = _decode_utf(files.peek(path) or b"")
    members = json_members(text.removeprefix("\ufeff"), ())
    model: Any = registry.format_named(kind).model
    fields = msgspec.structs.fields(model)
    return members is None or any(each.encode_name in members for each in fields)


#: Ends of paths that do not name a file.
_NO_FILE_NAMES = ("/", os.sep, ".")


def _recognise_unread(path: str, sort: str, sign: str, files: Files) -> Recognised:
    """The result for a file that belongs to a tool and that equipage does not read."""
    from equipage.clients.unread import QUIET  # few files are such

    quiet = sort in QUIET
    problem = None if quiet else _finding(NOT_READ, path, files.system, sort=sort, sign=sign)
    return Recognised(problem=problem, unread=sort)


def _is_for_gemini(path: str, around: Surroundings, files: Files) -> bool:
    """Whether variables in a file that many programs have are for Gemini CLI or Qwen Code."""
    beside = (f"{around.folder}/{each}" for each in (".gemini", ".qwen", "GEMINI.md", "QWEN.md"))
    is_inside = around.folder.endswith(("/.gemini", "/.qwen"))
    named = _VARIABLES_OF_GEMINI.search(files.peek(path) or b"")
    return is_inside or named is not None or any(files.exists(each) for each in beside)


#: A task that runs when a folder is opened, also if its JSON has escapes.
_STARTS_TASK = lazy_regex(rb"folderOpen|\\u")
_VARIABLES_OF_GEMINI = lazy_regex(rb"(?m)^\s*(?:export\s+)?(?:GOOGLE_)?(?:GEMINI|QWEN)_")


def sort_in_other_letters(path: str) -> str | None:
    """What a file is where letter case does not count in names; None if it is nothing there."""
    lower = path.lower()
    if lower.endswith("/skill.md") and "/skills/" in lower:
        lower = lower.removesuffix("skill.md") + "SKILL.md"
    # Letters above the place of a file do not matter.
    places = _all_places() if lower != path and f"/.{registry.LAYER}/" not in lower else ()
    if any(each.find(path) is not None for each in places):
        return None
    place = next((found for each in places if (found := each.find(lower)) is not None), None)
    return None if place is None else f"{place[0]} file in other letters"


@cache
def _all_places() -> tuple[PlaceIndex, ...]:
    from equipage.clients.unread import unread_places  # only a walk asks for all

    return _built_in_places(), _tool_places(), unread_places()


@cache
def _names_for_any_folder() -> tuple[frozenset[str], tuple[str, ...]]:
    """The names that identify a file in any folder, and the ends of such names in lower case."""
    places = _all_places()
    ends = {end.lower() for each in places for end in each.ends_anywhere}
    names = frozenset(name for each in places for name in each.names_anywhere)
    return names, tuple(sorted(ends | {*_CASE_INSENSITIVE_ENDS}))


# 1 and 2: the settings and the path, without reading the file.


def recognise_place(path: str, around: Surroundings) -> Recognised | None:
    """The kind of a file by its absolute path with `/`, as the settings and its place say it."""
    if not _may_have_place(path, around):
        return None
    claimed = _claimed_kind(path, around)
    if claimed not in (None, registry.BY_SCHEMA):
        return Recognised(claimed, by="settings", why=_CLAIMED)
    place = _built_in_places().find(path)
    if place is None and path.lower().endswith(_CASE_INSENSITIVE_ENDS):
        # Loaders overlook it if its case differs; loading it reports that.
        place = _built_in_places().find(path.lower())
    if place is None and around.conventions:
        place = _tool_places().find(path)
        if place is not None and place[0] not in _SKILL_KINDS and around.is_material(path):
            return None
    if place is None:
        return None
    return Recognised(place[0], by="path", why=f"its path matches `{place[1]}`")


_CLAIMED = "the settings of the project say so"


def _claimed_kind(path: str, around: Surroundings) -> str | None:
    return around.project.kind_of(path) if around.project.claims_any else None


def _may_have_place(path: str, around: Surroundings) -> bool:
    """Whether the settings or a place may say what a file is; hardly any file has one."""
    if around.has_place:
        return True
    name = path[len(around.folder) + 1 :]
    names, ends = _names_for_any_folder()
    return name in names or name.lower().endswith(ends)


#: Ends of names that nothing else has, however they are written.
_CASE_INSENSITIVE_ENDS = (".tool.yaml", ".tool.yml")
#: Kinds of files that belong to a skill.
_SKILL_KINDS = frozenset({"skill", "codex-skill-metadata"})


@cache
def _built_in_places() -> PlaceIndex:
    return PlaceIndex((each.kind, each.paths) for each in registry.BUILT_IN)


@cache
def _tool_places() -> PlaceIndex:
    places = [(path, each.kind) for each in conventions() for path in each.paths]
    # Of several that a path fits, the one that names more folders is closer.
    places.sort(key=lambda place: -place[0].count("/"))
    return PlaceIndex((kind, (path,)) for path, kind in places)


#: Names as they are written, and the ends of others in lower case.
_Names = tuple[frozenset[str], tuple[str, ...]]
ALL_NAMES: _Names = frozenset(), ("",)


class IrrelevantFolders(set[str]):
    """Folders with no step that any place requires; below one, only the last step counts."""


def names_with_place(folder: str, silent: IrrelevantFolders | None = None) -> _Names:
    """The names of files in a folder whose path may identify them; no other path does.

    The folder is absolute, with `/` at its end. `silent` collects the irrelevant folders.
    """
    silent = IrrelevantFolders() if silent is None else silent
    # Where letter case does not count, `.Codex/rules` is such a folder, too.
    found = (each for each in (folder, folder.lower()) if _is_place_folder(each[:-1], silent))
    folder = next(found, "")
    if not folder:
        return _names_for_any_folder()  # nearly every folder
    open_ended, usual = _names_with_place()
    return ALL_NAMES if any(rule.matches_folder(folder) for rule in open_ended) else usual


def _is_place_folder(folder: str, silent: IrrelevantFolders) -> bool:
    """Whether any place may be in an absolute folder, which is written without `/` at its end."""
    if folder in silent:
        return False
    above, _, name = folder.rpartition("/")
    words = _required_steps()
    steps = (None, name) if above in silent else (None, *folder.split("/"))
    if words.isdisjoint(steps):
        silent.add(folder)
        return False  # nearly always
    return any(each.has_rules_for(folder) for each in _all_places())


@cache
def _required_steps() -> frozenset[str | None]:
    """The steps of which a folder must have one to be a place; None among them if any will do."""
    return frozenset(word for each in _all_places() for word in each.required_steps)


@cache
def _names_with_place() -> tuple[list[GlobRule], _Names]:
    """The globs that take any name in their folders, and the names that count in others."""
    places = _all_places()
    names = frozenset(name for each in places for name in each.names)
    ends = {end for each in places for end in each.extensions if end}
    return [rule for each in places for rule in each.open_ended], (names, tuple(sorted(ends)))


# 4: the content.


def _recognise_header(path: str, inside: str, files: Files, *, named: bool) -> Recognised:
    data = None if named else files.peek(path)
    # It is read as a source only if it has a kind. Reading a link may be refused with a finding.
    if data is not None and (
        not _may_begin_header(data)
        or (
            kind_of_header(inside, _decode_utf(data[:MAX_HEADER_BYTES])) is None
            and not files.system.is_link(path)
        )
    ):
        return Recognised()
    try:
        text, problem = _read_text(path, files)
    except FileProblem as missing:
        return Recognised(problem=_finding(missing.code, path, files.system, **missing.values))
    guess = kind_of_header(inside, text)
    if problem is not None:
        return Recognised(problem=problem) if named or guess is not None else Recognised()
    if guess is None:
        return Recognised()
    return Recognised(guess.kind, by="header", why=guess.why, sure=guess.sure)


def _may_begin_header(data: bytes) -> bool:
    return data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"---")


def _is_foreign_file(path: str, syntax: Syntax, files: Files) -> bool:
    """Whether the path and the beginning of a file show that another program wrote it."""
    if not may_be_foreign_file(path.replace(os.sep, "/"), syntax):
        return False
    beginning = files.system.peek(path, size=BEGINNING_BYTES)
    return beginning is not None and begins_as_foreign_file(beginning, syntax)


def _recognise_file_content(
    path: str, syntax: Syntax, files: Files, walked: Iterable[str] = (), *, named: bool
) -> Recognised:
    if not named and _is_foreign_file(path, syntax, files):
        return Recognised()
    data = None if named else files.peek(path)
    if data is not None and not needs_parsing(data, syntax):
        return Recognised()
    try:
        text, problem = _read_text(path, files)
    except FileProblem as missing:
        return Recognised(problem=_finding(missing.code, path, files.system, **missing.values))
    sure, maybe = recognise_content(text, syntax, named=named)
    unread = None if sure is None or sure.module else sure.kind
    if unread is not None and not named:
        return _recognise_unread(path, unread, "content", files)
    if problem is not None:
        is_ours = named or sure is not None or maybe is not None
        return Recognised(problem=problem) if is_ours else Recognised()
    if unread is not None:
        return Recognised(problem=unrecognised_finding(path, files.system, sort=unread))
    if sure is None and maybe is not None and not named:
        # A walk does not check what only may be of a kind; a note says so.
        return Recognised(problem=_finding(POSSIBLE_KIND, path, files.system, kind=maybe.kind))
    row = sure or maybe
    if row is not None and not named and is_fixture(path, files.system, walked):
        # Material of tests is put beside other files before it is used, and wrong on purpose.
        return Recognised(problem=_finding(FIXTURE_SKIPPED, path, files.system, kind=row.kind))
    part = row is not None and row.part
    return Recognised(None if row is None else row.kind, by="content", is_part=part)


def is_fixture(path: str, system: System, walked: Iterable[str]) -> bool:
    """Whether a walk through these folders met a file in a folder with material of tests.

    A folder that the caller named is not among them, whatever its name.
    """
    path = system.absolute(path)
    above = [each for each in walked if path.startswith(each.rstrip(os.sep) + os.sep)]
    inside = path.removeprefix(max(above, key=len, default=os.path.dirname(path)))
    return _FIXTURES.search(inside.replace(os.sep, "/")) is not None


_FIXTURES = lazy_regex(r"/(?:fixtures?|testdata)/", re.IGNORECASE)


def _read_text(path: str, files: Files) -> tuple[str, Diagnostic | None]:
    """The text of a file, and what is wrong with its bytes. Raises `FileProblem`."""
    source = files.read(path, max_bytes=10 * MAX_BYTES)
    try:
        text = require_text(source).text
        return (text if "\0" not in text[:2] else _decode_utf(source.data)), None
    except FileProblem as problem:
        return _decode_utf(source.data), _finding(
            problem.code, path, files.system, **problem.values
        )


def _decode_utf(data: bytes) -> str:
    """Decode UTF-8 or UTF-16. Only UTF-8 is loaded; the others are reported."""
    if not _is_utf16(data):
        return data.decode("utf-8", "replace")
    if data[:2] in _UTF16_MARKS:
        return data.decode("utf-16", "replace")
    return data.decode("utf-16-le" if data[1] == 0 else "utf-16-be", "replace")


_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _is_utf16(data: bytes) -> bool:
    """Whether text is UTF-16, by its byte order mark or because it begins with ASCII."""
    two = data[:2]
    return two in _UTF16_MARKS or (len(two) == 2 and 0 in two and two != b"\0\0")


def _problem_of_reading(path: str, files: Files) -> Recognised:
    """The result for a named file of no kind; if it cannot be read, with the reason."""
    try:
        problem = _read_text(path, files)[1]
    except FileProblem as missing:
        problem = _finding(missing.code, path, files.system, **missing.values)
    return Recognised(problem=problem)


_VARIABLE = lazy_regex(rb"\$\{")


def needs_parsing(data: bytes, syntax: Syntax) -> bool:
    """Whether a text must be parsed to recognise its kind. False is certain: it has none.

    A walk meets every YAML and JSON file of a repository, and few of them have a kind.
    """
    if _is_utf16(data):
        data = _decode_utf(data).encode()
    keys = _sign_keys()
    if _has_sign(keys, data, syntax):
        return True
    # One byte is found faster than two, and most texts have no `$`.
    if b"$" not in data or _VARIABLE.search(data) is None:
        return False
    text = _substitute_defaults(_decode_utf(data))
    return mentions_key(keys, text) if syntax == "json" else may_have_key(keys, text.encode())


def _has_sign(keys: tuple[str, ...], data: bytes, syntax: Syntax) -> bool:
    if syntax == "yaml":
        return may_have_sign(keys, data)
    found = skim_json(data, keys)
    if found is None:
        return mentions_key(keys, _decode_utf(data))
    if not found:  # nearly always
        return False
    # The members that were skipped can only rule a kind out.
    return any(
        (each.by_content is not None and each.by_content(found))
        or (each.possibly is not None and each.possibly(found, named=False))
        for each in _rows_with_signs()
        if not found.keys().isdisjoint(each.keys)
    )


@cache
def _rows_with_signs() -> tuple[Recognition, ...]:
    """The rows of files that are known by what they hold; those that are not read come last."""
    from equipage.project.registry import UNREAD_BY_CONTENT  # not for a file that its path names

    return tuple(each for each in (*registry.BUILT_IN, *UNREAD_BY_CONTENT) if each.by_content)


@cache
def _sign_keys() -> tuple[str, ...]:
    """Every key that a file needs one of to be recognised by its content."""
    return tuple(dict.fromkeys(key for each in _rows_with_signs() for key in each.keys))


def _substitute_defaults(text: str) -> str:
    from equipage.syntax.variables import substitute_defaults  # few texts have variables

    return substitute_defaults(text)


def recognise_content(
    text: str, syntax: Syntax, *, named: bool = False
) -> tuple[Recognition | None, Recognition | None]:
    """The row a text surely belongs to by what it holds, and the row it may belong to.

    Where a kind replaces variables before it parses, defaults take their places: what a file is
    does not depend on the environment.
    """
    rows = list(_rows_with_signs())
    sure, maybe = _match_rows(text, syntax, rows, named=named)
    if sure is None and "${" in text:
        rows = [each for each in rows if each.substitutes]
        sure, other = _match_rows(_substitute_defaults(text), syntax, rows, named=named)
        maybe = maybe or other
    return sure, maybe


def _match_rows(
    text: str, syntax: Syntax, rows: list[Recognition], *, named: bool
) -> tuple[Recognition | None, Recognition | None]:
    """Of the rows, the one a text surely belongs to, and the one it may belong to.

    A text that does not parse may be of a kind whose key it has: nothing more can be said.
    """
    keys = tuple(key for each in rows for key in each.keys)
    value: Any = json_members(text, keys) if syntax == "json" else None
    if value is not None:
        rows = [each for each in rows if not value.keys().isdisjoint(each.keys)]
    elif syntax == "json":
        rows = [each for each in rows if mentions_key(each.keys, text)]
    else:
        data = text.encode("utf-8", "surrogatepass")
        rows = [each for each in rows if may_have_key(each.keys, data)]
    if not rows:
        return None, None
    try:
        if syntax == "yaml":
            value = yaml.peek_value(text.removeprefix("\ufeff"))
        elif value is None:
            value = load_value(syntax, text.removeprefix("\ufeff"))
    except SyntaxProblem:
        seen = keys_of_broken_text(text, syntax)
        return None, next((each for each in rows if seen & set(each.keys)), None)
    sure = next((each for each in rows if each.by_content and each.by_content(value)), None)
    if sure is None:
        yaml.forget_peeked()
    maybe = (each for each in rows if each.possibly and each.possibly(value, named=named))
    return sure, next(maybe, None)


# Findings, and folders of one kind.


def unrecognised_finding(path: str, system: System, sort: str | None = None) -> Diagnostic:
    """The finding that a file the caller named is of no kind, but perhaps of a sort not read."""
    return _finding(UNRECOGNISED, path, system, sort=sort)


def _finding(code: Code, path: str, system: System, **values: object) -> Diagnostic:
    from equipage.loading.findings import finding  # most files have none

    return finding(code, system.name_of(path), values)


def folders_of_kinds(entered: str) -> Iterator[tuple[str, str]]:
    """The folders for files of one kind that a folder (absolute, with `/` at its end) is or holds.

    Each comes with its kind, without the `/`.
    """
    if f"{registry.LAYER}/" not in entered:
        return  # nearly every folder of a walk
    for kind, name in _layer_folder_names():
        if entered.endswith(f"/.{registry.LAYER}/"):
            yield kind, entered + name
        elif entered.endswith((f"/.{registry.LAYER}/{name}/", f"/{registry.LAYER}/{name}/")):
            yield kind, entered.rstrip("/")


@cache
def _layer_folder_names() -> tuple[tuple[str, str], ...]:
    """The kinds whose files have a folder in each layer, and its name."""
    rows = (*registry.BUILT_IN, *conventions())
    return tuple((each.kind, each.folder) for each in rows if each.folder is not None)
