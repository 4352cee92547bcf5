"""The settings of an agent, merged from all layers, with the layer of every value known.

Low to high: the user's `config.toml`, the project's, the project's `config.local.toml`, the command
line. Each layer is checked alone, so that findings name its own file; then the layers are merged,
and the rules for all of them together run. Tables merge key by key and lists replace each other,
except that hooks are appended and the base prompt is taken as a whole.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.codes import VARIABLE_IGNORED
from equipage.core.diagnostics import Label, LoadError
from equipage.core.text import lazy_regex
from equipage.files import (
    folder_argument,
    is_below,
    is_possible_path,
    text_argument,
    wrong_argument,
)
from equipage.formats.defect import codes, hooks, mcp
from equipage.formats.defect.discovery import LayerFolders, StrPath, find_layer_folders
from equipage.formats.defect.hooks import PROJECT_LAYERS, Layer
from equipage.formats.defect.mcp import STRICT_MCP_JSON
from equipage.formats.defect.settings import (
    LAYER_FORMAT,
    LAYER_STAGES,
    MERGED_FORMAT,
    SINGLE_FILE_FORMAT,
    Effective,
    Settings,
    derive_effective,
    layer_by_path,
    replace_infinities_with_holes,
)
from equipage.loading.pipeline import build, check_tree
from equipage.loading.result import Explanation, Loaded
from equipage.loading.session import syntax_of
from equipage.loading.tree import Strategy, punch_holes, remove_all
from equipage.plugin import (
    Also,
    Change,
    Code,
    Diagnostic,
    Document,
    Fact,
    FileProblem,
    Format,
    Origin,
    Origins,
    Outcome,
    Path,
    Request,
    Session,
    Shown,
    Source,
    Span,
    System,
    Tree,
    Via,
    get,
    merge,
    parse_path,
)
from equipage.syntax.document import parse

T = TypeVar("T", Fact, Also, Change)
CONFIG, LOCAL_CONFIG, MCP_JSON = "config.toml", "config.local.toml", ".mcp.json"


class SettingsLayer(msgspec.Struct, frozen=True):
    """One layer that exists: its name and its file, None for the command line.

    >>> equipage.load_settings(".", local=True).layers[0].name
    'project'
    """

    name: Layer
    """Whose it is: `user`, `project`, `project-local` or `command line`."""
    file: FilePath | None
    """Its file, absolute; None for the command line."""


class SettingsFound(msgspec.Struct, frozen=True):
    """The layers that exist and their merge. `outcome.config` is None if there are errors."""

    layers: tuple[SettingsLayer, ...]
    outcome: Outcome


class LoadedSettings(Loaded[Settings]):
    """Merged settings. `layers` are the layers that exist, lowest first.

    >>> settings = equipage.load_settings(".", local=True)
    >>> settings.config.default.model, [layer.name for layer in settings.layers]
    ('echo', ['project'])
    """

    __slots__ = ("layers",)

    layers: tuple[SettingsLayer, ...]
    """The layers that exist, lowest first."""

    def __init__(self, found: SettingsFound) -> None:
        super().__init__(found.outcome)
        self._fill(layers=found.layers)

    @property
    def effective(self) -> Effective:
        """The provider, the model and the choice of models that follow."""
        return derive_effective(self.config)

    def layer(self, path: str | Path) -> Layer | None:
        """The layer that set the value at `path`, None for a default."""
        steps = self._resolve_path(path)
        if get(self._tree.value, steps) is None:
            return None
        # The merge noted for every value through which layer it came.
        named = [via.how for via in self._tree.provenance(steps).via]
        return next((each.name for each in self.layers if f"{each.name} layer" in named), None)

    def explain(self, path: str | Path, *, show_env: bool = False) -> Explanation:
        """Explain a value. One from the command line has no place in a file."""
        explanation = super().explain(path, show_env=show_env)
        if self.layer(path) != "command line":
            return explanation
        # The document of the command line is our own, so its places mean nothing to people.
        *lower, wins = explanation.settings
        given = replace(wins, span=None, how="given on the command line")
        return replace(explanation, settings=(*lower, given), through=())

    @property
    def base_prompt_file(self) -> FilePath | None:
        """The base prompt, absolute: a file beside the `config.toml` that names it."""
        file = self.config.base_prompt.file
        if file is None:
            return None
        source = self._tree.provenance(("base_prompt", "file")).origin.document.source
        given = source.filename is None  # on the command line
        base = folder_argument("base", ".") if given else os.path.dirname(source.filename or "")
        return FilePath(base, file)


def load_settings(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    overrides: Iterable[str] = (),
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    home_dir: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    strict: bool = False,
) -> LoadedSettings:
    """The settings that hold in `cwd`: all layers merged, checked, immutable.

    `overrides` are settings of the command line, `"turn.max_llm_retries=5"`. With `local`, the
    user's layer is left out. `discovery.find_layer_folders` says where the layers are; a missing
    layer is not an error.

    Raises `LoadError` with every error of every layer (with `strict`, also if there are warnings).

    >>> settings = equipage.load_settings(".", local=True, overrides=["turn.max_llm_retries=5"])
    >>> settings.config.turn.max_llm_retries
    5
    """
    places = find_layer_folders(
        cwd, local=local, xdg_config_home=xdg_config_home, home=home, home_dir=home_dir, env=env
    )
    # A text is a list of letters to Python; taken as one it would give many odd findings.
    if isinstance(overrides, str) or not isinstance(overrides, Iterable):
        raise wrong_argument(
            "overrides", overrides, 'a list of settings such as "turn.max_llm_retries=5"'
        )
    found = find_settings(places, [text_argument("overrides", each) for each in overrides])
    failed = not found.outcome.ok or found.outcome.config is None
    if failed or (strict and any(each.severity == "warning" for each in found.outcome.diagnostics)):
        raise LoadError(found.outcome.diagnostics)
    return LoadedSettings(found)


def find_settings(
    places: LayerFolders, overrides: Iterable[str] = (), *, without: Container[Layer] = frozenset()
) -> SettingsFound:
    """All layers of settings except those in `without`, checked and merged.

    Never raises on bad files.
    """
    return _LayerMerge(places).run(list(overrides), without)


class _LayerMerge:
    """The layers of one load, merged one by one, lowest first."""

    def __init__(self, places: LayerFolders) -> None:
        self.places, self.system = places, places.system
        project = places.root or places.cwd
        self.request = Request(env={}, system=places.system, project=project, shared=True)
        self.loads = self.request.new_run()
        self.files = self.loads.files
        self.session = self.session_for(MERGED_FORMAT)
        self.layers: list[SettingsLayer] = []
        # By the identity of the document: two layers may have the same text.
        self.layer_by_document: dict[int, Layer] = {}
        self.not_folders: set[str] = set()
        self.facts: list[Fact] = []
        # The lowest layer: a document without content, which every default comes from.
        self.defaults = Source.of_text("<defaults>", "")
        self.tree = Tree(dict[str, Any](), Origins(Origin(Document(self.defaults, "toml", {}))))

    def run(self, overrides: list[str], without: Container[Layer]) -> SettingsFound:
        start = Span(self.defaults, 0, 0)
        self.facts += [VARIABLE_IGNORED.at(span=start, name=name) for name in self.places.ignored]
        user, project = self.places.user, self.places.project
        files: list[tuple[Layer, str | None, str]] = [
            ("user", user, CONFIG),
            ("project", project, CONFIG),
            ("project-local", project, LOCAL_CONFIG),
        ]
        for layer, folder, name in files:
            if folder is not None and layer not in without:
                file = os.path.join(folder, name)
                document = self.read(file, MERGED_FORMAT)
                if document is not None:
                    self.add_layer(SettingsLayer(layer, FilePath(file)), document)
        given: Overrides | None = None
        if overrides:
            given = Overrides(overrides)
            self.facts += given.facts
            self.add_layer(SettingsLayer("command line", None), self.session.adopt(given.document))
        # After all layers: a layer may disable the hooks of any other, also of a higher one.
        self.tree, found = hooks.drop_repeated_and_disabled(
            self.tree, lambda document: self.layer_by_document.get(id(document))
        )
        self.facts += found
        self.add_mcp_json()
        self.facts += mcp.servers_are_complete(self.tree, self.layer_rank)
        self.session.add(self.facts)
        outcome = check_tree(self.tree, self.session, self.defaults)
        return SettingsFound(tuple(self.layers), _drop_internal_sources(outcome, given))

    def add_layer(self, layer: SettingsLayer, document: Document) -> None:
        """Check a layer alone, and merge it over those below."""
        self.layers.append(layer)
        self.layer_by_document[id(document)] = layer.name
        tree = Tree(document.value, Origins(Origin(document), (Via(f"{layer.name} layer"),)))
        # Numbers that are not finite have a finding; the model must not report their type, too.
        if any(each.code == core_codes.NOT_FINITE for each in self.facts):
            tree = replace_infinities_with_holes(tree)
        session = self.session_for(LAYER_FORMAT, layer.name)
        for stage in LAYER_STAGES:
            tree, found = stage(tree, session)
            self.facts += found
        # Before the rules: they need not look at what the model has refused.
        tree = self.drop_misfits(tree, LAYER_FORMAT)
        for rule in LAYER_FORMAT.checks:
            self.facts += (_anchor_fact(each, tree) for each in rule(tree.value, session))
        self.tree = merge(self.tree, tree, _merge_strategy)

    def layer_rank(self, origin: Origin) -> int:
        """The rank of the layer of a value among all layers; higher layers win."""
        document = id(origin.document)
        return next((n for n, each in enumerate(self.layer_by_document) if each == document), -1)

    def add_mcp_json(self) -> None:
        """Add the servers of the `.mcp.json` in the repository's root; those in TOML win."""
        root = self.places.root
        document = (
            None if root is None else self.read(os.path.join(root, MCP_JSON), STRICT_MCP_JSON)
        )
        if document is None:
            self.facts += mcp.enabled_servers_exist(self.tree, frozenset())
            return
        self.layer_by_document[id(document)] = "project"
        tree = Tree(document.value, Origins(Origin(document), (Via(MCP_JSON),)))
        servers, found = mcp.from_json(self.drop_misfits(tree, STRICT_MCP_JSON))
        names = frozenset(servers.value["mcp"]["servers"])
        self.facts += [*found, *mcp.enabled_servers_exist(self.tree, names)]
        self.tree, found = mcp.merge_json_servers(self.tree, servers)
        self.facts += found

    def read(self, path: str, kind: Format) -> Document | None:
        """The document of a file; None if it does not exist or has no value."""
        try:
            source = self.files.read(path)
            root = self.places.root
            if root is not None and is_below(path, root) and source.filename is not None:
                # A link may take a file of the project from anywhere.
                source.outside = not self.files.is_within(source.filename, root)
        except FileProblem as problem:
            self.facts += self.report_unread(path, problem)
            return None
        document, facts = self.session_for(kind).parse(source, syntax_of(kind, source.name))
        self.facts += facts
        return None if document is None else self.session.adopt(document)

    def report_unread(self, path: str, problem: FileProblem) -> Iterator[Fact]:
        """A missing file is fine, unless something that is not a folder is in the way."""
        code, values = problem.code, problem.values
        if code == core_codes.FILE_MISSING:
            folder = os.path.dirname(path)
            # The nearest thing that exists decides: a file there means that no layer can be.
            while not self.system.exists(folder) and folder != os.path.dirname(folder):
                folder = os.path.dirname(folder)
            if self.system.is_folder(folder) or folder in self.not_folders:
                return
            self.not_folders.add(folder)
            code = core_codes.FILE_UNREADABLE
            values = {"file": self.system.name_of(folder), "reason": os.strerror(errno.ENOTDIR)}
        empty = Source.of_text(str(values.get("file", path)), "")
        yield Fact(code, values=values, span=Span(empty, 0, 0))

    def drop_misfits(self, tree: Tree, kind: Format) -> Tree:
        """The tree with holes where it does not fit the model, so that no finding comes twice."""
        session = self.session_for(kind)
        build(tree, session)
        found = session.facts
        self.facts += [_anchor_fact(each, tree) for each in found]
        # Unknown keys go, while what does not fit leaves a hole, which later rules respect.
        unknown = [each.path for each in found if each.code == core_codes.UNKNOWN_FIELD]
        rest = [each.path for each in found if each.code != core_codes.UNKNOWN_FIELD]
        return punch_holes(remove_all(tree, unknown), rest)

    def session_for(self, kind: Format, layer: Layer | None = None) -> Session:
        cwd = self.places.cwd
        options = {"layer": layer}
        request = replace(self.request, options=options)
        return Session(kind, request, self.loads, cwd, base=cwd, files=self.files)


