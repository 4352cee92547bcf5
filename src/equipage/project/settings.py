"""The settings of a project: `equipage.toml`, or `[tool.equipage]` in `pyproject.toml`.

```toml
conventions = false  # leave the files of other agent tools alone
exclude = ["examples/broken"]  # leave out what matches; `include` leaves out what does not
baseline = "old-findings.json"  # leave out findings that are recorded there
ignore = ["env-missing"]  # or `select`, to report these codes and no others
roots = ["shared"]  # folders of the project that references may lead into
library = "library"  # where the includes of servers start
kinds = { "servers/*.yaml" = "server" }  # a glob decides before anything else does
severity = { unknown-field = "error" }
own-keys = { skill = ["trigger"] }  # kind → keys of its files that are yours, at any level
per-file-ignores = { "tests/**" = ["unknown-field"] }

[[schemas]]  # files of your own, and the JSON Schema that describes them
files = ["prompts/*.yaml"]
schema = "schemas/prompt.json"
```

Settings are configuration, so they are loaded and checked like any other. They belong to the
project root and never reach beyond it: roots stay inside, and a kind is built in or installed.
Nothing here can name code to import.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic, Fact, LoadError, Part, Severity, Shown
from equipage.core.path import ROOT, Path, get, mapping_or_empty
from equipage.files import System, is_below
from equipage.files.sandbox import FileProblem
from equipage.loading.format import Format, Reading
from equipage.loading.pipeline import Outcome, load_path
from equipage.loading.project_root import (
    OWN_FILE,
    SHARED_FILE,
    has_equipage_table,
    root_of_folder,
    settings_file,
)
from equipage.loading.session import Request, Run, Session
from equipage.loading.shape import Shape
from equipage.loading.tree import Tree
from equipage.project.recognise import recognise, unrecognised_finding
from equipage.project.registry import (
    BY_SCHEMA,
    all_codes,
    built_in_kinds,
    codes_for_comments,
    format_named,
    known_kinds,
)

#: The name of the baseline where the settings name no other.
BASELINE_NAME = "equipage-baseline.json"
#: The error for an option that only layered settings have a use for.
NO_LAYERS_MESSAGE = "--config applies to layered settings, and there are none here"
_SECTION: Path = ("tool", "equipage")


class OwnSchema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files that a schema of the project describes."""

    TITLE: ClassVar[str] = "an entry of `schemas`"

    files: str | tuple[str, ...]  #: a glob or several, from the root of the project
    schema: str  #: the file of the JSON Schema, from the root of the project

    @property
    def globs(self) -> tuple[str, ...]:
        return (self.files,) if isinstance(self.files, str) else self.files


def _kebab_case(name: str) -> str:
    return name.replace("_", "-")


