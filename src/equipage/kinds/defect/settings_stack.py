"""The settings of an agent, merged from all layers, with the layer of every value known.

Low to high: the user's `config.toml`, the project's, the project's `config.local.toml`, the command line. Each
layer is checked alone, so that findings name its own file; then they are merged, and what must hold between them
is checked. Tables merge key by key and lists replace each other, except that hooks are appended and the base
prompt is taken as a whole.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.arguments import is_possible, text_given, wrong
from equipage.core.diagnostics import Change, Diagnostic, Fact, Label, LoadError, Remedy
from equipage.core.path import Path, parse_path
from equipage.core.source import Source, Span
from equipage.files.reading import display_name
from equipage.files.roots import Places, StrPath, find_places
from equipage.files.sandbox import FileProblem
from equipage.kinds import codes as shared_codes
from equipage.kinds.defect import settings_layers as hook_layers
from equipage.kinds.defect import settings_layers as trust
from equipage.kinds.defect.hooks import Layer
from equipage.kinds.defect.settings import KIND as ALONE
from equipage.kinds.defect.settings import LAYER, STACK, layer_by_path, without_infinities
from equipage.kinds.defect.settings_layers import Overrides, read_overrides
from equipage.kinds.defect.settings_model import Effective, Settings, effective
from equipage.kinds.mcp import STRICT
from equipage.kinds.mcp import strict as mcp
from equipage.loading.kind import Kind
from equipage.loading.model import build
from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import check_tree
from equipage.loading.request import Request
from equipage.loading.result import Explanation, Loaded
from equipage.loading.session import Run, Session, format_of
from equipage.loading.tree import (
    HOLE,
    Origin,
    Origins,
    Strategy,
    Tree,
    Via,
    get,
    graft,
    merge,
    remove_all,
)
from equipage.syntax.document import Document

CONFIG, LOCAL_CONFIG, MCP_JSON = "config.toml", "config.local.toml", ".mcp.json"


class SettingsLayer(msgspec.Struct, frozen=True):
    """One layer that is there: its name and its file, None for the command line."""

    name: Layer
    file: str | None


class SettingsFound(msgspec.Struct, frozen=True):
    """The layers that were found and what they come to. `outcome.config` is None if there are errors."""

    places: Places
    layers: tuple[SettingsLayer, ...]
    outcome: Outcome
    overrides: Overrides | None = None


class LoadedSettings(Loaded[Settings]):
    """Merged settings. `layers` are those that were there, lowest first."""

    layers: tuple[SettingsLayer, ...]

    def __init__(self, found: SettingsFound) -> None:
        outcome = found.outcome
        assert outcome.tree is not None
        super().__init__(
            outcome.config,
            "settings",
            outcome.diagnostics,
            outcome.tree,
            outcome.documents,
            outcome.sources,
        )
        self.__dict__["layers"] = found.layers

    @property
    def effective(self) -> Effective:
        """The provider, model and models to choose from that follow."""
        return effective(self.config)

    def layer(self, path: str | Path) -> Layer | None:
        """The layer that set the value at `path`, None for a default."""
        steps = self.steps(path)
        if get(self._tree.value, steps) is None:
            return None
        named = [via.how for via in self._tree.story(steps).via]
        return next((each.name for each in self.layers if f"{each.name} layer" in named), None)

    def explain(self, path: str | Path, *, show_env: bool = False) -> Explanation:
        """As for every load; a value of the command line has no place, which is said."""
        explanation = super().explain(path, show_env=show_env)
        if self.layer(path) != "command line":
            return explanation
        *lower, wins = explanation.settings
        given = msgspec.structs.replace(wins, span=None, how="given on the command line")
        return msgspec.structs.replace(explanation, settings=(*lower, given), through=())

    @property
    def base_prompt_file(self) -> str | None:
        """The file of the base prompt, absolute: it lies beside the `config.toml` that names it."""
        file = self.config.base_prompt.file
        if file is None:
            return None
        source = self._tree.story(("base_prompt", "file")).origin.document.source
        base = os.getcwd() if source.path is None else os.path.dirname(source.path)
        return os.path.join(base, file)


def load_settings(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    overrides: Iterable[str] = (),
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
) -> LoadedSettings:
    """The settings that hold in `cwd`: all layers merged, checked, immutable.

    `overrides` are settings of the command line, `"turn.max_llm_retries=5"`. With `local`, the user's layer is left
    out. `layers.find_places` says where the layers are looked for; a layer that is not there is no error.

    Raises `LoadError` with every error of every layer (with `strict`, warnings fail too).
    """
    places = find_places(cwd, local=local, xdg_config_home=xdg_config_home, home=home, env=env)
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        raise wrong("overrides", overrides, 'a list of settings such as "turn.max_llm_retries=5"')
    found = find_settings(places, [text_given("overrides", each) for each in overrides])
    failed = not found.outcome.ok or found.outcome.config is None
    if failed or (strict and any(each.severity == "warning" for each in found.outcome.diagnostics)):
        raise LoadError(found.outcome.diagnostics)
    return LoadedSettings(found)


def find_settings(
    places: Places, overrides: Iterable[str] = (), *, without: Container[Layer] = frozenset()
) -> SettingsFound:
    """The layers of settings but for those `without`, checked and merged. Never raises on bad files."""
    return _Stack(places, without).run(list(overrides))


class _Stack:
    """The layers of one load, laid over each other one by one."""

    def __init__(self, places: Places, without: Container[Layer]) -> None:
        self.places = places
        self.without = without
        self._run = Run()
        self.files = self._run.files
        self.session = self._session(STACK)
        self.layers: list[SettingsLayer] = []
        self.no_folders: set[str] = set()
        self.facts: list[Fact] = []
        self.layer_by_document: dict[int, Layer] = {}
        self.defaults = Source.of_text("<defaults>", "")
        self.tree = Tree(dict[str, Any](), Origins(Origin(Document(self.defaults, "toml", {}))))

    def run(self, overrides: list[str]) -> SettingsFound:
        for name in self.places.ignored:
            self.facts.append(
                Fact(
                    shared_codes.VARIABLE_IGNORED,
                    values={"name": name},
                    span=Span(self.defaults, 0, 0),
                )
            )
        user, project = self.places.user, self.places.project
        if user is not None:
            self.add_file("user", os.path.join(user, CONFIG))
        if project is not None:
            self.add_file("project", os.path.join(project, CONFIG))
            self.add_file("project-local", os.path.join(project, LOCAL_CONFIG))
        given = self.add_overrides(overrides) if overrides else None
        self.tree, found = hook_layers.settle(
            self.tree, lambda each: self.layer_by_document.get(id(each))
        )
        self.facts += found
        self.add_mcp_json()
        self.session.add(self.facts)
        outcome = check_tree(self.tree, self.session, self.defaults)
        return SettingsFound(self.places, tuple(self.layers), self.finished(outcome, given), given)

    # ----------------------------------------------------------------------------------------------- layers

    def add_file(self, layer: Layer, path: str) -> None:
        document = None if layer in self.without else self.read(path, STACK)
        if document is not None:
            self.layers.append(SettingsLayer(layer, path))
            self.lay_over(layer, document)

    def add_overrides(self, settings: list[str]) -> Overrides:
        overrides, facts = read_overrides(settings)
        self.facts += facts
        self.layers.append(SettingsLayer("command line", None))
        self.lay_over("command line", self.session.adopt(overrides.document))
        return overrides

    def lay_over(self, layer: Layer, document: Document) -> None:
        """Check a layer alone, say what it decides, and merge it."""
        self.layer_by_document[id(document)] = layer
        tree = Tree(document.value, Origins(Origin(document), (Via(f"{layer} layer"),)))
        if any(each.code == core_codes.NOT_FINITE for each in self.facts):
            tree = without_infinities(tree)
        tree = self.checked(tree, LAYER, layer)
        self.facts += trust.facts(layer, tree, self.tree, self.places.root)
        self.tree = merge(self.tree, tree, _strategy)

    def add_mcp_json(self) -> None:
        """The servers of the `.mcp.json` in the repository's root come last and lose to TOML."""
        servers: Tree | None = None
        document = (
            self.read(os.path.join(self.places.root, MCP_JSON), STRICT)
            if self.places.root
            else None
        )
        if document is not None:
            self.layer_by_document[id(document)] = "project"
            tree = Tree(document.value, Origins(Origin(document), (Via(MCP_JSON),)))
            servers, found = mcp.from_json(self.sound(tree, STRICT))
            self.facts += found
        names = frozenset(servers.value["mcp"]["servers"]) if servers is not None else frozenset()
        self.facts += mcp.enabled_servers_exist(self.tree, names)
        if servers is not None:
            self.tree, new, found = mcp.join(self.tree, servers)
            self.facts += [*found, *trust.server_facts(self.tree, new)]

    # ---------------------------------------------------------------------------------------------- checking

    def read(self, path: str, kind: Kind) -> Document | None:
        """The document of a file; None if it is not there, or with findings if it has no value."""
        try:
            source = self.files.read(path)
        except FileProblem as problem:
            self.facts += self.unread(path, problem)
            return None
        document, facts = self._session(kind).parse(source, format_of(kind, source.name))
        self.facts += facts
        return None if document is None else self.session.adopt(document)

    def unread(self, path: str, problem: FileProblem) -> Iterator[Fact]:
        """A file that is not there is fine; one that cannot be there, as its folder is none, is not."""
        code, values = problem.code, problem.values
        if code == core_codes.FILE_MISSING:
            folder = _nearest(path)
            if os.path.isdir(folder) or folder in self.no_folders:
                return
            self.no_folders.add(folder)
            code, values = (
                core_codes.FILE_UNREADABLE,
                {"file": display_name(folder), "reason": os.strerror(errno.ENOTDIR)},
            )
        empty = Source.of_text(str(values.get("file", path)), "")
        yield Fact(code, values=values, span=Span(empty, 0, 0))

    def checked(self, tree: Tree, kind: Kind, layer: Layer) -> Tree:
        """A layer without what is wrong with it, which is now told."""
        session = self._session(kind, layer)
        for stage in kind.stages:
            tree, found = stage(tree, session)
            self.facts += found
        tree = self.sound(tree, kind)
        for rule in kind.rules:
            self.facts += (_anchored(each, tree) for each in rule(tree.value, session))
        return tree

    def sound(self, tree: Tree, kind: Kind) -> Tree:
        """The tree with holes where it does not fit the model: the merged tree must not repeat a finding."""
        _, _, found = build(tree.value, kind.model, kind.shape)
        self.facts += [_anchored(kind.cautious(each), tree) for each in found]
        tree = remove_all(
            tree, (each.path for each in found if each.code == core_codes.UNKNOWN_FIELD)
        )
        return graft(
            tree,
            {
                each.path: _hole(tree, each.path)
                for each in found
                if each.code != core_codes.UNKNOWN_FIELD
            },
        )

    def _session(self, kind: Kind, layer: Layer | None = None) -> Session:
        cwd = self.places.cwd
        root = self.places.root or cwd
        request = Request(env={}, options={"layer": layer}, project=root, shared=True)
        return Session(kind, request, self._run, cwd, base=cwd, files=self.files)

    # ---------------------------------------------------------------------------------------------- results

    def finished(self, outcome: Outcome, overrides: Overrides | None) -> Outcome:
        """The outcome without our own pretended sources: what has no file has no place."""
        diagnostics = tuple(_without_place(each, overrides) for each in outcome.diagnostics)
        sources = tuple(source for source in outcome.sources if source.path is not None)
        return msgspec.structs.replace(outcome, diagnostics=diagnostics, sources=sources)


