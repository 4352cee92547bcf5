"""From what the author wrote to what the model takes: text kept as text, one model, one prompt, known hooks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.files.reading import require_text
from equipage.files.roots import (
    PROJECT_FOLDER,
    entry_in_layer,
    find_places,
    repository_root,
    unreadable,
)
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.files.walking import leads_to_folder
from equipage.kinds.defect import hooks as hook_checks
from equipage.kinds.defect.codes import OVERLOOKED, REFUSED_PROMPTS, UNUSABLE_PROMPTS
from equipage.kinds.defect.hooks import Layer
from equipage.kinds.defect.profile_model import READ_ONLY, AgentProfile, Variant
from equipage.kinds.headers import HeaderStyle, body_of, is_finite, is_unquoted, read_header
from equipage.loading.kind import Elsewhere, Item, Portable, Sensitive
from equipage.loading.session import Session
from equipage.loading.tree import (
    HOLE,
    Origin,
    Origins,
    Tree,
    Via,
    attach,
    get,
    graft,
    move,
    put_all,
    remove,
)
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.pipeline import Outcome


# --- folder ------------------------------------------------------------------------------------
# What an `agents` folder holds: its profiles, and what somebody may have meant to be one.

AGENTS = "agents"
CONFIG = "config.toml"
#: Endings that people write for `.md`.
_NEARLY_MARKDOWN = frozenset({".markdown", ".mdown", ".mkd", ".mdx", ".md"})


class Entry(msgspec.Struct, frozen=True):
    """An entry of an `agents` folder that is a profile."""

    name: str
    variant: Variant
    file: str
    is_link: bool


class Agents(msgspec.Struct, frozen=True):
    """The profiles of a folder, in order of their names, and what the folder alone tells, each with its path."""

    entries: tuple[Entry, ...] = ()
    facts: tuple[tuple[str, Fact], ...] = ()


def look_into(folder: str, root: str | None) -> Agents:
    """What a folder holds. Given the root of a repository, links out of it are told."""
    try:
        with os.scandir(folder) as scan:
            found = sorted(scan, key=lambda entry: entry.name)
    except FileNotFoundError:
        return Agents()
    except OSError as error:
        return Agents(facts=((folder, unreadable(error)),))
    outside = root is not None and _leaves(folder, root)
    entries: list[Entry] = []
    facts: list[tuple[str, Fact]] = []
    for each in found:
        entry = _entry(each)
        if isinstance(entry, str):
            facts.append(
                (each.path, Fact("profile-overlooked", values={"reason": OVERLOOKED[entry]}))
            )
        elif entry is not None:
            entries.append(entry)
            if root is not None and (outside or entry.is_link) and _leaves(entry.file, root):
                facts.append((entry.file, Fact("profile-link-outside")))
    return Agents(tuple(sorted(entries, key=lambda each: each.name)), tuple(facts))


def beside(folder: str) -> Iterator[tuple[str, Fact]]:
    """What an `agents` folder tells that none of its profiles does."""
    above = os.path.dirname(folder)
    of_project = os.path.basename(above) == PROJECT_FOLDER
    yield from look_into(
        folder, repository_root(os.path.dirname(above)) if of_project else None
    ).facts


def _entry(entry: os.DirEntry[str]) -> Entry | str | None:
    """The profile an entry is; None if it is none; a word if somebody may have meant it to be one."""
    stem, extension = os.path.splitext(entry.name)
    is_folder = leads_to_folder(entry)
    if not entry.name.isascii() and any("\udc80" <= letter <= "\udcff" for letter in entry.name):
        return "encoding" if is_folder or extension == ".md" else None
    if is_folder:
        config = os.path.join(entry.path, CONFIG)
        if os.path.isfile(config):
            return Entry(entry.name, "folder", config, entry.is_symlink() or os.path.islink(config))
        return _almost_a_profile(entry.path, config)
    if extension == ".md":
        return Entry(stem, "file", entry.path, entry.is_symlink())
    return "extension" if extension.lower() in _NEARLY_MARKDOWN else None


def _almost_a_profile(folder: str, config: str) -> str | None:
    if os.path.lexists(config):
        return "not-a-file"
    return "no-config" if os.path.exists(os.path.join(folder, "system.md")) else None


def _leaves(path: str, root: str) -> bool:
    return not os.path.realpath(path).startswith(os.path.realpath(root).rstrip(os.sep) + os.sep)


# --- presenting --------------------------------------------------------------------------------
# What the commands show of a profile: its name, its layer, and the changes that matter.

_NAME = re.compile(r"(?:.*/)?(?:(?P<folder>[^/]+)/config\.toml|(?P<file>[^/]+)\.md)\Z")
_LAYERS: tuple[tuple[re.Pattern[str], Layer], ...] = (
    (re.compile(r"/\.defect/agents/(?:[^/]+\.md|[^/]+/config\.toml)\Z"), "project"),
    (re.compile(r"/defect/agents/(?:[^/]+\.md|[^/]+/config\.toml)\Z"), "user"),
)


def listing(plain: Any, file: str) -> Iterator[Item]:
    """One agent, named by its file or folder."""
    match = _NAME.match(file)
    name = (match["folder"] or match["file"]) if match is not None else file
    yield Item("agent", name, plain.get("description"))


def portable(outcome: Outcome) -> Portable | None:
    """What other tools would make of an agent."""
    from equipage.views import portability  # all their tables, for one command

    return portability.portable(outcome)


def layer_by_path(path: str) -> Layer | None:
    """The layer of a profile by where it lies."""
    shown = path.replace(os.sep, "/")
    return next((name for pattern, name in _LAYERS if pattern.search(shown)), None)


def identity(path: str) -> str:
    """A profile is an entry of its `agents` folder: a link there is an agent of its own, whatever it leads to."""
    return entry_in_layer(path, depth=2 if path.endswith(".toml") else 1)


def layer(path: str, _env: Mapping[str, str]) -> str | None:
    return layer_by_path(path)


def above(folder: str) -> Iterator[Elsewhere]:
    """The agents of the project that a folder belongs to."""
    project = find_places(folder, env={}).project
    if project is not None:
        yield Elsewhere(os.path.join(project, "agents"), "project")


def elsewhere(env: Mapping[str, str]) -> Iterator[Elsewhere]:
    """The user's own agents."""
    user = find_places(env=env).user
    if user is not None:
        yield Elsewhere(os.path.join(user, "agents"), "user")


