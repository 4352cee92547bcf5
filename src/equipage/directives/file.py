"""`$file`: the content of another file.

JSON and YAML are parsed, images become base64 text, everything else is text as it is. A path starts
at the folder of the file that contains the directive, and is looked for in the library if it is not
there. The content is data: variables in it are not replaced, and no `$include` or `$file` in it is
followed.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Code, Fact, Shown
from equipage.core.path import HOLE, ROOT, Path
from equipage.core.source import Source, Span
from equipage.directives import Directive, Expansion, Node, codes, lacks_library, related_places
from equipage.files import display_name
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.tree import Origin, Origins, Tree, Via
from equipage.syntax.document import Document, Syntax, parse

#: Content that is parsed, by extension. Case counts.
PARSED_EXTENSIONS: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
#: Content that becomes base64, by extension.
BINARY_EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp"})


class File(Directive):
    """What a kind decides about files, and the files that one load brought so far."""

    key: ClassVar[str] = "$file"
    codes: ClassVar[tuple[Code, ...]] = codes.FILE_CODES
    how: ClassVar[str] = "loaded from here"  #: what the story of a value says about the directive

    library: str | None  #: where else a file is looked for
    shelf: tuple[str, ...]  #: the library, if it may be read
    policy: PathPolicy
    root: str | None = None  #: the folder that paths may not leave; None: the project
    #: by the identity of their sources
    contents: dict[int, Tree] = msgspec.field(default_factory=dict)
    #: the names of binary files by the paths that have their base64
    binaries: dict[Path, str] = msgspec.field(default_factory=dict)

    @classmethod
    def schema(cls, shelf: str | None = "the library") -> dict[str, Any]:
        about = "a path from this file's folder" + (f", else from {shelf}" if shelf else "")
        return {
            "title": "The content of a file",
            "type": "object",
            "properties": {cls.key: {"type": "string", "minLength": 1, "description": about}},
            "required": [cls.key],
        }

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        expansion.report_siblings(node)
        session, path = expansion.session, node.origin.document.source.filename
        folder = os.path.dirname(path) if path is not None else session.base
        root = self.root or session.root
        roots: tuple[str, ...] = (root, *self.shelf, *session.roots, folder)
        if isinstance(node.reference, str) and os.path.isabs(node.reference):
            roots = self.shelf  # only the library decides whether it deserves a warning
        bases = [folder]
        if self.library is not None and not lacks_library(self.library, self.shelf, session):
            bases.append(self.library)
        try:
            source = expansion.find_source(node, self.policy, bases=tuple(bases), roots=roots)
        except FileProblem as problem:
            self._report_problem(node, folder, problem, expansion)
            return node.hole()
        if source is None:
            return node.hole()
        if _extension(source) in BINARY_EXTENSIONS:
            self.binaries[node.path] = source.name
        content = self.contents.get(id(source))
        if content is None:
            content = self.contents[id(source)] = _load_content(source, node, expansion)
        return node.replace_with(content, self.how)

    def _report_problem(
        self, node: Node, folder: str, problem: FileProblem, expansion: Expansion
    ) -> None:
        reference, cwd = node.reference, expansion.session.files.cwd
        missing = problem.code in (core_codes.FILE_MISSING, core_codes.FILE_IS_DIRECTORY)
        # An absolute path was looked for in one place only.
        base = None if missing and os.path.isabs(reference) else display_name(folder, cwd)
        values: dict[str, Any] = {**problem.values, "reference": Shown(reference)}
        values |= {"file": Shown(reference), "referrer": node.origin.document.source.name}
        if self.library is not None:
            values |= {"base": base, "library": display_name(self.library, cwd)}
        else:
            values |= {"folder": base}
        expansion.report(node, codes.FILE_NOT_FOUND if missing else problem.code, **values)


def _extension(source: Source) -> str:
    return os.path.splitext(source.filename or source.name)[1]


def _load_content(source: Source, node: Node, expansion: Expansion) -> Tree:
    """What a file holds, by its extension; a hole, with findings, if it is not valid."""
    also = related_places((*node.via, Via(File.how, node.origin)))
    extension = _extension(source)
    if extension in BINARY_EXTENSIONS:
        import base64  # images are rare

        return _whole_file_tree(source, base64.b64encode(source.data).decode("ascii"))
    try:
        require_text(source)
    except FileProblem as problem:
        values, code = problem.values, problem.code
        if extension.lower() in BINARY_EXTENSIONS:
            values = {**values, "extension": extension.lower()}
            code = codes.IMAGE_EXTENSION
        start = Span(source, 0, 0)
        expansion.facts.append(Fact(code, values=values, span=start, also=also))
        return _whole_file_tree(source, HOLE)
    if extension not in PARSED_EXTENSIONS:
        return _whole_file_tree(source, source.text)
    document, facts = parse(source, PARSED_EXTENSIONS[extension])
    facts = expansion.session.apply_severities(facts, PARSED_EXTENSIONS[extension])
    # The content becomes JSON: as in the original, a key that is not text is left out of it.
    odd = [each for each in facts if each.code == core_codes.NON_STRING_KEY]
    facts = [
        msgspec.structs.replace(each, severity="warning") if each in odd else each for each in facts
    ]
    expansion.facts += [msgspec.structs.replace(each, also=(*each.also, *also)) for each in facts]
    if document is None or document.is_cut:
        return _whole_file_tree(source, HOLE)
    tree = Tree.from_document(expansion.session.adopt(document, facts))
    if odd:
        return Tree(_remove_entries(tree.value, {each.path for each in odd}), tree.origins)
    return tree


def _whole_file_tree(source: Source, value: Any) -> Tree:
    """A file as one value that has no parts."""
    return Tree(value, Origins(Origin(Document(source, "text", value))))


def _remove_entries(value: Any, dropped: set[Path], path: Path = ROOT) -> Any:
    """A copy of `value` without the entries at these paths. Parsing bounds how deep it is."""
    if isinstance(value, list):
        return [
            _remove_entries(child, dropped, (*path, number)) for number, child in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    return {
        key: _remove_entries(child, dropped, (*path, key))
        for key, child in value.items()
        if (*path, key) not in dropped
    }