def _strategy(path: Path, _base: Any, over: Any) -> Strategy:
    """Hooks are appended; the base prompt is that of the highest layer that has one."""
    if len(path) == 2 and path[0] == "hooks":
        return "append"
    if path == ("base_prompt",) and isinstance(over, dict) and over:
        return "replace"
    return "merge"


def _nearest(path: str) -> str:
    """The nearest folder above a path that is there, whatever it is."""
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _hole(tree: Tree, path: Path) -> Tree:
    return Tree(HOLE, tree.at(path).origins)


def _anchored(each: Fact, tree: Tree) -> Fact:
    """A fact about one layer that stays true when the layer is merged: its places are those of the document."""
    if each.span is not None or each.origin is not None:
        return each
    also = tuple(
        also
        if also.span or also.origin
        else msgspec.structs.replace(also, origin=tree.story(also.path).origin)
        for also in each.also
    )
    remedy = each.remedy and Remedy(
        each.remedy.message,
        tuple(_anchored_change(change, tree) for change in each.remedy.changes),
        each.remedy.safe,
    )
    return msgspec.structs.replace(
        each, origin=tree.story(each.path).origin, also=also, remedy=remedy
    )


def _anchored_change(change: Change, tree: Tree) -> Change:
    return msgspec.structs.replace(change, origin=tree.story(change.path).origin)


