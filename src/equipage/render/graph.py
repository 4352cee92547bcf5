"""Graphs as text for other programs: Mermaid for Markdown pages, DOT for Graphviz."""

from __future__ import annotations

import json

from equipage.core.text import visible
from equipage.views.graph import Edge, Graph

#: How findings word a reference, and a word short enough for the label of an arrow.
_SHORT = {
    "included from here": "includes",
    "read from here": "reads",
    "referenced from here": "refers to",
}


def mermaid(graph: Graph) -> str:
    """A flowchart for Markdown pages."""
    numbers = {node.name: f"f{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        label = _mermaid(node.name) + (f"<br/>{_mermaid(node.kind)}" if node.kind else "")
        style = ":::bad" if not node.ok else ":::root" if node.kind else ""
        lines.append(f'  {numbers[node.name]}["{label}"]{style}')
    for edge in graph.edges:
        label = _mermaid(_label(edge))
        lines.append(f'  {numbers[edge.source]} -->|"{label}"| {numbers[edge.target]}')
    lines += ["  classDef root stroke-width:3px", "  classDef bad stroke:#c0392b,stroke-width:3px"]
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    """Text inside quotes. Mermaid reads entities between `#` and `;`, and little else is safe."""
    return "".join(
        each if each.isalnum() or each in " ./-_,:=+()@~" else f"#{ord(each)};"
        for each in visible(text)
    )


def dot(graph: Graph) -> str:
    """A digraph for Graphviz."""
    lines = [
        "digraph equipage {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ]
    for node in graph.nodes:
        label = node.name + (f"\n{node.kind}" if node.kind else "")
        marks = (", penwidth=2" if node.kind else "") + ("" if node.ok else ', color="#c0392b"')
        lines.append(f"  {_dot(node.name)} [label={_dot_label(label)}{marks}];")
    lines += [
        f"  {_dot(edge.source)} -> {_dot(edge.target)} [label={_dot_label(_label(edge))}];"
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return json.dumps("\n".join(map(visible, text.split("\n"))), ensure_ascii=False)


def _dot_label(text: str) -> str:
    return _dot(text.replace("&", "&amp;"))  # Graphviz reads entities in labels, not in names


def _label(edge: Edge) -> str:
    how = _SHORT.get(edge.how, edge.how.removesuffix(" from here"))
    return how if edge.count == 1 else f"{how} ×{edge.count}"