def _merge_strategy(path: Path, _base: Any, over: Any) -> Strategy:
    """Hooks are appended; the highest layer that has a base prompt supplies all of it."""
    if len(path) == 2 and path[0] == "hooks":
        return "append"
    if path == ("base_prompt",) and isinstance(over, dict) and over:
        return "replace"
    return "merge"


def _anchor_fact(fact: Fact, tree: Tree) -> Fact:
    """Tie a fact about one layer to places in its document, so that it survives the merge."""
    if fact.span is not None or fact.origin is not None:
        return fact
    also = tuple(
        each if each.span or each.origin else _set_origin(each, tree) for each in fact.also
    )
    remedy = fact.remedy
    if remedy is not None:
        changes = tuple(_set_origin(change, tree) for change in remedy.changes)
        remedy = replace(remedy, changes=changes)
    return replace(_set_origin(fact, tree), also=also, remedy=remedy)


def _set_origin(part: T, tree: Tree) -> T:
    return replace(part, origin=tree.provenance(part.path).origin)


def _drop_internal_sources(outcome: Outcome, overrides: Overrides | None) -> Outcome:
    """The outcome without our own sources: neither defaults nor the command line are files."""
    diagnostics = tuple(_drop_internal_place(each, overrides) for each in outcome.diagnostics)
    sources = tuple(source for source in outcome.sources if source.filename is not None)
    return replace(outcome, diagnostics=diagnostics, sources=sources)


