"""What the commands write: first files that check clean, whole documents, completion scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from equipage.loading.recognise import kind_named, names
from lab import environment, in_process, settle

KINDS = [name for name in names() if kind_named(name).presentation.example is not None]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, tmp_path, environment())
    Path(".git").mkdir()


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_file_checks_clean(kind: str) -> None:
    code, out, err = in_process(["new", kind, "first-1"])
    assert code == 0, err
    path = out.strip()
    assert Path(path).is_file()
    advice = err.strip().partition("equipage check ")[2].split()
    assert in_process(["check", "--strict", *advice]) == (0, "1 file checked, nothing found\n", "")
    assert in_process(["new", kind, "first-1"])[0] == 2
    assert in_process(["new", kind, "first-1", "--stdout"])[1] == Path(path).read_text()


@pytest.mark.parametrize("kind", names())
def test_every_kind_has_a_schema(kind: str) -> None:
    code, out, _ = in_process(["schema", kind])
    assert code == 0
    assert json.loads(out)["$schema"].endswith("/draft/2020-12/schema")


def test_a_document_is_replaced_in_one_step() -> None:
    Path("lock.json").write_text("old")
    Path("lock.json").chmod(0o640)
    in_process(["new", "server", "shop"])
    assert in_process(["lock", "shop.yaml", "-o", "lock.json"])[0] == 0
    assert json.loads(Path("lock.json").read_text())["canonical"] == 1
    assert Path("lock.json").stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in Path().iterdir()) == [".git", "lock.json", "shop.yaml"]
    code, _, err = in_process(["lock", "shop.yaml", "-o", "nowhere/lock.json"])
    assert (code, err) == (
        2,
        "equipage: cannot write nowhere/lock.json: No such file or directory\n",
    )


def test_a_lock_is_the_same_from_every_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    in_process(["new", "server", "shop"])
    first = in_process(["lock", "shop.yaml"])[1]
    Path("sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert in_process(["lock", "../shop.yaml"])[1] == first


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_accepted_by_their_shell(shell: str) -> None:
    script = in_process(["completion", shell])[1]
    assert "unknown-field" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_bash_completes() -> None:
    script = in_process(["completion", "bash"])[1]
    Path("server.yaml").write_text("")
    probe = """
    t() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _equipage; echo "${COMPREPLY[*]}"; }
    t equipage sh; t equipage check --ou; t equipage check --output-format ""; t equipage rule include-c; t equipage show se
    """
    done = subprocess.run(
        ["bash", "-c", script + probe], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "show",
        "--output-format",
        "text json sarif github",
        "include-cycle",
        "server.yaml",
    ]
