"""A graph as one self-contained picture, in the colours of the reader: light or dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from html import escape
from itertools import pairwise

from equipage.graphs import Edge, Graph, Node
from equipage.render.layout import Box, Layout, Point, lay_out
from equipage.render.text import cells
from equipage.visible import visible

_HEIGHT = 32.0
#: The width of a cell of text and of the space around it. Widths are estimated: no font is asked.
_CELL, _PADDING = 7.3, 14.0
#: Longer names are cut in the middle; the whole name is the title of its box.
_LONGEST = 44
#: With more arrows than this, only those that say something unusual get words.
_MAX_LABELS = 8

_STYLE = """
  svg { color-scheme: light dark; }
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2933; }
  .kind { fill: #52606d; font-size: 10px; }
  .how { fill: #52606d; font-size: 10px; paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
  rect { fill: #f5f7fa; stroke: #9aa5b1; stroke-width: 1.2; }
  .page { fill: #ffffff; stroke: none; }
  .root rect { fill: #e3f2fd; stroke: #1976d2; stroke-width: 1.6; }
  .bad rect { fill: #fdecea; stroke: #c62828; }
  path { fill: none; stroke: #7b8794; stroke-width: 1.3; }
  marker path { fill: #7b8794; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb; }
    .kind, .how { fill: #9aa5b1; }
    .how { stroke: #15191e; }
    rect { fill: #232a31; stroke: #616e7c; }
    .page { fill: #15191e; stroke: none; }
    .root rect { fill: #12304a; stroke: #64b5f6; }
    .bad rect { fill: #43191a; stroke: #ef5350; }
    path { stroke: #9aa5b1; }
    marker path { fill: #9aa5b1; stroke: none; }
  }
"""


def svg(graph: Graph, label_of: Callable[[Edge], str]) -> str:
    """The graph as a picture."""
    nodes = {node.name: node for node in graph.nodes}
    pairs = list(dict.fromkeys((edge.source, edge.target) for edge in graph.edges))
    layout = lay_out(list(nodes), pairs, lambda name: _width(nodes[name]), _HEIGHT)
    return (
        "\n".join([*_head(layout, graph), *_arrows(graph, layout, label_of), *_boxes(nodes, layout), "</svg>"]) + "\n"
    )


def _head(layout: Layout, graph: Graph) -> Iterator[str]:
    width, height = _number(layout.width), _number(layout.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{len(graph.nodes)} files and what brings what">'
    )
    yield f"<style>{_STYLE}</style>"
    yield '<rect class="page" width="100%" height="100%"/>'
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto-start-reverse"><path d="M0 0.5 L8 4 L0 7.5 Z"/></marker></defs>'
    )


def _arrows(graph: Graph, layout: Layout, label_of: Callable[[Edge], str]) -> Iterator[str]:
    labels: dict[tuple[str, str], list[str]] = {}
    for edge in graph.edges:
        labels.setdefault((edge.source, edge.target), []).append(label_of(edge))
    said = {pair: ", ".join(words) for pair, words in labels.items() if pair in layout.routes}
    usual = Counter(said.values()).most_common(1)[0][0] if len(said) > _MAX_LABELS else None
    for pair, words in said.items():
        points = layout.routes[pair]
        title = _text(f"{pair[0]} → {pair[1]}: {words}")
        yield f'<path d="{_curve(points)}" marker-end="url(#tip)"><title>{title}</title></path>'
    for pair, words in said.items():
        if words != usual:
            yield _label(words, layout.routes[pair])


def _boxes(nodes: dict[str, Node], layout: Layout) -> Iterator[str]:
    for name, box in layout.boxes.items():
        node = nodes[name]
        role = " ".join(word for word, wanted in (("root", node.kind), ("bad", not node.ok)) if wanted)
        yield f'<g class="{role}">' if role else "<g>"
        yield f"<title>{_text(name)}{'' if node.ok else ' (has errors)'}</title>"
        yield (
            f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" '
            f'height="{_number(box.height)}" rx="6"/>'
        )
        yield from _words(node, box)
        yield "</g>"


def _words(node: Node, box: Box) -> Iterator[str]:
    x, middle = _number(box.x + _PADDING), box.y + box.height / 2
    if node.kind is None:
        yield f'<text x="{x}" y="{_number(middle + 4)}">{_text(_short(node.name))}</text>'
        return
    yield f'<text x="{x}" y="{_number(middle - 1)}">{_text(_short(node.name))}</text>'
    yield f'<text class="kind" x="{x}" y="{_number(middle + 11)}">{_text(node.kind)}</text>'


def _width(node: Node) -> float:
    widest = max(cells(_short(node.name)), cells(node.kind or "") * 10 / 12)
    return widest * _CELL + 2 * _PADDING


def _short(name: str) -> str:
    """A name that fits: the end of a path tells more than its beginning, and both tell more than the middle."""
    name = visible(name)
    if len(name) <= _LONGEST:
        return name
    keep = _LONGEST - 1
    return f"{name[: keep // 3]}…{name[-(keep - keep // 3) :]}"


def _curve(points: tuple[Point, ...]) -> str:
    """A smooth line through the points that leaves and arrives level."""
    parts = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for (x, y), (end_x, end_y) in pairwise(points):
        if y == end_y:
            parts.append(f"L{_number(end_x)} {_number(end_y)}")
        else:
            bend = (end_x - x) / 2
            controls = f"{_number(x + bend)} {_number(y)}, {_number(end_x - bend)} {_number(end_y)}"
            parts.append(f"C{controls}, {_number(end_x)} {_number(end_y)}")
    return " ".join(parts)


def _label(words: str, points: tuple[Point, ...]) -> str:
    """Words at the end of an arrow, where arrows from one box have parted."""
    (start_x, _), (x, y) = points[-2:]
    side, anchor = (-12, "end") if start_x < x else (12, "start")
    place = f'x="{_number(x + side)}" y="{_number(y - 5)}" text-anchor="{anchor}"'
    return f'<text class="how" {place}>{_text(words)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(visible(text))