def _without_place(each: Diagnostic, overrides: Overrides | None) -> Diagnostic:
    """A finding about the command line has no file; the setting it came from is told instead."""
    if each.span is None or each.span.source.path is not None:
        return each
    name = each.span.source.name
    if overrides is None or each.span.source is not overrides.document.source:
        return msgspec.structs.replace(each, span=None, file=None if name.startswith("<") else name)
    text = overrides.text_for(parse_path(each.path)) if each.path else None
    label = () if text is None else (Label(None, f"from the command line: {text}"),)
    return msgspec.structs.replace(
        each, span=None, file=None, fix=None, related=(*label, *each.related)
    )


__all__ = ["LoadedSettings", "SettingsFound", "SettingsLayer", "find_settings", "load_settings"]


# --- stacking ----------------------------------------------------------------------------------
# The kind `settings` as it is registered: a file, and the layers it is merged with.
#
# Merging stands above the kinds, since it runs whole loads; so does what the kind tells with its help.


def stack(path: str, request: Request) -> Outcome | None:
    """All layers merged, if the file is one of them."""
    real = os.path.realpath(path)
    cwd = "." if layer_by_path(real) == "user" else os.path.dirname(real)
    local = bool(request.options.get("local"))
    found = find_settings(find_places(cwd, local=local, env=request.env), _overrides(request))
    files = [each.file for each in found.layers if each.file is not None]
    return found.outcome if any(os.path.realpath(each) == real for each in files) else None