def _drop_internal_place(each: Diagnostic, overrides: Overrides | None) -> Diagnostic:
    """A finding about the command line names the setting it came from instead of a place."""
    if each.span is None or each.span.source.filename is not None:
        return each
    name = each.span.source.name
    # A name in angle brackets is our own, such as that of the defaults.
    if overrides is None or each.span.source is not overrides.document.source:
        return replace(each, span=None, file=None if name.startswith("<") else name)
    text = overrides.text_for(parse_path(each.path)) if each.path else None
    label = () if text is None else (Label(None, f"from the command line: {text}"),)
    return replace(each, span=None, file=None, fix=None, related=(*label, *each.related))


# The layer of the command line: `KEY=VALUE`. The value is TOML; what is not TOML is text. Dots in
# the key lead into tables, quotes around a part of it keep the dots there. Later settings win.

#: A part of a dotted key: in double quotes with escapes, in single quotes without, or bare.
_KEY_PART = lazy_regex(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\'(?P<literal>[^\']*)\'|(?P<bare>[^.]*)')
#: Text that was probably meant as something else, and what to write for that.
_SUSPECT_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[.*\]", re.DOTALL), 'put quotes around each text: `["a", "b"]`'),
    (re.compile(r"\[.*", re.DOTALL), 'close the list: `["a", "b"]`'),
    (re.compile(r"\{.*", re.DOTALL), 'write a table as `{ key = "value" }`'),
    (re.compile(r"'.*", re.DOTALL), 'close the quotes; text with a `\'` in it takes `"…"`'),
    (re.compile(r'".*', re.DOTALL), 'close the quotes; inside `"…"`, write `\\"` for a quote'),
    (re.compile(r"(?i:true|yes|on)"), "write `true`"),
    (re.compile(r"(?i:false|no|off)"), "write `false`"),
    (re.compile(r"(?i:null|none|nil)"), "a setting cannot be unset; leave it out"),
)


