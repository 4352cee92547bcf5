"""Graphs: boxes that do not overlap, arrows that lead to the right, text that cannot break out."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipage.render.graph import RENDERERS
from equipage.render.svg import lay_out
from equipage.views.graph import Edge, Graph, Node

HOSTILE = '</text><script>alert("x")</script>]] --> "; \u202e\n`{}` é.yaml'

EDGES = st.integers(1, 25).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=60),
    )
)


@given(EDGES)
@settings(deadline=None)
def test_boxes_never_overlap_and_every_edge_has_a_way(
    drawn: tuple[int, list[tuple[int, int]]],
) -> None:
    count, pairs = drawn
    names = [f"n{number}" for number in range(count)]
    edges = list(dict.fromkeys((names[start], names[end]) for start, end in pairs))
    layout = lay_out(names, edges, lambda name: 20.0 + 7 * len(name), 30.0)
    assert set(layout.boxes) == set(names)
    boxes = list(layout.boxes.values())
    for number, one in enumerate(boxes):
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= layout.width
        assert one.y + one.height <= layout.height
        for other in boxes[number + 1 :]:
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y
    assert set(layout.routes) == {edge for edge in edges if edge[0] != edge[1]}


def _graph(count: int) -> Graph:
    nodes = tuple(
        Node(
            f"library/{number:03}/{'long-' * 20}name.yaml",
            "server" if number < 3 else None,
            number != 2,
        )
        for number in range(count)
    )
    edges = tuple(
        Edge(nodes[number % 7].name, nodes[number].name, "included from here", 1 + number % 3)
        for number in range(7, count)
    )
    return Graph(nodes, edges)


@pytest.mark.parametrize("count", [1, 2, 200])
def test_a_picture_is_well_formed_and_of_sane_size(count: int) -> None:
    picture = ET.fromstring(RENDERERS["svg"](_graph(count)))
    assert len(picture.findall("{*}g")) == count
    assert float(picture.attrib["height"]) <= 60 + 50 * count
    assert float(picture.attrib["width"]) <= 2000


@pytest.mark.parametrize("name", RENDERERS)
def test_names_cannot_break_out(name: str) -> None:
    graph = Graph((Node("a"), Node(HOSTILE, "server")), (Edge("a", HOSTILE, HOSTILE),))
    text = RENDERERS[name](graph)
    assert "<script" not in text.replace("\\", "") or name == "dot"
    assert "\u202e" not in text
    if name == "svg":
        assert not ET.fromstring(text).findall(".//{*}script")
    if name == "mermaid":
        assert text.count('"') % 2 == 0
        assert len(text.splitlines()) == 6