SENSITIVE = (
    Sensitive("tools.allow", "permission", default=READ_ONLY),
    Sensitive("hooks.**", "permission"),
    Sensitive("prompt.*", "prompt"),
    Sensitive("description", "prompt"),
)


# --- reading -----------------------------------------------------------------------------------
# A profile's source to a document: a whole TOML file, or the header of a Markdown file.

STYLE = HeaderStyle("single-file profile", known=AgentProfile.__struct_fields__)


def given_path(session: Session) -> str:
    """The path a profile was asked for by: it names the profile, even where it is a link to another file."""
    return session.path.replace(os.sep, "/")


def variant_of(source: Source) -> Variant:
    """Which of the two variants a source is."""
    return "folder" if (source.path or source.name).endswith(".toml") else "file"


def read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    """The document of a profile. Both variants have the same schema, so nothing later asks which it was."""
    if variant_of(source) == "folder":
        return session.parse(source, "toml")
    return read_header(source, session, STYLE)


__all__ = ["body_of", "given_path", "read", "variant_of"]


DEFAULT_PROMPT_FILE = "system.md"
#: Everything a profile refers to lies in its own folder.
PROMPT_POLICY = PathPolicy(absolute="refuse", parents="inside")

_TEXT_FIELDS: tuple[Path, ...] = (("description",), ("model",), ("default", "model"))
_ALLOW: Path = ("tools", "allow")
_PROMPT: Path = ("prompt",)
_TEXT: Path = ("prompt", "text")


def layer_of(source: Source, session: Session) -> Layer | None:
    """The layer a profile belongs to: as the caller says, else as its path tells."""
    given: Layer | None = session.options.layer
    if given is not None or source.path is None:
        return given
    return layer_by_path(given_path(session))


