"""Graphs as text: a tree for terminals, Mermaid for Markdown pages, DOT for Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator

from equipage.core.text import visible, visible_first
from equipage.render.text import Style
from equipage.views.graph import Edge, Graph, Node

#: How findings word a reference, and a word short enough for the label of an arrow.
_SHORT = {
    "included from here": "includes",
    "read from here": "reads",
    "loaded from here": "reads",
    "referenced from here": "refers to",
}
#: The fill and the line of a node for each sort.
_COLOURS = {
    "file": ("#f6f7f9", "#8a94a3"),
    "agent": ("#e8f0fe", "#3b6fc4"),
    "command": ("#e8f0fe", "#3b6fc4"),
    "skill": ("#e6f5ea", "#3d8b57"),
    "server": ("#fdf3e0", "#b7791f"),
    "tool": ("#ffffff", "#a0a8b4"),
}
_BAD = ("#fdecea", "#c0392b")


# A tree: what nothing else leads to is at the left, and below it what it leads to.


def tree(graph: Graph, style: Style) -> Iterator[str]:
    """The graph as lines of a tree. What is shown above is not repeated, only named."""
    nodes = {node.name: node for node in graph.nodes}
    below: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        below.setdefault(edge.source, []).append(edge)
    # A ring has no first node, so what is left over starts a tree of its own.
    reached = {edge.target for edge in graph.edges if edge.source != edge.target}
    first = [node for node in graph.nodes if node.name not in reached]
    seen: set[str] = set()
    for node in (*first, *graph.nodes):
        if node.name not in seen and (node in first or node.name in below):
            seen.add(node.name)
            yield visible_first(_title(node, style)) + "\n"
            yield from _branches(node.name, "", nodes, below, seen, style)


def _branches(
    name: str,
    indent: str,
    nodes: dict[str, Node],
    below: dict[str, list[Edge]],
    seen: set[str],
    style: Style,
) -> Iterator[str]:
    rows = list(_rows(below.get(name, []), nodes, below))
    for number, (how, targets) in enumerate(rows):
        is_last = number == len(rows) - 1
        fork, more = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        titles = ", ".join(_title(nodes[each], style) for each in targets)
        target = targets[0]
        is_known = target in seen and target in below
        yield f"{indent}{style.paint('place', fork)}{how} {titles}{' (see above)' * is_known}\n"
        seen.update(targets)
        if not is_known:
            yield from _branches(
                target, indent + style.paint("place", more), nodes, below, seen, style
            )


def _rows(
    edges: list[Edge], nodes: dict[str, Node], below: dict[str, list[Edge]]
) -> Iterator[tuple[str, list[str]]]:
    """Each edge of a node on a line; tools, which lead nowhere, together on one."""
    together: dict[str, list[str]] = {}
    for edge in edges:
        node = nodes[edge.target]
        if node.sort == "tool" and edge.target not in below:
            together.setdefault(f"{_label(edge)} tools", []).append(edge.target)
        else:
            sort = "MCP server" if node.sort == "server" else node.sort
            how = _label(edge) if node.sort == "file" else f"{_label(edge)} {sort}"
            yield how, [edge.target]
    yield from together.items()


def _title(node: Node, style: Style) -> str:
    """How a tree shows a node: its name, what it is, and what is wrong with it."""
    name = visible(node.label or node.name)
    if node.missing:
        return style.paint("error", f"{name} (missing)")
    words = [] if node.kind is None else [node.kind]
    if node.label and node.kind is not None:
        words.append(visible(node.name))
    if not node.ok:
        words.append(style.paint("error", "has errors"))
    return style.paint("bold", name) + (f" ({', '.join(words)})" if words else "")


# Mermaid.


def mermaid(graph: Graph) -> str:
    """A flowchart for Markdown pages."""
    numbers = {node.name: f"f{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        text = "<br/>".join(map(_mermaid, _texts(node)))
        style = ":::bad" if node.missing or not node.ok else ":::root" if node.kind else ""
        shape = '(["{}"])' if node.sort in ("tool", "server") else '["{}"]'
        lines.append(f"  {numbers[node.name]}{shape.format(text)}{style}")
    for edge in graph.edges:
        label = _mermaid(_label(edge))
        arrow = "-.->" if edge.how in ("forbids", "defines") else "-->"
        lines.append(f'  {numbers[edge.source]} {arrow}|"{label}"| {numbers[edge.target]}')
    lines += ["  classDef root stroke-width:3px", "  classDef bad stroke:#c0392b,stroke-width:3px"]
    return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    """Text inside quotes. Mermaid reads entities between `#` and `;`, and little else is safe."""
    return "".join(
        each if each.isalnum() or each in " ./-_,:=+()@~" else f"#{ord(each)};"
        for each in visible(text)
    )


# DOT.

_HEAD = """\
digraph equipage {
  graph [rankdir=LR, nodesep=0.22, ranksep=0.9, pad=0.3, bgcolor="white"];
  node [shape=box, style="rounded,filled", fontname="Helvetica,Arial,sans-serif", fontsize=11,
        margin="0.16,0.08", penwidth=1.2];
  edge [fontname="Helvetica,Arial,sans-serif", fontsize=9, fontcolor="#5b6573",
        color="#8a94a3", arrowsize=0.7];
"""


#: A second, empty line lifts a label above its arrow, which would cross it out.
_ABOVE = "\n "


def dot(graph: Graph) -> str:
    """A digraph for Graphviz."""
    lines = [_HEAD.rstrip("\n")]
    for node in graph.nodes:
        fill, line = (
            _BAD if node.missing or not node.ok else _COLOURS.get(node.sort, _COLOURS["file"])
        )
        marks = {
            "label": _dot_label("\n".join(_texts(node))),
            "fillcolor": _dot(fill),
            "color": _dot(line),
        }
        if node.missing:
            marks |= {"style": '"rounded,filled,dashed"', "fontcolor": _dot(line)}
        elif node.sort == "tool":
            marks |= {"shape": "plaintext", "style": '""'}
        listed = ", ".join(f"{name}={value}" for name, value in marks.items())
        lines.append(f"  {_dot(node.name)} [{listed}];")
    sorts = {node.name: node.sort for node in graph.nodes}
    for edge in graph.edges:
        # That an agent uses a tool needs no word on each of many arrows.
        silent = edge.how == "uses" and sorts[edge.target] == "tool"
        label = "" if silent else f"label={_dot_label(f' {_label(edge)} ' + _ABOVE)}"
        style = "style=dashed" if edge.how in ("forbids", "defines") else ""
        marks_of_edge = ", ".join(filter(None, (label, style)))
        lines.append(f"  {_dot(edge.source)} -> {_dot(edge.target)} [{marks_of_edge}];")
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return json.dumps("\n".join(map(visible, text.split("\n"))), ensure_ascii=False)


def _dot_label(text: str) -> str:
    return _dot(text.replace("&", "&amp;"))  # Graphviz reads entities in labels, not in names


# Words that all three share.


def _texts(node: Node) -> list[str]:
    """The lines in the box of a node: its name, and what it is or where."""
    if node.missing:
        return [node.label or node.name, "missing"]
    if not node.label:
        return [node.name, *([node.kind] if node.kind else [])]
    if node.kind is None:
        return [node.label, *(["MCP server"] if node.sort == "server" else [])]
    return [node.label, f"{node.kind} · {node.name}"]


def _label(edge: Edge) -> str:
    how = _SHORT.get(edge.how, edge.how.removesuffix(" from here"))
    # Directives are written in backticks where a finding speaks of them.
    how = how.replace("`", "").removesuffix(" here")
    how = how.removeprefix("brought in by ").removeprefix("read by ")
    return how if edge.count == 1 else f"{how} ×{edge.count}"
