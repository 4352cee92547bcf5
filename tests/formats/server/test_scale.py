"""Large configurations: time grows with their size, memory with what differs."""

from __future__ import annotations

import tracemalloc

import pytest

import lab
from clock import SLACK, Clock
from equipage.files.memory import Memory
from equipage.loading.pipeline import Outcome

TOOL = """\
tool: {name: t%d, description: d, inputSchema: {type: object, properties: {a: {type: number}}}}
response: {content: [{type: text, text: hi}]}
"""


def distinct(count: int) -> dict[str, str]:
    files = {f"library/t{number}.yaml": TOOL % number for number in range(count)}
    listed = "".join(f"  - $include: t{number}.yaml\n" for number in range(count))
    return {"main.yaml": f"server: {{name: a}}\ntools:\n{listed}", **files}


def load(files: dict[str, str]) -> Outcome:
    contents = {f"/work/{name}": text.encode() for name, text in files.items()}
    return lab.load("main.yaml", system=Memory(contents, root="/work"))


def seconds(files: dict[str, str]) -> float:
    """The best of three, in time of this work alone."""
    times = []
    for _ in range(3):
        with Clock() as clock:
            assert load(files).ok
        times.append(clock.seconds)
    return min(times)


@pytest.mark.requirement("NFR-001")
def test_a_hundred_includes_load_in_less_than_a_second() -> None:
    assert seconds(distinct(100)) < 1


@pytest.mark.requirement("NFR-001")
def test_time_grows_with_the_number_of_includes() -> None:
    few, many = seconds(distinct(100)), seconds(distinct(1000))
    assert many < 20 * few, "ten times the files; quadratic work would take a hundred times as long"


@pytest.mark.requirement("NFR-002")
def test_a_file_included_often_takes_the_room_of_one() -> None:
    """What an override does not touch is shared, so a thousand uses cost little more than their
    names."""
    files = {"main.yaml": "server: {name: a}\ntools:\n", "library/t.yaml": TOOL % 0}
    files["library/t.yaml"] += "# " + "x" * 10_000 + "\n"
    files["library/t.yaml"] = files["library/t.yaml"].replace("hi", "hi " * 5_000)
    files["main.yaml"] += "".join(
        f"  - {{$include: t.yaml, override: {{tool: {{name: n{number}}}}}}}\n"
        for number in range(1000)
    )
    tracemalloc.start()
    outcome = load(files)
    current, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.ok
    texts = {id(tool.response.content[0].text) for tool in outcome.config.baseline.tools}
    assert len(texts) == 1
    assert peak < 20_000_000, peak
    assert current < 15_000_000, current


@pytest.mark.requirement("F-002", "F-007a")
def test_a_thousand_overrides_of_a_large_tool() -> None:
    """As many tools as the limit allows, made of one: more than a million values, nearly all of
    them shared."""
    properties = "".join(f"      p{n}: {{type: string, description: d}}\n" for n in range(400))
    schema = f"  inputSchema:\n    type: object\n    properties:\n{properties}"
    tool = f"tool:\n  name: t\n  description: d\n{schema}"
    listed = "".join(
        f"  - {{$include: t.yaml, override: {{tool: {{name: n{number}}}}}}}\n"
        for number in range(1000)
    )
    files = {
        "main.yaml": f"server: {{name: a}}\ntools:\n{listed}",
        "library/t.yaml": tool + "response: {content: [{type: text, text: hi}]}\n",
    }
    with Clock() as clock:
        outcome = load(files)
    assert outcome.ok
    schemas = {id(each["tool"]["inputSchema"]) for each in outcome.tree.value["baseline"]["tools"]}
    assert len(schemas) == 1
    assert clock.seconds < 2 * SLACK
