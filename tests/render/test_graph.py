"""Graphs as text: names cannot break out of Mermaid or DOT, nor out of a picture."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

from equipage.render.graph import dot, mermaid
from equipage.views.graph import Edge, Graph, Node

HOSTILE = '</text><script>alert("x")</script>]] --> "; \u202e\n`{}` \\N \\G &lt; é.yaml'
GRAPH = Graph((Node("a"), Node(HOSTILE, "server")), (Edge("a", HOSTILE, HOSTILE),))


def test_names_cannot_break_out_of_mermaid() -> None:
    text = mermaid(GRAPH)
    assert "<script" not in text
    assert "\u202e" not in text
    assert text.count('"') % 2 == 0
    assert len(text.splitlines()) == 6


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_names_cannot_break_out_of_a_picture() -> None:
    text = dot(GRAPH)
    assert "\u202e" not in text
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert b"error" not in done.stderr
    picture = ET.fromstring(done.stdout)
    assert not picture.findall(".//{*}script")
    assert len(picture.findall(".//{*}g[@class='node']")) == 2
    assert len(picture.findall(".//{*}g[@class='edge']")) == 1
    shown = "".join(each.text or "" for each in picture.findall(".//{*}text"))
    assert "\\N \\G &lt; é.yaml" in shown.replace("\xa0", " ")


def test_a_label_says_how_often() -> None:
    graph = Graph(
        (Node("a", "server", ok=False), Node("b")), (Edge("a", "b", "read from here", 2),)
    )
    assert '"a" [label="a\\nserver", fillcolor="#fdecea", color="#c0392b"];' in dot(graph)
    assert '"a" -> "b" [label=" reads ×2 \\n "];' in dot(graph)
    assert 'f0 -->|"reads #215;2"| f1' in mermaid(graph)
