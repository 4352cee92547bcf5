"""The settings of a project: `equipage.toml`, or `[tool.equipage]` in `pyproject.toml`.

```toml
conventions = false                        # leave the files of other agent tools alone
ignore = ["env-missing"]                   # or select = […]: these codes and no others
roots = ["shared"]                         # folders of the project that references may lead into
kinds = { "servers/*.yaml" = "server" }    # a glob decides before anything else does
severity = { unknown-field = "error" }
per-file-ignores = { "tests/**" = ["unknown-field"] }
```

Settings are configuration, so they are loaded and checked like any other: every slip has a place. They belong
to the project root and never reach beyond it: roots stay inside, and a kind is one of ours or one that somebody
installed. Nothing here can name code to import.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic, Fact, Severity, Shown
from equipage.core.path import ROOT, Path
from equipage.files.reading import Files, display_name
from equipage.files.walking import glob_expression
from equipage.loading.kind import Kind, Reading
from equipage.loading.model import Shape
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import all_codes, kind_named, known_names, names
from equipage.loading.request import Request
from equipage.loading.session import Session, project_root, speaks_of_equipage
from equipage.loading.tree import Tree, get

OWN_FILE, SHARED_FILE = "equipage.toml", "pyproject.toml"
_SECTION: Path = ("tool", "equipage")


class ProjectSettings(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename=lambda name: name.replace("_", "-"),
):
    """What a project may say about how it is checked."""

    TITLE: ClassVar[str] = "the project settings"

    kinds: dict[str, str] = {}  #: glob → kind
    conventions: bool = True  #: recognise the files of other agent tools by their place
    select: tuple[str, ...] | None = None  #: report these codes and no others
    ignore: tuple[str, ...] = ()  #: do not report these codes
    severity: dict[str, Severity] = {}  #: code → severity
    roots: tuple[str, ...] = ()  #: folders of the project that references may lead into
    per_file_ignores: dict[str, tuple[str, ...]] = {}  #: glob → codes not reported there


class Selection(msgspec.Struct, frozen=True):
    """Which codes the caller wants to see: `select` None means all."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()

    def takes(self, code: str) -> bool:
        """A bug in equipage is told whatever was asked for."""
        if code == core_codes.INTERNAL_ERROR:
            return True
        return code not in self.ignore and (self.select is None or code in self.select)


EVERYTHING = Selection()


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
        self.file = file  #: where they stand
        self._kinds = [(_glob(glob), kind) for glob, kind in settings.kinds.items()]
        self._ignores = [
            (_glob(glob), frozenset(codes)) for glob, codes in settings.per_file_ignores.items()
        ]

    def kind_of(self, path: str) -> str | None:
        """The kind the settings give a file, by its absolute path."""
        if not self._kinds:
            return None
        relative = self._relative(path)
        return next((kind for glob, kind in self._kinds if glob.fullmatch(relative)), None)

    def applied(self, request: Request) -> Request:
        """A request with the reference roots of the project beside those of the caller."""
        if not self.settings.roots:
            return request
        roots = (*request.roots, *(os.path.join(self.root, root) for root in self.settings.roots))
        return msgspec.structs.replace(request, roots=roots)

    def judged(
        self, diagnostics: Iterable[Diagnostic], selection: Selection = EVERYTHING
    ) -> list[Diagnostic]:
        """The findings that are to be reported, with the severities this project gives them."""
        settings = self.settings
        select = (
            frozenset(settings.select)
            if selection.select is None and settings.select is not None
            else selection.select
        )
        wanted = Selection(select, selection.ignore | frozenset(settings.ignore))
        return [
            self._with_severity(each)
            for each in diagnostics
            if wanted.takes(each.code) and not self._ignored(each)
        ]

    def _with_severity(self, each: Diagnostic) -> Diagnostic:
        severity = self.settings.severity.get(each.code)
        return each if severity is None else msgspec.structs.replace(each, severity=severity)

    def _ignored(self, each: Diagnostic) -> bool:
        path = each.span.source.path if each.span is not None else None
        if not self._ignores or each.code == core_codes.INTERNAL_ERROR:
            return False
        relative = self._relative(path or os.path.abspath(each.name or ""))
        return any(each.code in codes and glob.fullmatch(relative) for glob, codes in self._ignores)

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


class Projects:
    """The projects of the files of one run; each one's settings are read once."""

    def __init__(self, files: Files | None = None) -> None:
        self.files = files or Files()
        self._by_folder: dict[str, Project] = {}
        self._by_root: dict[str, Project] = {}

    def of(self, path: str) -> Project:
        """The project a file belongs to."""
        folder = os.path.dirname(os.path.join(self.files.cwd, path))
        if folder not in self._by_folder:
            root = project_root(os.path.join(folder, "file"), self.files.cwd, self.files)
            if root not in self._by_root:
                self._by_root[root] = _project(root, self.files)
            self._by_folder[folder] = self._by_root[root]
        return self._by_folder[folder]

    def all(self) -> tuple[Project, ...]:
        """Every project met so far."""
        return tuple(self._by_root.values())


