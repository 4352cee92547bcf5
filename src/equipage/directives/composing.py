"""The stages of a format that is put together from several files.

Each is a value that a format names among its `stages`: it says where its directive may look, and
makes the directive anew for each load. With it come the codes of its findings, and what editors
accept in place of a value.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from equipage.core.diagnostics import Code, Fact, UsageError
from equipage.core.path import Path, matches_path, path_pattern, walk
from equipage.directives import Directive, expand
from equipage.directives.file import File
from equipage.directives.include import OVERRIDE, Include
from equipage.directives.ref import Ref
from equipage.files.sandbox import PathPolicy
from equipage.loading.tree import Tree

if TYPE_CHECKING:
    from equipage.loading.session import Session


class Includes(msgspec.Struct, frozen=True):
    """A stage: `{$include: part.yaml}` is another file, with its `override` laid over it.

    >>> app = equipage.Format({}, "app", stages=(equipage.Includes(override="with"),))
    >>> app.loads("{$include: base.yaml, with: {tools: []}}").config
    {'tools': []}
    """

    codes: ClassVar[tuple[Code, ...]] = Include.codes

    root: str | None = None
    """Where paths start: a folder, from that of the file that is loaded; by default the folder of
    the file that includes."""
    override: str = OVERRIDE
    """The key of what is laid over the included content."""
    max_depth: int = 10
    """How deep files may include each other."""

    def __call__(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        home, policy = _home(tree, session), PathPolicy(max_bytes=session.limits.max_file_bytes)
        library = None if self.root is None else os.path.join(home, self.root)
        policy = msgspec.structs.replace(policy, parents="inside")
        include = Include(
            library, (library or home,), policy, self.max_depth, override=self.override
        )
        return include.resolve(tree, session)

    def fragment(self) -> tuple[str, dict[str, Any]]:
        """What an author may write in place of any value, and a name for it."""
        start = f"the folder {self.root}" if self.root else "the folder of this file"
        return "include", Include.schema(self.override, start)


class Files(msgspec.Struct, frozen=True):
    """A stage: `{$file: prompt.md}` is the content of a file: text, or what JSON and YAML hold.

    >>> app = equipage.Format({}, "app", stages=(equipage.Files(),))
    >>> app.loads("{prompt: {$file: greeting.txt}}").config
    {'prompt': 'Hello!'}
    """

    codes: ClassVar[tuple[Code, ...]] = File.codes

    root: str | None = None
    """Where a file is looked for that is not beside the one that names it."""

    def __call__(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        home = _home(tree, session)
        policy = PathPolicy(parents="inside", max_bytes=session.limits.max_file_bytes)
        library = None if self.root is None else os.path.join(home, self.root)
        shelf = () if library is None else (library,)
        file = File(library, shelf, policy, root=home)
        return expand(tree, session, file, documents=session.documents)

    def fragment(self) -> tuple[str, dict[str, Any]]:
        """What an author may write in place of any value, and a name for it."""
        return "file", File.schema(self.root and f"the folder {self.root}")


class Refs(msgspec.Struct, frozen=True):
    """A stage: JSON Schemas inside a file, checked, and with every `$ref` written out.

    >>> app = equipage.Format({}, "app", stages=(equipage.Refs(at=("input",)),))
    >>> app.loads("input: {$ref: count.json}").config
    {'input': {'type': 'integer'}}
    """

    codes: ClassVar[tuple[Code, ...]] = Ref.codes

    at: tuple[str, ...]
    """Patterns of the paths of the schemas: `tools[*].input`."""

    def __call__(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        patterns = [path_pattern(each) for each in self.at]
        paths: list[Path] = [
            path
            for path, _ in walk(tree.value)
            if any(matches_path(pattern, path) for pattern in patterns)
        ]
        return Ref().resolve(tree, session, paths)


class Directives(msgspec.Struct, frozen=True):
    """A stage: directives of your own are replaced.

    >>> from equipage.plugin import ROOT, Directive, put
    >>> class Join(Directive):
    ...     key = "$join"
    ...     def expand(self, node, expansion):
    ...         return node.replace_with(put(node.tree, ROOT, " ".join(node.reference)), "joined")
    >>> app = equipage.Format({}, "app", stages=(equipage.Directives((Join,)),))
    >>> app.loads("prompt: {$join: [be, kind]}").config
    {'prompt': 'be kind'}
    """

    kinds: tuple[type[Directive], ...]
    """Their classes; each load makes one of each."""

    def __post_init__(self) -> None:
        for each in self.kinds:
            if not issubclass(each, Directive):
                raise UsageError(f"`{each!r}` is not a class of `Directive`")

    @property
    def codes(self) -> tuple[Code, ...]:
        """The codes of their findings."""
        return tuple(code for each in self.kinds for code in each.codes)

    def __call__(self, tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
        made = [each() for each in self.kinds]
        return expand(tree, session, *made, documents=session.documents)


#: The stages of a format that names none.
USUAL_STAGES = (Includes(), Files())


def _home(tree: Tree, session: Session) -> str:
    """The folder of a file whose value this is; what it names may not lead out of it."""
    file = tree.document.source.filename
    return session.base if file is None else os.path.dirname(file)
