"""Graphs as text for other programs: Mermaid and DOT. Pictures are made in `svg`."""

from __future__ import annotations

import json
from collections.abc import Callable

from equipage.core.text import visible
from equipage.render.svg import svg
from equipage.views.graph import Edge, Graph, Node


def mermaid(graph: Graph) -> str:
    """A flowchart for Markdown pages."""
    numbers = {node.name: f"f{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        label = _mermaid(node.name) + (f"<br/>{_mermaid(node.kind)}" if node.kind else "")
        lines.append(f'  {numbers[node.name]}["{label}"]{_class(node)}')
    lines += [
        f'  {numbers[edge.source]} -->|"{_mermaid(label_of(edge))}"| {numbers[edge.target]}'
        for edge in graph.edges
    ]
    lines += ["  classDef root stroke-width:3px", "  classDef bad stroke:#c0392b,stroke-width:3px"]
    return "\n".join(lines) + "\n"


def _class(node: Node) -> str:
    return ":::bad" if not node.ok else ":::root" if node.kind else ""


def _mermaid(text: str) -> str:
    """Mermaid reads entities between `#` and `;`, and little else is safe inside quotes."""
    safe = visible(text)
    return "".join(
        each if each.isalnum() or each in " ./-_,:=+()@~" else f"#{ord(each)};" for each in safe
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
        marks = "".join(
            [", penwidth=2" if node.kind else "", ', color="#c0392b"' if not node.ok else ""]
        )
        lines.append(f"  {_dot(node.name)} [label={_dot(label)}{marks}];")
    lines += [
        f"  {_dot(edge.source)} -> {_dot(edge.target)} [label={_dot(label_of(edge))}];"
        for edge in graph.edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return json.dumps("\n".join(map(visible, text.split("\n"))), ensure_ascii=False)


#: What our directives call themselves in findings, in as few words as fit an arrow.
_SHORT = {
    "included from here": "includes",
    "read from here": "reads",
    "referenced from here": "refers to",
}


def label_of(edge: Edge) -> str:
    how = _SHORT.get(edge.how, edge.how.removesuffix(" from here"))
    return how if edge.count == 1 else f"{how} ×{edge.count}"


RENDERERS: dict[str, Callable[[Graph], str]] = {
    "mermaid": mermaid,
    "dot": dot,
    "svg": lambda graph: svg(graph, label_of),
}
