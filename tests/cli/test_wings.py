"""Commands of other distributions: found by entry points, and missed with the line to install them."""

from __future__ import annotations

import argparse
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import equipage
from equipage.cli import COMMANDS, wings
from equipage.cli.arguments import Parser
from equipage.cli.output import Output
from lab import in_process, write, write_file


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


SERVER = "server: {name: x}\ntools: []\n"


def install(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Make these entry points the only ones; the names of Python have `_` for `-`."""
    found = [EntryPoint(name.replace("_", "-"), at, wings.GROUP) for name, at in points.items()]
    monkeypatch.setattr(wings, "_entry_points", lambda: iter(found))


def declare(parser: Parser) -> None:
    parser.describe("Say something.")
    parser.add_argument("--word", default="hello")


def say(options: argparse.Namespace, output: Output) -> int:
    output.write_data(f"{options.word}\n")
    return 0


SAY = wings.Command("say something", declare, say)
HERE = f"{__name__}:SAY"


@pytest.mark.parametrize(
    ("arguments", "what", "distribution"),
    [
        (["run", "count"], "`equipage run`", "equipage-serve"),
        (["help", "run"], "`equipage run`", "equipage-serve"),
        (["expect", "a", "b"], "`equipage expect`", "equipage-faults"),
        (["serve", "server.yaml"], "serving server configurations", "equipage-faults"),
        (
            ["serve", "server.yaml", "--era", "25"],
            "serving server configurations",
            "equipage-faults",
        ),
        (["serve", ".", "--allow", "python"], "serving tools and skills", "equipage-serve"),
    ],
)
def test_what_is_missing_is_named_with_the_line_that_installs_it(
    arguments: list[str], what: str, distribution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    write_file("server.yaml", SERVER)
    said = (
        f"equipage: {what} needs {distribution}, which is not installed: "
        f"run `pip install . ./packages/{distribution}` in a clone of equipage\n"
    )
    assert in_process(arguments) == (2, "", said)


def test_tools_may_have_any_name_that_the_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, serve_packs=HERE)
    write_file("equipage.toml", '[kinds]\n"pack.yaml" = "toolpack"\n')
    write_file("pack.yaml", "id: a\n")
    assert in_process(["serve", "pack.yaml", "--word", "hi"]) == (0, "hi\n", "")


def test_a_value_that_is_taken_for_a_path_is_an_unknown_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch)
    write_file("server.yaml", SERVER)
    done = in_process(["serve", "--era", "25", "server.yaml"])
    assert done.code == 2
    assert done.err.startswith("equipage: unknown arguments: `--era`; install what knows them: ")
    assert "pip install . ./packages/equipage-faults" in done.err


def test_an_unknown_option_is_an_error_when_only_the_other_distribution_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, serve_server=HERE)
    write_file("server.yaml", SERVER)
    assert in_process(["serve", "server.yaml", "--word", "hi"]).out == "hi\n"
    done = in_process(["serve", "server.yaml", "--allow", "python"])
    assert done.code == 2
    assert "unknown arguments: `--allow`" in done.err


def test_a_command_of_anyone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, say=HERE)
    assert in_process(["say", "--word", "hi"]) == (0, "hi\n", "")
    assert "Say something." in in_process(["say", "--help"]).out


def test_a_command_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, say="no_such_module:SAY")
    done = in_process(["say"])
    assert done.code == 2
    assert "the command `say` of no_such_module:SAY cannot be loaded" in done.err


@pytest.mark.parametrize("words", [["run", "--help"], ["serve", "."], ["serve", "--help"]])
def test_a_distribution_of_another_version_is_not_run(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = "run = equipage_serve.cli:RUN\nserve-packs = equipage_serve.cli:SERVE\n"
    files = {"entry_points.txt": f"[{wings.GROUP}]\n{points}"}
    files["METADATA"] = "Metadata-Version: 2.4\nName: equipage-serve\nVersion: 0.0.1\n"
    write(tmp_path / "site/equipage_serve-0.0.1.dist-info", files)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    said = (
        "equipage: equipage-serve is installed in version 0.0.1, and equipage in "
        f"{equipage.__version__}: run `pip install . ./packages/equipage-serve` in a clone of "
        "equipage\n"
    )
    assert in_process(words) == (2, "", said)


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"serve", "completion"}))
def test_a_command_of_ours_looks_at_no_entry_point(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise AssertionError("entry points were looked at")

    monkeypatch.setattr(wings, "_entry_points", fail)
    assert in_process([name, "--help"]).code == 0
