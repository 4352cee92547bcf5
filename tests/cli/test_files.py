"""What the commands write: first files that check clean, whole documents, completion scripts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from equipage.cli import COMMANDS, build_parser
from equipage.project.registry import built_in_kinds, format_named
from equipage.render import REPORTS
from lab import environment, in_process, settle

KINDS = [name for name in built_in_kinds() if format_named(name).presentation.example is not None]


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
    advice = err.strip().removesuffix("`").partition("equipage check ")[2].split()
    # What is missing beside it is the next step, and not a mistake in the file.
    lacking = "path-missing,workflow-not-compiled"
    result = in_process(["check", "--strict", "--ignore", lacking, *advice])
    assert result == (0, "1 file checked, no problems\n", "")
    assert in_process(["new", kind, "first-1"])[0] == 2
    assert in_process(["new", kind, "first-1", "--stdout"])[1] == Path(path).read_text()


@pytest.mark.parametrize("kind", built_in_kinds())
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
    first = in_process(["lock", "shop.yaml", "-o", "-"])[1]
    Path("sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert in_process(["lock", "../shop.yaml", "-o", "-"])[1] == first


# shtab's bash script completes with these functions; the last one is given the word.
_BASH = """
t() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=()
  _shtab_equipage "$1" "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}"
}
t equipage sh; t equipage check --ou; t equipage check --output-format ""
t equipage rule include-c; t equipage show --kind toolp; t equipage show se
"""
_FISH = """
complete --do-complete 'equipage sh' | string match -r '^[^\\t]+'
complete --do-complete 'equipage check --ou' | string match -r '^[^\\t]+'
complete --do-complete 'equipage check --output-format ' | string match -r '^[^\\t]+' | sort
complete --do-complete 'equipage rule include-c' | string match -r '^[^\\t]+'
complete --do-complete 'equipage show --kind toolp' | string match -r '^[^\\t]+'
complete --do-complete 'equipage show se' | string match -r '^[^\\t]+'
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_valid_and_knows_every_option(shell: str) -> None:
    code, script, _ = in_process(["completion", shell])
    assert code == 0
    for command in build_parser(*COMMANDS).commands.values():
        for action in command._actions:
            flags = [flag.removeprefix("--") for flag in action.option_strings]
            assert action.help == "==SUPPRESS==" or all(flag in script for flag in flags)
    assert "unknown-field" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize(("shell", "probe"), [("bash", _BASH), ("fish", _FISH)])
def test_a_shell_completes(shell: str, probe: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    Path("server.yaml").write_text("")
    script = in_process(["completion", shell])[1]
    done = subprocess.run([shell, "-c", script + probe], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "show",
        *(["--output-format", "--output"] if shell == "bash" else ["--output", "--output-format"]),
        *(REPORTS if shell == "bash" else sorted(REPORTS)),
        "include-cycle",
        "toolpack",
        "server.yaml",
    ]


def test_without_shtab_a_sentence_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, out, err = in_process(["completion", "bash"])
    assert (code, out) == (2, "")
    assert "`pip install 'shtab>=1.9.2'`" in err
