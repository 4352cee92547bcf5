"""A kind in a package of its own passes the same case runner as ours."""

from __future__ import annotations

import pydoc
import re
from pathlib import Path
from types import ModuleType

import pytest

import equipage
from casefiles import Case, cases_in, check_case
from equipage import plugin
from equipage.cli import main
from equipage.loading.editor_schema import schema_for
from equipage.project import registry
from lab import PLUGIN, matching, write
from loading.test_editor_schema import authored, validator

CASES = list(cases_in(PLUGIN / "cases"))


pytestmark = pytest.mark.usefixtures("playbook_installed")


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, tmp_path, monkeypatch)


def test_every_code_occurs_in_a_case() -> None:
    told = "".join(case.findings for case in CASES)
    assert not [
        code.name
        for code in registry.format_named("playbook").codes
        if f"[{code.name}]" not in told
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_every_case_that_loads_validates(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = case.load()
    if outcome.ok:
        validator(schema_for(registry.format_named("playbook"))).validate(authored(outcome))


def test_it_loads_like_any_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PLUGIN / "examples")
    loaded = equipage.load("release.yaml", kind="playbook")
    assert [step.id for step in loaded.config.steps] == ["make-test", "build", "confirm", "publish"]
    assert loaded.config.steps[2].ask.startswith("The build is ready.")


def test_the_command_knows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(PLUGIN / "examples")
    assert main(["check", "--kind", "playbook", "release.yaml"]) == 0
    assert capsys.readouterr().out == "2 files checked, no problems\n"


def test_below_a_folder_it_reads_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a format that is named by its module does; every other file is of another kind."""
    files = {"a.yaml": "playbook: p\nsteps: [make test]\n", "b.md": "# Notes\n"}
    monkeypatch.chdir(write(tmp_path, files))
    assert main(["check", "--kind", "playbook", "."]) == 0
    assert capsys.readouterr().out == "1 file checked, no problems\n"


def test_its_codes_are_known_to_comments_and_to_sarif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text(
        "playbook: p\nsteps: [{id: a, run: b, needs: [c]}]\n"
        "x-y: 1 # equipage: ignore[step-not-before]\n"
    )
    assert main(["check", "--kind", "playbook", "p.yaml"]) == 1
    assert "warning[unused-ignore]" in capsys.readouterr().out
    assert main(["check", "--kind", "playbook", "p.yaml", "--output-format", "sarif"]) == 1
    assert "A step can only wait for a step of the same playbook." in capsys.readouterr().out


def test_its_codes_are_known_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text("playbook: p\nsteps: [{id: a, run: b, needs: [c]}]\n")
    assert main(["rule", "step-unknown"]) == 0
    assert "step-unknown (error)" in capsys.readouterr().out
    assert main(["check", "--kind", "playbook", "p.yaml", "--select", "step-unknown"]) == 1
    assert main(["check", "--kind", "playbook", "p.yaml", "--ignore", "step-unknown"]) == 0
    capsys.readouterr()
    assert main(["rule", "step-unknwon"]) == 2
    assert "did you mean `step-unknown`?" in capsys.readouterr().err


def test_what_its_shorthand_makes_has_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text("playbook: p\nsteps:\n  - make test\n")
    loaded = equipage.load("p.yaml", kind="playbook")
    assert loaded.explain("steps[0].run").settings[0].place == "p.yaml:3:5"
    span = loaded.locate("steps[0].run")
    assert span is not None
    assert span.text() == "make test"


@pytest.fixture
def broken_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the other, a package whose entry points lead nowhere."""
    record = tmp_path / "equipage_broken-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: equipage-broken\nVersion: 1\n")
    (record / "entry_points.txt").write_text(
        "[equipage.formats]\ngone = equipage_gone:FORMAT\nodd = json:dumps\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("broken_installed")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "gone",
            "the package `equipage-broken` raises ModuleNotFoundError: No module named 'equipage_gone'",
        ),
        ("odd", "json:dumps of the package `equipage-broken` is not a `Format`"),
        ("servr", "there is no kind `servr`; did you mean `server`?"),
    ],
)
def test_a_broken_package_keeps_nobody_from_the_others(kind: str, words: str) -> None:
    with pytest.raises(equipage.UsageError) as raised:
        equipage.loads("a: 1", kind=kind)
    assert str(raised.value).endswith(words)
    assert registry.format_named("playbook").name == "playbook"


PUBLIC = (
    "import equipage",
    "from equipage import",
    "from equipage.plugin import",
    "from equipage_playbook",
)


def test_the_plugin_uses_the_public_face_alone() -> None:
    for path in matching(PLUGIN / "src", "**/*.py"):
        lines = [
            line
            for line in path.read_text().splitlines()
            if "equipage" in line and "import" in line
        ]
        assert all(line.startswith(PUBLIC) for line in lines), path


@pytest.mark.parametrize("module", [equipage, plugin])
def test_python_has_help_about_every_public_name(module: ModuleType) -> None:
    for name in set(module.__all__) - {"__version__"}:
        assert pydoc.render_doc(getattr(module, name)).startswith("Python Library Documentation")


def test_every_public_name_exists() -> None:
    assert plugin.__all__ == sorted(
        plugin.__all__, key=lambda name: (name[0].islower(), not name.isupper(), name)
    )
    assert all(hasattr(plugin, name) for name in plugin.__all__)


def test_the_how_to_shows_the_code_as_it_is() -> None:
    page = (PLUGIN.parents[1] / "docs" / "how-to" / "write-a-kind.md").read_text()
    code = {
        line.strip()
        for path in matching(PLUGIN / "src", "**/*.py")
        for line in path.read_text().splitlines()
    }
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shown = [
        line.strip().rstrip(",") for block in blocks for line in block.splitlines() if line.strip()
    ]
    assert len(shown) > 40
    assert not [line for line in shown if line not in code and f"{line}," not in code]
