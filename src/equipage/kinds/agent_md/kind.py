"""The kind `agent_md` as a value.

No file is recognised as one: Markdown with a header has many readers. A blueprint that refers to a file, or a
caller who names the kind, knows.
"""

from __future__ import annotations

import msgspec

from equipage.diagnostics import Fact
from equipage.kinds.agent_md.codes import CODES
from equipage.kinds.agent_md.header import STRICTNESS, agent_tree, read_header
from equipage.kinds.agent_md.model import DEFAULT_KIND, Agent, AgentKind
from equipage.kinds.agent_md.presenting import SENSITIVE, listing
from equipage.kinds.agent_md.schema import header_schema
from equipage.kinds.agent_md.written import written
from equipage.kinds.kind import Kind
from equipage.model import Shape
from equipage.path import ROOT
from equipage.session import Session
from equipage.source import Source
from equipage.syntax.document import Document
from equipage.tree import Tree

EXAMPLE = """\
---
name: NAME
description: Finds sources and quotes them
model: sonnet
tools: Read, WebFetch
---
You find sources for the question you are given.

Quote each one with its address. Say so when you find nothing.
"""


class AgentOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the caller may decide about an agent file."""

    default_agent_kind: AgentKind = DEFAULT_KIND


def _read(source: Source, session: Session) -> tuple[Document | None, list[Fact]]:
    document, facts = read_header(source)
    if document is not None:
        session.adopt(document)
    return document, facts


def _agent(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    origin = tree.story(ROOT).origin
    kind = Tree(session.options.default_agent_kind, tree.origins)
    return agent_tree(origin.document, kind)


KIND = Kind(
    name="agent_md",
    title="agent file",
    model=Agent,
    formats={".md": "yaml"},
    read=_read,
    options=AgentOptions,
    strictness=STRICTNESS,
    shape=Shape(unknown=None),  # such keys are kept as extras
    stages=(_agent,),
    codes=CODES,
    schema=header_schema,
    written=written,
    example=EXAMPLE,
    example_path="NAME.md",
    listing=listing,
    sensitive=SENSITIVE,
)
