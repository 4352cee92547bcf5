"""`$file`: the content of another file.

JSON and YAML are parsed, images become base64 text, everything else is text as it stands. A path starts at the
folder of the file that contains the directive, and is looked for in the library if it is not there. Variables
are not replaced, and no `$include` or `$file` in the content is followed: it is data.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec

from equipage.core.codes import Code
from equipage.core.diagnostics import Fact, Part, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source, Span
from equipage.directives import find_directives
from equipage.files.reading import display_name, require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Tree, Via, graft
from equipage.syntax.document import Document, Format, parse

KEY = "$file"
#: Content that is parsed, by extension. Case counts.
PARSED: dict[str, Format] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
#: Content that becomes base64, by extension.
BINARY = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp"})


class FileSettings(msgspec.Struct, frozen=True):
    """What a kind decides about files."""

    library: str
    policy: PathPolicy


class Files(msgspec.Struct, frozen=True):
    """What the stage gives beside its tree: where base64 of a binary file stands now, and what it is called."""

    tree: Tree
    binaries: dict[Path, str]
    facts: list[Fact]


def load_files(tree: Tree, session: Session, settings: FileSettings) -> Files:
    """The tree with every `$file` replaced by what it stands for."""
    loader = _Loader(session, settings)
    parts: dict[Path, Tree] = {}
    binaries: dict[Path, str] = {}
    for path in find_directives(tree.value, KEY, session.documents):
        parts[path], source = loader.expand(tree.at(path))
        if source is not None and _extension(source) in BINARY:
            binaries[path] = source.name
    return Files(graft(tree, parts), binaries, loader.facts)


class _Loader:
    """The files of one load: what they hold, and what was found."""

    def __init__(self, session: Session, settings: FileSettings) -> None:
        self.session = session
        self.settings = settings
        self.facts: list[Fact] = []
        self.contents: dict[int, Tree] = {}

    def expand(self, node: Tree) -> tuple[Tree, Source | None]:
        """What one `$file` mapping stands for, and the file it came from."""
        reference = node.value[KEY]
        for name in node.value:
            if name != KEY:
                values: dict[str, object] = {
                    "directive": KEY,
                    "key": Shown(name),
                    "advice": "remove it",
                }
                self.say(node, "directive-siblings", values, at=(name,), part="key")
        if self.session.embedded:
            self.say(
                node, "embedded-directive", {"directive": KEY, "found": Shown(reference)}, at=(KEY,)
            )
        elif not isinstance(reference, str):
            if reference is not HOLE:
                values = {"expected": "a path as text", "found": Shown(reference, as_found=True)}
                self.say(node, "wrong-type", values, at=(KEY,))
        else:
            source = self.source(node, reference)
            if source is not None:
                return self.brought(self.content(source), node), source
        return Tree(HOLE, node.origins), None

    def source(self, node: Tree, reference: str) -> Source | None:
        """The file a directive names; None, with a finding, if it cannot be had."""
        library = self.settings.library
        folder = self.folder(node)
        # Whether an absolute path deserves a warning is a question of the library alone.
        roots = (
            (library,)
            if os.path.isabs(reference)
            else (self.session.root, library, *self.session.roots, folder)
        )
        try:
            referred = self.session.refer(
                reference, self.settings.policy, bases=(folder, library), roots=roots
            )
        except FileProblem as problem:
            self.say_problem(node, reference, folder, problem)
            return None
        if referred.outside:
            self.say(node, "absolute-path", {"reference": Shown(reference)}, at=(KEY,))
        return referred.source

    def folder(self, node: Tree) -> str:
        """The folder of the file that contains the directive; that of the load for a string."""
        path = node.story((KEY,)).origin.document.source.path
        return os.path.dirname(path) if path is not None else self.session.base

    def content(self, source: Source) -> Tree:
        known = self.contents.get(id(source))
        if known is None:
            known = self.contents[id(source)] = self.read(source)
        return known

    def read(self, source: Source) -> Tree:
        """What a file holds, by its extension; a hole, with findings, if it is not what it should be."""
        extension = _extension(source)
        if extension in BINARY:
            import base64  # images are rare

            return _whole(source, base64.b64encode(source.data).decode("ascii"))
        try:
            require_text(source)
        except FileProblem as problem:
            self.facts.append(Fact(problem.code, values=problem.values, span=Span(source, 0, 0)))
            return _whole(source, HOLE)
        if extension not in PARSED:
            return _whole(source, source.text)
        document, facts = parse(source, PARSED[extension])
        facts = [_judged(each) for each in self.session.strict(facts, PARSED[extension])]
        self.facts += facts
        if document is None:
            return _whole(source, HOLE)
        tree = Tree.of(self.session.adopt(document, facts))
        dropped = {each.path for each in facts if each.code == "non-string-key"}
        return Tree(_without(tree.value, dropped), tree.origins) if dropped else tree

    # ---------------------------------------------------------------------------------------------- results

    def brought(self, content: Tree, node: Tree) -> Tree:
        """The content, remembering the directive that brought it."""
        via = (Via("loaded from here", node.story((KEY,)).origin), *content.origins.via)
        # What an override laid over or replaced stays true of the place, whatever the directive brings.
        here = content.origins.changed(
            via=via, skip=node.origins.skip, replaced=node.origins.replaced
        )
        return Tree(content.value, here)

    def say(
        self,
        node: Tree,
        code: str,
        values: dict[str, object],
        *,
        at: Path = ROOT,
        part: Part = "value",
    ) -> None:
        """A fact about a part of a directive, placed in the file that wrote it."""
        self.facts.append(Fact(code, values=values, part=part, origin=node.story(at).origin))

    def say_problem(self, node: Tree, reference: str, folder: str, problem: FileProblem) -> None:
        cwd = self.session.files.cwd
        missing = problem.code in ("file-missing", "file-is-directory")
        # An absolute path was looked for in one place only.
        base = None if missing and os.path.isabs(reference) else display_name(folder, cwd)
        library = display_name(self.settings.library, cwd)
        referrer = node.story((KEY,)).origin.document.source.name
        values: dict[str, Any] = {
            **problem.values,
            "reference": Shown(reference),
            "file": Shown(reference),
        }
        values |= {"referrer": referrer, "base": base, "library": library}
        self.say(node, "file-not-found" if missing else problem.code, values, at=(KEY,))


def _extension(source: Source) -> str:
    return os.path.splitext(source.path or source.name)[1]


def _judged(each: Fact) -> Fact:
    """The content becomes JSON: a key that is no text is left out of it, as in the original."""
    return (
        msgspec.structs.replace(each, severity="warning") if each.code == "non-string-key" else each
    )


def _without(value: Any, dropped: set[Path], path: Path = ROOT) -> Any:
    """A copy of `value` without the entries at these paths. Parsing bounds how deep it is."""
    if isinstance(value, list):
        return [_without(child, dropped, (*path, number)) for number, child in enumerate(value)]
    if not isinstance(value, dict):
        return value
    places = {key: (*path, key) for key in value}
    return {
        key: _without(value[key], dropped, place)
        for key, place in places.items()
        if place not in dropped
    }


def _whole(source: Source, value: Any) -> Tree:
    """A file as one value that has no parts."""
    return Tree(value, Origins(Origin(Document(source, "text", value))))


CODES: tuple[Code, ...] = (
    Code(
        "file-not-found",
        "error",
        "File not found: {reference} (referenced from {referrer})",
        "The path of a `$file` starts at the folder of the file that contains it; if nothing is there, at the "
        "library. Neither has such a file.",
        "looked in {base}, then in the library, {library}",
    ),
)