class Overrides:
    """The settings of a command line, read one after the other into one document."""

    def __init__(self, settings: Sequence[str]) -> None:
        self.source = Source.of_text("--config", "\n".join(settings))
        self.value: dict[str, Any] = {}
        self.document = Document(self.source, "text", self.value)
        self.written: list[tuple[Path, str]] = []  # the path that each setting sets, and its text
        self.facts: list[Fact] = []
        for setting in settings:
            self.read(setting)

    def text_for(self, path: Path) -> str | None:
        """The setting that the value at `path` came from; the last one wins."""
        found = None
        for key, text in self.written:
            if key == path[: len(key)] or path == key[: len(path)]:
                found = text
        return found

    def report(self, code: Code, path: Path = (), **values: object) -> None:
        self.facts.append(Fact(code, path, values, span=Span(self.source, 0, 0)))

    def read(self, setting: str) -> None:
        try:
            setting.encode()
        except UnicodeEncodeError:  # an argument may hold bytes that are not UTF-8
            readable = setting.encode(errors="backslashreplace").decode()
            self.report(codes.OVERRIDE_NOT_TEXT, found=Shown(readable))
            return
        key, equals, text = setting.partition("=")
        key = key.strip()
        path = _split_key(key)
        if not equals or not key or path is None:
            self.report(codes.OVERRIDE_MALFORMED, found=Shown(setting))
        elif not all(path):
            self.report(codes.OVERRIDE_KEY_EMPTY, key=Shown(key))
        else:
            # Parsed even if it is not used: a mistake in the value is worth reporting.
            value = self.parse(text.strip(), path)
            if path[0] == "hooks":
                self.report(codes.OVERRIDE_HOOKS, path, key=Shown(".".join(path)))
                return
            self.set(path, value)
            self.written.append((path, setting))

    def parse(self, text: str, path: tuple[str, ...]) -> Any:
        """The value that a text is in TOML, else the text itself."""
        value, facts = _read_toml(text)
        # A line break could smuggle in assignments to other keys; then it is not a single value.
        if value.keys() == {"x"}:
            for each in facts:
                self.report(each.code, path, **{**each.values, "found": Shown(text)})
            return value["x"]
        hint = next((hint for pattern, hint in _SUSPECT_TEXTS if pattern.fullmatch(text)), None)
        if hint is not None:
            key = Shown(".".join(path))
            self.report(codes.OVERRIDE_TAKEN_AS_TEXT, path, key=key, found=Shown(text), hint=hint)
        return text

    def set(self, path: tuple[str, ...], value: Any) -> None:
        """Put a value into nested tables, replacing whatever is in the way."""
        table = self.value
        for step in path[:-1]:
            if not isinstance(table.get(step), dict):
                table[step] = {}
            table = table[step]
        table[path[-1]] = value