class Never(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What no agent of a project may be allowed. A misspelt list would forbid nothing."""

    TITLE: ClassVar[str] = "the list `never` of the policy"
    GUARDED: ClassVar[frozenset[str]] = frozenset(
        {"tools", "servers", "modes", "hosts", "programs"}
    )

    tools: tuple[str, ...] = ()  #: tools, as the client writes them: `Bash(rm:*)`
    servers: tuple[str, ...] = ()  #: MCP servers by name
    modes: tuple[str, ...] = ()  #: values of modes: `bypassPermissions`
    hosts: tuple[str, ...] = ()  #: hosts that servers and commands may not reach
    programs: tuple[str, ...] = ()  #: commands of servers and hooks


class Policy(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename=_kebab_case
):
    """What agents of a project may never do, and who may let them do more."""

    TITLE: ClassVar[str] = "the policy of the project"
    GUARDED: ClassVar[frozenset[str]] = frozenset({"never", "pins"})

    never: Never = Never()  #: what no agent may be allowed
    pins: bool = False  #: whether every launcher must name one version
    may_widen: tuple[str, ...] = ()  #: those who may widen a reach, see `equipage diff --author`


class ProjectSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename=_kebab_case
):
    """What a project may say about how it is checked."""

    TITLE: ClassVar[str] = "the project settings"

    kinds: dict[str, str] = {}  #: glob → kind
    conventions: bool = True  #: recognise the files of other agent tools by their place
    exclude: tuple[str, ...] = ()  #: globs of files and folders that a walk leaves out
    include: tuple[str, ...] = ()  #: globs; a walk leaves out what matches none of them
    baseline: str | None = None  #: the file with findings that are known, see `record.baseline`
    select: tuple[str, ...] | None = None  #: report these codes and no others
    ignore: tuple[str, ...] = ()  #: do not report these codes
    severity: dict[str, Severity] = {}  #: code → severity
    roots: tuple[str, ...] = ()  #: folders of the project that references may lead into
    library: str | None = None  #: the folder of the project where includes of servers start
    per_file_ignores: dict[str, tuple[str, ...]] = {}  #: glob → codes not reported there
    own_keys: dict[str, tuple[str, ...]] = {}  #: kind → keys that no client needs to know
    schemas: tuple[OwnSchema, ...] = ()  #: JSON Schemas for files of no other kind
    policy: Policy | None = None  #: what agents may never do


class Selection(msgspec.Struct, frozen=True):
    """What the caller wants to see: which codes (`select` None means all), and of which files."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()  #: globs over paths from the working directory
    force_exclude: bool = False  #: whether files that the caller named are excluded, too

    def takes(self, code: str) -> bool:
        """Whether a code is to be reported; a bug in equipage always is."""
        # Silencing a bug would make a check that did not happen look like one that passed.
        if code == core_codes.INTERNAL_ERROR:
            return True
        return code not in self.ignore and (self.select is None or code in self.select)


SELECT_ALL = Selection()


class Project:
    """A project root and what its settings say."""

    def __init__(
        self,
        root: str,
        settings: ProjectSettings,
        diagnostics: tuple[Diagnostic, ...] = (),
        file: str | None = None,
    ) -> None:
        self.root = root
        self.settings = settings
        self.diagnostics = diagnostics  #: what is wrong with the settings themselves
        self.file = file  #: the file they are in
        #: the file with findings that are known; it need not exist
        self.baseline = os.path.join(root, settings.baseline or BASELINE_NAME)
        #: glob → schema, as the settings name it
        self._schemas = tuple(
            (glob, each.schema) for each in settings.schemas for glob in each.globs
        )
        # A file of a schema is of a kind, too; what `kinds` says comes first.
        kinds = (*settings.kinds.items(), *((glob, BY_SCHEMA) for glob, _ in self._schemas))
        self._kinds = [(_compile_glob(glob), kind) for glob, kind in kinds]
        self._exclude, self._include = map(
            _compile_folder_globs, (settings.exclude, settings.include)
        )
        self.conventions = settings.conventions
        self.claims_any = bool(self._kinds)  #: whether files have kinds, whatever their names
        self.leaves_out_any = bool(self._exclude or self._include)  #: whether a file is left out
        self._ignores = [
            (_compile_glob(glob), frozenset(codes))
            for glob, codes in settings.per_file_ignores.items()
        ]

    def __eq__(self, other: object) -> bool:
        """Whether another one judges files alike."""
        if not isinstance(other, Project):
            return NotImplemented
        return self.root == other.root and self.settings == other.settings

    __hash__ = None  # type: ignore[assignment]

    def kind_of(self, path: str) -> str | None:
        """The kind the settings give a file, by its absolute path."""
        relative = self._relative(path)
        return next((kind for glob, kind in self._kinds if glob.fullmatch(relative)), None)

    def leaves_out(self, path: str, start: str | None = None) -> bool:
        """Whether the settings exclude a file, by its absolute path.

        A walk that starts inside an excluded folder was asked for, so that pattern does not count.
        """
        if not self.leaves_out_any:
            return False
        relative, begin = self._relative(path), "." if start is None else self._relative(start)
        # `include` narrows a walk, `exclude` narrows it further.
        if self._include and not any(glob.fullmatch(relative) for glob in self._include):
            return True
        return any(
            # The whole project is inside no folder, whatever a pattern matches.
            glob.fullmatch(relative) and (begin == "." or not glob.fullmatch(begin))
            for glob in self._exclude
        )

    def extend_request(self, request: Request) -> Request:
        """A request with the reference roots of the project beside those of the caller."""
        settings = self.settings
        if not (settings.roots or settings.library or self._schemas or settings.own_keys):
            return request
        roots = (*request.roots, *(os.path.join(self.root, root) for root in settings.roots))
        library = settings.library
        # Settings are data of the checked project: they reach a kind as defaults, which its own
        # checks keep inside the project, never as options of the caller.
        own: dict[str, object] = {"project_schemas": self._schemas}
        if library is not None:
            own["project_library"] = os.path.join(self.root, library)
        own_keys = settings.own_keys
        return msgspec.structs.replace(request, roots=roots, defaults=own, own_keys=own_keys)

    def select_findings(
        self, diagnostics: Iterable[Diagnostic], selection: Selection, system: System
    ) -> list[Diagnostic]:
        """The findings to report, with the severities this project gives them."""
        settings = self.settings
        # What the caller selects replaces what the project selects; what either ignores is ignored.
        select = selection.select
        if select is None and settings.select is not None:
            select = frozenset(settings.select)
        ignore = selection.ignore | frozenset(settings.ignore)
        wanted = Selection(select, ignore)
        return [
            msgspec.structs.replace(each, severity=settings.severity[each.code])
            if each.code in settings.severity
            else each
            for each in diagnostics
            if wanted.takes(each.code) and not self._is_ignored(each, system)
        ]

    def _is_ignored(self, each: Diagnostic, system: System) -> bool:
        if not self._ignores or each.code == core_codes.INTERNAL_ERROR:
            return False
        path = each.span.source.filename if each.span is not None else None
        relative = self._relative(path or system.absolute(each.name or ""))
        return any(each.code in codes and glob.fullmatch(relative) for glob, codes in self._ignores)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _compile_glob(glob: str) -> re.Pattern[str]:
    from equipage.files.gitignore import glob_pattern  # most projects have no globs

    return glob_pattern(glob.removeprefix("./"))  # all of them start at the project


def _compile_folder_globs(globs: Iterable[str]) -> list[re.Pattern[str]]:
    """Globs of files, and of folders with everything below them."""
    return [re.compile(f"(?:{_compile_glob(each.rstrip('/')).pattern})(?:/.*)?") for each in globs]


def excluded_by(globs: Sequence[str], cwd: str) -> Callable[[str], bool]:
    """Whether globs of the command line, which start at the working directory, match a path."""
    compiled = _compile_folder_globs(globs)
    if not compiled:
        return lambda _path: False

    def matches(path: str) -> bool:
        relative = os.path.relpath(path, cwd).replace(os.sep, "/")
        return any(glob.fullmatch(relative) for glob in compiled)

    return matches


class _Projects:
    """The projects of the files of one run."""

    def __init__(self) -> None:
        self.by_folder: dict[str, Project] = {}  #: as the paths of files write the folder
        self.by_root: dict[str, Project] = {}


def project_of(path: str, run: Run) -> Project:
    """The project a file belongs to; its settings are read once in a run."""
    known = run.around.cache(_Projects)
    # As it is written: this is asked several times for every file of a walk.
    end = path.rfind("/") if os.sep == "/" else max(path.rfind("/"), path.rfind(os.sep))
    folder = path[: end + 1]
    project = known.by_folder.get(folder)
    if project is None:
        # Where the file itself may be a link to does not count.
        whole = os.path.join(run.files.cwd, folder.removeprefix("./"))
        project = known.by_folder[folder] = project_in(os.path.dirname(whole), run)
    return project


def project_in(folder: str, run: Run) -> Project:
    """The project of the files in an absolute folder."""
    root = root_of_folder(run, folder)
    by_root = run.around.cache(_Projects).by_root
    if root not in by_root:
        file = None if run.request.isolated else settings_file(run, root)
        if file is None:
            by_root[root] = Project(root, ProjectSettings())
        else:
            by_root[root] = _load_project(root, file, run)
    return by_root[root]


def projects_of(run: Run) -> tuple[Project, ...]:
    """Every project that a run met so far."""
    return tuple(run.around.cache(_Projects).by_root.values())


def use_projects(projects: Iterable[Project], run: Run) -> None:
    """Judge the files of a run by the settings of these projects, whatever its own say."""
    run.around.cache(_Projects).by_root.update((each.root, each) for each in projects)


def _load_project(root: str, file: str, run: Run) -> Project:
    outcome = _load_settings(root, file, run)
    settings = outcome.config if outcome.config is not None else ProjectSettings()
    return Project(root, settings, outcome.diagnostics, run.files.name_of(outcome.session.path))


def load_project_settings(root: str, run: Run) -> Outcome | None:
    """The load of the settings of the project at `root`; None if it has none."""
    file = settings_file(run, root)
    return None if file is None else _load_settings(root, file, run)


def _load_settings(root: str, file: str, run: Run) -> Outcome:
    # Of the run itself: whatever depends on its folders depends on the settings.
    system = run.around.files.system
    request = Request(env={}, system=system, project=root, known_codes=codes_for_comments)
    own = request.new_run(run)
    return load_path(file, FORMAT, request, own, own.files)


def load_in_project(path: str, request: Request, *, kind: str | Format | None = None) -> Outcome:
    """Load a file the caller named, as the settings of its project want it.

    Raises `LoadError` if its kind is not recognised, `UsageError` if there is no such kind.
    """
    request = msgspec.structs.replace(request, known_codes=codes_for_comments)
    run = request.new_run()
    project = project_of(path, run)
    wanted = format_named(kind if kind is not None else _kind_in(project, path, run))
    return load_path(path, wanted, project.extend_request(request), run, run.files)


def kind_in_project(path: str, request: Request) -> str:
    """The kind of a file the caller named. Raises `LoadError` if it is not recognised."""
    run = request.new_run()
    return _kind_in(project_of(path, run), path, run)


def _kind_in(project: Project, path: str, run: Run) -> str:
    found = recognise(path, project, run, files=run.files)
    if found.kind is None:
        raise LoadError([found.problem or unrecognised_finding(path, run.files.system)])
    return found.kind


# The settings have a kind of their own, so that findings about them have a place.


def _select_section(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The part of a `pyproject.toml` that is ours. Paths shown to people keep their beginning."""
    if os.path.basename(tree.provenance(ROOT).origin.document.source.name) != SHARED_FILE:
        return tree, []
    # The search for our name was textual: it may have met a comment.
    if get(tree.value, _SECTION) is None:
        return Tree({}, tree.origins), []
    part = tree.subtree(_SECTION)
    return Tree(part.value, part.origins, ((_SECTION, ROOT),)), []


def _texts_in_list(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text in the list at `path`."""
    found = get(value, path)
    for number, each in enumerate(found if isinstance(found, list | tuple) else ()):
        if isinstance(each, str):
            yield (*path, number), each


def _codes_named(value: Any) -> Iterator[tuple[Path, str, Part]]:
    """Every code the settings name: its path, its name, and which part of the entry it is."""
    ignores = mapping_or_empty(get(value, ("per-file-ignores",)))
    for path in (("select",), ("ignore",), *(("per-file-ignores", glob) for glob in ignores)):
        yield from ((inner, code, "value") for inner, code in _texts_in_list(value, path))
    for code in mapping_or_empty(get(value, ("severity",))):
        yield ("severity", code), code, "key"


def codes_are_known(value: Any, session: Session) -> Iterator[Fact]:
    """Report codes that do not exist: a misspelt one would silence nothing."""
    named = list(_codes_named(value))
    known = _codes_in_reach(value) if named else set()
    for path, code, part in named:
        if code not in known:
            guess = session.guesses.nearest(code, known)
            yield core_codes.UNKNOWN_CODE.at(path, part=part, code=Shown(code), nearest=guess)


def _codes_in_reach(value: Any) -> set[str]:
    """The codes of the built-in kinds and of those that the settings name."""
    known = set(all_codes())
    named = {name for _, name in _kinds_named(value)}
    for name in named.intersection(known_kinds()) if named else ():
        known |= {code.name for code in format_named(name).every_code()}
    return known


def _kinds_named(value: Any) -> Iterator[tuple[Path, str]]:
    for glob, name in mapping_or_empty(get(value, ("kinds",))).items():
        if isinstance(name, str):
            yield ("kinds", glob), name
    for name in mapping_or_empty(get(value, ("own-keys",))):
        yield ("own-keys", name), name


def kinds_are_known(value: Any, session: Session) -> Iterator[Fact]:
    """Report kinds that are neither built in nor offered by an installed package."""
    for path, name in _kinds_named(value):
        if name not in built_in_kinds() and name not in known_kinds():
            known = known_kinds()
            guess = session.guesses.nearest(name, known)
            part: Part = "key" if path[0] == "own-keys" else "value"
            yield core_codes.UNKNOWN_KIND.at(
                path, part=part, kind=Shown(name), nearest=guess, known=known
            )


def roots_are_inside(value: Any, session: Session) -> Iterator[Fact]:
    """Report roots outside the project: the settings come with the checked files."""
    system = session.files.system
    project = system.real(session.root)
    library = get(value, ("library",))
    named = [(("library",), library)] if isinstance(library, str) else []
    for path, root in (*_texts_in_list(value, ("roots",)), *named):
        real = system.real(os.path.join(project, root))
        # Where links lead counts, not how the path is spelt.
        if not is_below(real, project):
            yield core_codes.ROOT_OUTSIDE.at(path, root=Shown(root))
        elif not session.files.is_folder(real):
            yield core_codes.ROOT_MISSING.at(path, root=Shown(root))


def schemas_are_inside(value: Any, session: Session) -> Iterator[Fact]:
    """Report schemas that are not files of the project: nothing could be checked with them."""
    from equipage.loading.schema_models import POLICY, unread_reason  # few projects have schemas

    named = get(value, ("schemas",))
    for number, each in enumerate(named if isinstance(named, list | tuple) else ()):
        schema = get(each, ("schema",))
        if isinstance(schema, str):
            try:
                root = session.root
                session.files.for_next_load().refer(schema, (root,), (root,), POLICY)
            except FileProblem as problem:
                path, words = ("schemas", number, "schema"), unread_reason(problem)
                yield core_codes.SCHEMA_UNREAD.at(path, schema=Shown(schema), problem=words)


def settings_are_in_one_place(_value: Any, session: Session) -> Iterator[Fact]:
    """Report settings in two places: only those in `equipage.toml` are used."""
    is_own = session.files.sources()[0].name.endswith(OWN_FILE)
    if is_own and has_equipage_table(session.root, session.files.system):
        yield core_codes.SETTINGS_TWICE.at()


#: Not among the kinds people can name: settings are found by their place alone.
FORMAT = Format(
    name="project",
    title="project settings",
    model=ProjectSettings,
    reading=Reading(syntaxes={".toml": "toml"}, variables=False),
    shape=Shape(unknown="warning"),
    stages=(_select_section,),
    checks=(
        codes_are_known,
        kinds_are_known,
        roots_are_inside,
        schemas_are_inside,
        settings_are_in_one_place,
    ),
)