def settings_files(path: str, cwd: str) -> Iterator[str]:
    """Every file, existing or not, that could hold settings for a path."""
    folder, root = os.path.dirname(os.path.realpath(path)), project_root(path, cwd)
    while True:
        yield os.path.join(folder, OWN_FILE)
        yield os.path.join(folder, SHARED_FILE)
        if folder in (root, os.path.dirname(folder)):
            return
        folder = os.path.dirname(folder)


def _project(root: str, files: Files) -> Project:
    own = files.exists(os.path.join(root, OWN_FILE)) and not files.is_folder(
        os.path.join(root, OWN_FILE)
    )
    if not own and not speaks_of_equipage(root, files):
        return Project(root, ProjectSettings())
    file = os.path.join(root, OWN_FILE if own else SHARED_FILE)
    outcome = load_path(file, KIND, Request(env={}, project=root), files=files.again())
    settings = outcome.config if outcome.config is not None else ProjectSettings()
    return Project(root, settings, outcome.diagnostics, display_name(file, files.cwd))


def _glob(glob: str) -> re.Pattern[str]:
    """A glob over a path from the project root; without a `/` in it, it means a name in any folder."""
    body = glob_expression(glob.lstrip("/"))
    return re.compile(body if "/" in glob else f"(?:.*/)?{body}")


# --------------------------------------------------------------------------------------- the kind of settings


def _section(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The part of a `pyproject.toml` that is ours. Paths shown to people keep their beginning."""
    if os.path.basename(tree.story(ROOT).origin.document.source.name) != SHARED_FILE:
        return tree, []
    if get(tree.value, _SECTION) is None:
        return Tree({}, tree.origins), []
    part = tree.at(_SECTION)
    return Tree(part.value, part.origins, ((_SECTION, ROOT),)), []


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text in the list at `path`."""
    found = get(value, path)
    for number, each in enumerate(found if isinstance(found, list | tuple) else ()):
        if isinstance(each, str):
            yield (*path, number), each


def _codes_named(value: Any) -> Iterator[tuple[Path, str, bool]]:
    """Every code the settings name: its path, its name, and whether it is a key."""
    for name in ("select", "ignore"):
        yield from ((path, code, False) for path, code in _texts(value, (name,)))
    severities = get(value, ("severity",))
    yield from (
        (("severity", code), code, True)
        for code in (severities if isinstance(severities, dict) else ())
    )
    ignores = get(value, ("per-file-ignores",))
    for glob in ignores if isinstance(ignores, dict) else ():
        yield from ((path, code, False) for path, code in _texts(value, ("per-file-ignores", glob)))


def codes_are_known(value: Any, session: Session) -> Iterator[Fact]:
    """Whoever misspells a code would silence nothing and never learn it."""
    named = list(_codes_named(value))
    if not named:
        return
    known = _codes_in_reach(value)
    for path, code, is_key in named:
        if code not in known:
            guess = session.guesses.nearest(code, known)
            values: dict[str, object] = {"code": Shown(code), "nearest": guess}
            yield Fact(core_codes.UNKNOWN_CODE, path, values, "key" if is_key else "value")


def _codes_in_reach(value: Any) -> set[str]:
    known = set(all_codes())
    named = {name for _, name in _kinds_named(value)}
    for name in (
        named.intersection(known_names()) if named else ()
    ):  # the others are reported by `kinds_are_known`
        known |= {code.name for code in kind_named(name).codes}
    return known


def _kinds_named(value: Any) -> Iterator[tuple[Path, str]]:
    kinds = get(value, ("kinds",))
    for glob, name in kinds.items() if isinstance(kinds, dict) else ():
        if isinstance(name, str):
            yield ("kinds", glob), name


def kinds_are_known(value: Any, session: Session) -> Iterator[Fact]:
    """A kind is built in, or was installed by somebody."""
    for path, name in _kinds_named(value):
        if name not in names() and name not in known_names():
            guess = session.guesses.nearest(name, known_names())
            yield core_codes.UNKNOWN_KIND.at(
                path, kind=Shown(name), nearest=guess, known=known_names()
            )


def roots_are_inside(value: Any, session: Session) -> Iterator[Fact]:
    """A project may not open folders beyond itself: its settings come with the files that are checked."""
    project = os.path.realpath(session.root)
    for path, root in _texts(value, ("roots",)):
        real = os.path.realpath(os.path.join(project, root))
        if real != project and not real.startswith(project.rstrip(os.sep) + os.sep):
            yield core_codes.ROOT_OUTSIDE.at(path, root=Shown(root))
        elif not session.files.is_folder(real):
            yield core_codes.ROOT_MISSING.at(path, root=Shown(root))


def settings_stand_in_one_place(_value: Any, session: Session) -> Iterator[Fact]:
    """Of two places the first counts; nobody should have to guess that."""
    if session.files.sources()[0].name.endswith(OWN_FILE) and speaks_of_equipage(
        session.root, session.files
    ):
        yield core_codes.SETTINGS_TWICE.at()


#: Not among the kinds people can name: settings are found by their place alone.
KIND = Kind(
    name="project",
    title="project settings",
    model=ProjectSettings,
    reading=Reading(formats={".toml": "toml"}),
    shape=Shape(unknown="warning"),
    stages=(_section,),
    rules=(codes_are_known, kinds_are_known, roots_are_inside, settings_stand_in_one_place),
)
