"""A graph as one self-contained picture, in the colours of the reader: light or dark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise

import msgspec

from equipage.core.text import visible
from equipage.render.text import cells
from equipage.views.graph import Edge, Graph, Node

# --- layout ------------------------------------------------------------------------------------
# Where the boxes of a graph go: layers from left to right, few crossings, no overlaps.
#
# Every edge leads to the right. A file stands one layer behind the last one that brings it; an edge that passes
# layers gets a waypoint in each, so that it runs between the boxes. The order inside a layer is improved by
# sweeps that put each box beside its neighbours.

_SWEEPS = 6
#: Rows are shared out to boxes and waypoints; a waypoint takes less room than a box.
_ROW, _WAYPOINT_ROW = 44.0, 16.0
_COLUMN_GAP, _MARGIN = 96.0, 24.0

Point = tuple[float, float]


class Box(msgspec.Struct, frozen=True):
    """A placed box: its top left corner and its size."""

    x: float
    y: float
    width: float
    height: float


class Layout(msgspec.Struct, frozen=True):
    """Boxes by name, and for each edge the points it goes through."""

    width: float
    height: float
    boxes: Mapping[str, Box]
    routes: Mapping[tuple[str, str], tuple[Point, ...]]


#: A box is its name; a waypoint is the edge it belongs to, and its layer.
_Slot = str | tuple[str, str, int]


def lay_out(
    names: Sequence[str],
    edges: Sequence[tuple[str, str]],
    width_of: Callable[[str], float],
    height: float,
) -> Layout:
    """Boxes of the given widths and one height, and the ways of the edges between them."""
    forward = _without_cycles(names, edges)
    ranks = _ranks(names, forward)
    columns, links = _columns(names, forward, ranks)
    columns = _untangled(columns, links)
    return _placed(columns, links, edges, width_of, height)


def _without_cycles(
    names: Sequence[str], edges: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The edges with those turned around that would lead back, and without loops."""
    below: dict[str, list[str]] = {name: [] for name in names}
    for start, end in edges:
        if start != end:
            below[start].append(end)
    state: dict[str, int] = {}
    back: set[tuple[str, str]] = set()
    targets = {end for start, end in edges if start != end}
    for name in sorted(names, key=lambda each: each in targets):
        stack = [(name, iter(below[name]))] if name not in state else []
        state.setdefault(name, 1)
        while stack:
            here, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[here] = 2
                stack.pop()
            elif state.get(following) == 1:
                back.add((here, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(below[following])))
    turned = (
        (end, start) if (start, end) in back else (start, end)
        for start, end in edges
        if start != end
    )
    return list(dict.fromkeys(turned))