def keep_text(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """In a YAML header, a number where text belongs is the text it is written as."""
    document = tree.story(ROOT).origin.document
    if document.format != "yaml" or not isinstance(tree.value, dict):
        return tree, []
    unquoted = list(_unquoted(tree.value))
    if not unquoted:
        return tree, []
    facts: list[Fact] = []
    kept: dict[Path, str] = {}
    origins = {path: tree.story(path).origin for path in unquoted}
    places = document.locate(origin.path for origin in origins.values())
    for path, origin in origins.items():
        value = get(tree.value, path)
        written = places[origin.path].value.text() if origin.path in places else ""
        text = written if re.fullmatch(r"[\w.+:-]+", written) else str(value)
        values: dict[str, object] = {"found": Shown(value, as_found=True), "text": Shown(text)}
        remedy = Remedy("put quotes around it", (Change(path, text, origin=origin),))
        if is_finite(value):
            facts.append(Fact("text-not-quoted", values=values, origin=origin, remedy=remedy))
        kept[path] = text
    return put_all(tree, kept, how="kept as written"), facts


def _unquoted(value: Any) -> Iterator[Path]:
    """The paths of text fields that hold a number, `true` or `false`."""
    for path in _TEXT_FIELDS:
        if path[0] in value and is_unquoted(get(value, path)):
            yield path
    allow = get(value, _ALLOW)
    for number, entry in enumerate(allow if isinstance(allow, list) else ()):
        if entry.__class__ is not str and is_unquoted(entry):
            yield *_ALLOW, number


def fold_model(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """`[default] model` means the same as `model`; only one of the two may be set."""
    default = tree.value.get("default") if isinstance(tree.value, dict) else None
    if not isinstance(default, dict):
        return tree, []
    facts: list[Fact] = []
    if default.get("model") is not None:
        if tree.value.get("model") is not None:
            also = Also("and here", part="key", origin=tree.story(("model",)).origin)
            place = tree.story(("default", "model")).origin
            facts.append(Fact("model-given-twice", part="key", origin=place, also=(also,)))
            tree = remove(tree, ("default", "model"))
        else:
            tree = remove(tree, ("model",)) if "model" in tree.value else tree
            tree = move(tree, ("default", "model"), ("model",))
    if not any(value is not None for value in tree.value["default"].values()):
        tree = remove(tree, ("default",))
    return tree, facts


# ------------------------------------------------------------------------------------------------- prompt


def bring_prompt(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """The prompt as `prompt.text`, wherever it is written."""
    if not isinstance(tree.value, dict):
        return tree, []
    document = tree.story(ROOT).origin.document
    if variant_of(document.source) == "file":
        return _from_body(tree, document)
    return _from_folder(tree, session)


def _from_body(tree: Tree, header: Document) -> tuple[Tree, list[Fact]]:
    if tree.value.get("prompt") is not None:
        misplaced = Fact("prompt-in-single-file", part="key", origin=tree.story(_PROMPT).origin)
        return graft(tree, {_PROMPT: Tree(HOLE, tree.at(_PROMPT).origins)}), [misplaced]
    tree = remove(tree, _PROMPT) if "prompt" in tree.value else tree
    return _with_text(tree, body_of(header), ()), []


def _from_folder(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    prompt = tree.value.get("prompt")
    if prompt is not None and not isinstance(prompt, dict):
        return tree, []  # the model says what is wrong
    text, file = get(prompt, ("text",)), get(prompt, ("file",))
    tree = remove(tree, _PROMPT) if prompt is None and "prompt" in tree.value else tree
    if text is not None and file is not None:
        also = Also("and here", part="key", origin=tree.story((*_PROMPT, "file")).origin)
        place = tree.story((*_PROMPT, "text")).origin
        return tree, [Fact("prompt-given-twice", part="key", origin=place, also=(also,))]
    if text is not None or not isinstance(file, str | None):
        return tree, []
    return _from_file(tree, file, session)


def _from_file(tree: Tree, file: str | None, session: Session) -> tuple[Tree, list[Fact]]:
    place = tree.story((*_PROMPT, "file") if file is not None else ROOT).origin
    reference = DEFAULT_PROMPT_FILE if file is None else file
    try:
        source = _read(reference, session)
    except FileProblem as problem:
        hole = attach(tree, _TEXT, Tree(HOLE, Origins(place)))
        return hole, [_problem(problem, reference, place, is_default=file is None)]
    document = Document(source, "text", source.text, window=(0, len(source.text)))
    return _with_text(
        tree, document, (Via("read from here", place),) if file is not None else ()
    ), []


def _read(reference: str, session: Session) -> Source:
    if session.embedded:
        raise FileProblem("file-missing")  # there is no disk
    referred = session.refer(reference, PROMPT_POLICY, bases=(session.base,), roots=(session.base,))
    return require_text(referred.source)


def _problem(problem: FileProblem, reference: str, place: Origin, *, is_default: bool) -> Fact:
    values = {"file": Shown(reference), **problem.values, "reference": Shown(reference)}
    if problem.code == "file-missing":
        code = "prompt-missing" if is_default else "prompt-file-missing"
        return Fact(code, values=values, origin=place)
    if problem.code in REFUSED_PROMPTS:
        return Fact(
            "prompt-file-refused",
            values={**values, "reason": REFUSED_PROMPTS[problem.code]},
            origin=place,
        )
    reason = UNUSABLE_PROMPTS[problem.code].format_map(problem.values)
    return Fact("prompt-file-unusable", values={**values, "reason": reason}, origin=place)


def _with_text(tree: Tree, document: Document, via: tuple[Via, ...]) -> Tree:
    text = Origins(Origin(document), via)
    if "prompt" not in tree.value:
        return attach(tree, _PROMPT, Tree({"text": document.value}, Origins(below={"text": text})))
    return attach(tree, _TEXT, Tree(document.value, text))


# -------------------------------------------------------------------------------------------------- hooks


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Known events only, each hook with the layer of its profile."""
    if not isinstance(tree.value, dict) or "hooks" not in tree.value:
        return tree, []
    source = tree.story(ROOT).origin.document.source
    return hook_checks.prepare(tree, layer_of(source, session), may_disable=False)
