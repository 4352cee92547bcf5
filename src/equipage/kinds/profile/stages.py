"""From what the author wrote to what the model takes: text kept as text, one model, one prompt, known hooks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.files import require_text
from equipage.kinds.headers import is_finite, is_unquoted
from equipage.kinds.profile import hook_checks
from equipage.kinds.profile.codes import REFUSED_PROMPTS, UNUSABLE_PROMPTS
from equipage.kinds.profile.hooks import Layer
from equipage.kinds.profile.presenting import layer_by_path
from equipage.kinds.profile.reading import body_of, given_path, variant_of
from equipage.path import ROOT, Path
from equipage.sandbox import FileProblem, PathPolicy
from equipage.session import Session
from equipage.source import Source
from equipage.syntax.document import Document
from equipage.tree import HOLE, Origin, Origins, Tree, Via, attach, get, graft, move, put_all, remove

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
    return _with_text(tree, document, (Via("read from here", place),) if file is not None else ()), []


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
        return Fact("prompt-file-refused", values={**values, "reason": REFUSED_PROMPTS[problem.code]}, origin=place)
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