def _ranks(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each box: one behind the last that leads to it."""
    ranks = dict.fromkeys(names, 0)
    waiting = dict.fromkeys(names, 0)
    below: dict[str, list[str]] = {name: [] for name in names}
    for start, end in edges:
        waiting[end] += 1
        below[start].append(end)
    ready = [name for name in names if not waiting[name]]
    while ready:
        here = ready.pop()
        for end in below[here]:
            ranks[end] = max(ranks[end], ranks[here] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return ranks


def _columns(
    names: Sequence[str], edges: Sequence[tuple[str, str]], ranks: Mapping[str, int]
) -> tuple[list[list[_Slot]], list[tuple[_Slot, _Slot]]]:
    """What stands in each layer, waypoints included, and the short links between neighbouring layers."""
    columns: list[list[_Slot]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for name in names:
        columns[ranks[name]].append(name)
    links: list[tuple[_Slot, _Slot]] = []
    for start, end in edges:
        last: _Slot = start
        for rank in range(ranks[start] + 1, ranks[end]):
            point: _Slot = (start, end, rank)
            columns[rank].append(point)
            links.append((last, point))
            last = point
        links.append((last, end))
    return columns, links


def _untangled(
    columns: list[list[_Slot]], links: Sequence[tuple[_Slot, _Slot]]
) -> list[list[_Slot]]:
    """The columns, each sorted by where its neighbours stand; the best of a few sweeps."""
    before: dict[_Slot, list[_Slot]] = {}
    after: dict[_Slot, list[_Slot]] = {}
    for start, end in links:
        after.setdefault(start, []).append(end)
        before.setdefault(end, []).append(start)
    best, fewest = columns, _crossings(columns, after)
    for sweep in range(_SWEEPS if fewest else 0):
        downward = sweep % 2 == 0
        columns = _swept(columns, before if downward else after, downward=downward)
        crossings = _crossings(columns, after)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _swept(
    columns: list[list[_Slot]], beside: Mapping[_Slot, list[_Slot]], *, downward: bool
) -> list[list[_Slot]]:
    columns = [list(column) for column in columns]
    order = range(1, len(columns)) if downward else range(len(columns) - 2, -1, -1)
    for number in order:
        fixed = columns[number - 1 if downward else number + 1]
        height = {slot: place / max(1, len(fixed)) for place, slot in enumerate(fixed)}
        own = {
            slot: place / max(1, len(columns[number])) for place, slot in enumerate(columns[number])
        }

        def middle(
            slot: _Slot, height: Mapping[_Slot, float] = height, own: Mapping[_Slot, float] = own
        ) -> float:
            places = [height[each] for each in beside.get(slot, ()) if each in height]
            return sum(places) / len(places) if places else own[slot]

        columns[number].sort(key=middle)
    return columns


def _crossings(columns: list[list[_Slot]], after: Mapping[_Slot, list[_Slot]]) -> int:
    """How many pairs of links cross, counted layer by layer with a Fenwick tree."""
    total = 0
    for left, right in pairwise(columns):
        place = {slot: number for number, slot in enumerate(right)}
        ends = [end for slot in left for end in sorted(place[each] for each in after.get(slot, ()))]
        counts = [0] * (len(right) + 1)
        for seen, end in enumerate(ends):
            total += seen - _sum(counts, end + 1)
            number = end + 1
            while number < len(counts):
                counts[number] += 1
                number += number & -number
    return total


def _sum(counts: Sequence[int], number: int) -> int:
    total = 0
    while number > 0:
        total += counts[number]
        number -= number & -number
    return total


def _placed(
    columns: list[list[_Slot]],
    links: Sequence[tuple[_Slot, _Slot]],
    edges: Sequence[tuple[str, str]],
    width_of: Callable[[str], float],
    height: float,
) -> Layout:
    middles = _middles(columns, links)
    boxes: dict[str, Box] = {}
    waypoints: dict[tuple[str, str], list[Point]] = {}
    x = _MARGIN
    for column in columns:
        width = max((width_of(slot) for slot in column if isinstance(slot, str)), default=0.0)
        for slot in column:
            if isinstance(slot, str):
                boxes[slot] = Box(x, middles[slot] - height / 2, width_of(slot), height)
            else:
                passing = ((x, middles[slot]), (x + width, middles[slot]))
                waypoints.setdefault(slot[:2], []).extend(passing)
        x += width + _COLUMN_GAP
    bottom = max((middles[slot] for column in columns for slot in column), default=0.0)
    routes = {edge: _route(edge, boxes, waypoints) for edge in edges if edge[0] != edge[1]}
    return Layout(x - _COLUMN_GAP + _MARGIN, bottom + height / 2 + _MARGIN, boxes, routes)


def _middles(
    columns: list[list[_Slot]], links: Sequence[tuple[_Slot, _Slot]]
) -> dict[_Slot, float]:
    """How far down each slot's middle stands: near its neighbours, in order, at least a row apart."""
    beside: dict[_Slot, list[_Slot]] = {}
    for start, end in links:
        beside.setdefault(start, []).append(end)
        beside.setdefault(end, []).append(start)
    tallest = max(range(len(columns)), key=lambda number: _needed(columns[number]), default=0)
    middles: dict[_Slot, float] = {}
    for number in (*range(tallest, len(columns)), *range(tallest - 1, -1, -1)):
        wished = [
            _wish([middles[each] for each in beside.get(slot, ()) if each in middles])
            for slot in columns[number]
        ]
        middles |= dict(zip(columns[number], _spread(columns[number], wished), strict=True))
    top = min(middles.values(), default=0.0)
    return {slot: y - top + _MARGIN + _ROW / 2 for slot, y in middles.items()}


def _wish(places: Sequence[float]) -> float | None:
    return sum(places) / len(places) if places else None


def _space(slot: _Slot) -> float:
    return _ROW if isinstance(slot, str) else _WAYPOINT_ROW


def _needed(column: Sequence[_Slot]) -> float:
    return sum(map(_space, column))


def _spread(column: Sequence[_Slot], wished: Sequence[float | None]) -> list[float]:
    """Places as wished, moved apart where they would touch; a crowd stays centred on what it wished for."""
    places: list[float] = []
    last = 0.0
    for number, slot in enumerate(column):
        gap = (_space(column[number - 1]) + _space(slot)) / 2 if number else 0.0
        least = last + gap if number else None
        wish = wished[number]
        last = (least or 0.0) if wish is None else wish if least is None else max(wish, least)
        places.append(last)
    pushed = [place - wish for place, wish in zip(places, wished, strict=True) if wish is not None]
    shift = sum(pushed) / len(pushed) if pushed else 0.0
    return [place - shift for place in places]


def _route(
    edge: tuple[str, str],
    boxes: Mapping[str, Box],
    waypoints: Mapping[tuple[str, str], list[Point]],
) -> tuple[Point, ...]:
    """From the side of one box to the side of the other; an edge that leads back leaves to the left."""
    start, end = boxes[edge[0]], boxes[edge[1]]
    points = waypoints.get(edge) or list(reversed(waypoints.get((edge[1], edge[0]), [])))
    if start.x < end.x:
        return (
            (start.x + start.width, start.y + start.height / 2),
            *points,
            (end.x, end.y + end.height / 2),
        )
    return (
        (start.x, start.y + start.height / 2),
        *points,
        (end.x + end.width, end.y + end.height / 2),
    )


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
        "\n".join(
            [
                *_head(layout, graph),
                *_arrows(graph, layout, label_of),
                *_boxes(nodes, layout),
                "</svg>",
            ]
        )
        + "\n"
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
        role = " ".join(
            word for word, wanted in (("root", node.kind), ("bad", not node.ok)) if wanted
        )
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