def _read_toml(text: str) -> tuple[dict[str, Any], list[Fact]]:
    """The table `x = …` with a text as its value, empty if that is not TOML; and what is odd."""
    document, facts = parse(Source.of_text("<override>", f"x = {text}"), "toml")
    return ({}, []) if document is None else (document.value, facts)


def _split_key(key: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, some of them perhaps empty; None if it is malformed."""
    parts: list[str] = []
    position = 0
    # Part, dot, part, dot …: a key that ends with a dot has an empty last part.
    while True:
        match = _KEY_PART.match(key, position)
        assert match is not None  # a bare part may be empty
        part = match["literal"] or match["bare"] or ""
        if match["quoted"] is not None:
            quoted, _ = _read_toml(match.group())
            if not quoted:
                return None  # an escape that TOML does not know
            part = str(quoted["x"])
        parts.append(part)
        if match.end() == len(key):
            return tuple(parts)
        if key[match.end()] != ".":
            return None
        position = match.end() + 1


# The kind `settings` as it is registered: a file, and the layers it is merged with.


def merge_layers_of_file(path: str, request: Request) -> Outcome | None:
    """All layers merged, if the file at `path` is one of them."""
    system = request.system
    real = system.real(path)
    # The user's layer belongs to no project: it is merged with the one we are in.
    cwd = system.cwd if layer_by_path(real) == "user" else os.path.dirname(real)
    local = bool(request.options.get("local"))
    places = find_layer_folders(cwd, local=local, env=request.env, system=system)
    found = find_settings(places, _overrides(request))
    is_layer = any(each.file and system.real(str(each.file)) == real for each in found.layers)
    return found.outcome if is_layer else None


def merge_layers_of_projects(paths: Sequence[str], request: Request) -> Iterator[Outcome]:
    """The settings of each project that one of the files belongs to, merged.

    The user's layer and the machine's own `config.local.toml` take part only if they are among the
    files: findings in a project must not depend on the machine it is checked on. The user's layer
    without any project is merged alone.
    """
    paths = [path for path in paths if is_possible_path(path)]
    system = request.system
    asked = {system.real(path) for path in paths}
    local = bool(request.options.get("local"))
    user = find_layer_folders(system.cwd, local=local, env=request.env, system=system).user
    if user is not None and system.real(os.path.join(user, CONFIG)) not in asked:
        user = None
    found = (_folders_around(path, system) for path in paths)
    projects = {places.root: places for places in found if places is not None}
    if user is not None and not projects:
        projects[None] = LayerFolders(system, user, user, None)
    for places in projects.values():
        machine = os.path.join(places.project or "", LOCAL_CONFIG)
        without: frozenset[Layer] = frozenset()
        if system.real(machine) not in asked:
            without = frozenset({"project-local"})
        merged = replace(places, user=user)
        yield find_settings(merged, _overrides(request), without=without).outcome


def _overrides(request: Request) -> list[str]:
    given = request.options.get("config", ())
    return list(given) if isinstance(given, list | tuple) else []


def _folders_around(path: str, system: System) -> LayerFolders | None:
    """The project whose layer a file is; None unless its `.defect` is in a repository's root."""
    absolute = system.absolute(path)
    if layer_by_path(absolute) not in PROJECT_LAYERS:
        return None
    folder = os.path.dirname(absolute)
    places = find_layer_folders(os.path.dirname(folder), local=True, system=system)
    is_layer = places.project is not None and system.real(places.project) == system.real(folder)
    return places if is_layer else None


FORMAT = replace(
    SINGLE_FILE_FORMAT,
    layering=replace(
        SINGLE_FILE_FORMAT.layering, stack=merge_layers_of_file, stacks=merge_layers_of_projects
    ),
)
