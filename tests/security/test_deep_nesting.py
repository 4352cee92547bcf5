"""Deep nesting ends in a coded finding at once, in every syntax, also in a thread with a small
stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from clock import SLACK, Clock
from equipage.loading.pipeline import Outcome
from lab import in_small_thread

from . import world
from .world import Sample, load

DEPTHS = [10, 100, 1_000, 10_000, 100_000, 1_000_000]
#: What a load may take, in time of its own.
SECONDS = 0.2 * SLACK

#: One text of that depth, what holds it, and the largest depth that still fits into a file.
Form = tuple[Sample, str, str, str, str, int]
FORMS: dict[str, Form] = {
    "yaml flow lists": (world.SERVER, "server: ", "[", "]", "\ntools: []\n", 1_000_000),
    "yaml flow lists, open": (world.SERVER, "server: ", "[", "", "", 1_000_000),
    "yaml flow mappings": (world.SERVER, "server: ", "{a: ", "}", "\ntools: []\n", 1_000_000),
    "yaml block lists": (world.SERVER, "server:\n  ", "- ", "", "x\n", 1_000_000),
    "yaml explicit keys": (world.SERVER, "", "? ", "", "x\n", 1_000_000),
    "yaml in a toolpack": (world.TOOLPACK, "inputSchema: ", "{not: ", "}", "\n", 1_000_000),
    "yaml in a blueprint": (world.BLUEPRINT, "id: x\nflow: ", "{body: ", "}", "\n", 1_000_000),
    "json lists": (world.BLUEPRINT_JSON, '{"id": ', "[", "]", "}", 1_000_000),
    "json lists, open": (world.BLUEPRINT_JSON, '{"id": ', "[", "", "", 1_000_000),
    "json objects": (world.BLUEPRINT_JSON, '{"flow": ', '{"a":', "}", "}", 1_000_000),
    "toml lists": (world.SETTINGS, "a = ", "[", "]", "\n", 1_000_000),
    "toml lists, open": (world.SETTINGS, "a = ", "[", "", "", 1_000_000),
    "toml inline tables": (world.SETTINGS, "a = ", "{a = ", "}", "\n", 1_000_000),
    "toml dotted keys": (world.SETTINGS, "", "a.", "", "a = 1\n", 1_000_000),
    "toml headers": (world.SETTINGS, "[", "a.", "", "a]\n", 1_000_000),
    "toml lists of tables": (world.SETTINGS, "[[", "a.", "", "a]]\n", 1_000_000),
    "toml in brackets and keys": (world.SETTINGS, "", "a.b.c = [{", "", "", 100_000),
    "a yaml header": (world.PROFILE, "---\ndescription: ", "[", "]", "\n---\nText.\n", 1_000_000),
    "a yaml header of an agent": (
        world.AGENT_MD,
        "---\nname: ",
        "{a: ",
        "}",
        "\n---\nText.\n",
        1_000_000,
    ),
    "a toml header": (
        world.PROFILE_TOML_HEADER,
        "+++\na = ",
        "[",
        "]",
        "\n+++\nText.\n",
        1_000_000,
    ),
    "a folder profile": (world.PROFILE_FOLDER, "a = ", "{a = ", "}", "\n", 1_000_000),
}
REFUSED = {"nesting-too-deep", "schema-too-deep", "json-syntax", "yaml-syntax", "toml-syntax"}


@pytest.mark.parametrize("small", [False, True], ids=["ordinary", "512 kB stack"])
@pytest.mark.parametrize("form", FORMS)
def test_depth_is_a_finding(form: str, tmp_path: Path, *, small: bool) -> None:
    sample, before, opening, closing, after, most = FORMS[form]
    for depth in DEPTHS:
        if depth > most:
            break
        text = before + opening * depth + closing * depth + after
        if len(text) > 9_000_000:
            break

        def run(text: str = text) -> tuple[Outcome, float]:
            with Clock() as clock:
                outcome = load(sample, tmp_path, text)
            return outcome, clock.seconds

        outcome, seconds = in_small_thread(run) if small else run()
        assert not outcome.ok
        world.no_bug(outcome.diagnostics)
        if depth >= 1_000:
            assert {each.code for each in outcome.errors} & REFUSED, outcome.diagnostics[:3]
        assert seconds < SECONDS, f"{seconds:.2f} s for a depth of {depth}"


def test_block_mappings(tmp_path: Path) -> None:
    """Block mappings need an indentation that grows with the depth: 3,000 levels are 9 MB."""
    text = "".join("  " * number + "a:\n" for number in range(2_900))
    with Clock() as clock:
        outcome = load(world.SERVER, tmp_path, text)
    assert world.codes(outcome) == {"nesting-too-deep", "unknown-field"}
    assert clock.seconds < SECONDS


@pytest.mark.parametrize("depth", [20, 60, 100, 127])
@pytest.mark.parametrize(
    "sample", [world.SERVER, world.TOOLPACK, world.BLUEPRINT], ids=lambda each: each.kind
)
def test_what_parses_survives_the_later_stages_in_a_small_stack(
    sample: Sample, depth: int, tmp_path: Path
) -> None:
    """The deepest text that is parsed goes through models, rules, freezing and the digest."""
    slot = {"server": "metadata", "toolpack": "outputSchema", "blueprint": "metadata"}[sample.kind]
    opening = "{not: " if sample.kind == "toolpack" else "{a: "
    text = f"{sample.text}{slot}: {opening * (depth - 2)}{'{}'}{'}' * (depth - 2)}\n"
    if sample.kind == "toolpack":
        text = "".join(
            line for line in text.splitlines(True) if not line.startswith("outputSchema: {type")
        )

    def run() -> Outcome:
        outcome = load(sample, tmp_path, text)
        loaded = outcome.loaded_or_none()
        if loaded is not None:
            assert loaded.digest
            assert loaded.to_dict()
        return outcome

    outcome = in_small_thread(run)
    world.no_bug(outcome.diagnostics)