def stacks(paths: Sequence[str], request: Request) -> Iterator[Outcome]:
    """The settings of each project that one of the files belongs to, merged.

    The user's layer and the machine's own `config.local.toml` take part only if they are among the files: what is
    found in a project must not depend on whose machine it is checked on. The user's layer without any project is
    merged alone.
    """
    paths = [path for path in paths if is_possible(path)]
    asked = {os.path.realpath(path) for path in paths}
    mine = find_places(local=bool(request.options.get("local")), env=request.env).user
    user = (
        mine
        if mine is not None and os.path.realpath(os.path.join(mine, "config.toml")) in asked
        else None
    )
    projects = {places.root: places for path in paths if (places := _project_of(path)) is not None}
    if user is not None and not projects:
        projects[None] = Places(user, user, None)
    for places in projects.values():
        machine = os.path.join(places.project or "", LOCAL_CONFIG)
        without = (
            frozenset[Layer]()
            if os.path.realpath(machine) in asked
            else frozenset[Layer]({"project-local"})
        )
        merged = msgspec.structs.replace(places, user=user)
        yield find_settings(merged, _overrides(request), without=without).outcome


def _overrides(request: Request) -> list[str]:
    given = request.options.get("config", ())
    return list(given) if isinstance(given, list | tuple) else []


def _project_of(path: str) -> Places | None:
    """The project whose layer a file is; None if it is none, as below a folder that is no root of a repository."""
    absolute = os.path.abspath(path)
    if layer_by_path(absolute) not in ("project", "project-local"):
        return None
    folder = os.path.dirname(absolute)
    places = find_places(os.path.dirname(folder), local=True)
    is_layer = places.project is not None and os.path.realpath(places.project) == os.path.realpath(
        folder
    )
    return places if is_layer else None


KIND = msgspec.structs.replace(
    ALONE, layering=msgspec.structs.replace(ALONE.layering, stack=stack, stacks=stacks)
)
