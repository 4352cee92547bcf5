"""A file that has no value has an error, and a command that ends with 1 says why."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import msgspec
import pytest

import equipage
from equipage.cli import main
from equipage.cli.output import Output
from equipage.cli.request import loaded_of
from equipage.core import codes
from equipage.core.source import Source, Span
from equipage.loading.pipeline import load_text
from equipage.loading.session import Parsed, Request, Session
from equipage.project import registry

#: Texts that are nothing, or nearly nothing, in one syntax or another.
NOTHING = (
    *("", " \n", "\ufeff", "# x\n", "// x\n", "null\n", "~", "[]", "{}", "{", "3", '"a"', "text"),
    *("---\n", "---\n---\n", "---\n---\ntext", "---\n- a\n---\nx", "---\nname: [\n---\n"),
)


@pytest.mark.parametrize("name", registry.built_in_kinds())
def test_what_has_no_value_has_an_error(name: str) -> None:
    kind = registry.format_named(name)
    for extension in kind.reading.syntaxes:
        for text in NOTHING:
            request = Request(env={})
            outcome = load_text(text, kind, request, name=f"f{extension}", base="/nowhere")
            assert (outcome.loaded_or_none() is None) == bool(outcome.errors), (extension, text)


@pytest.mark.parametrize("name", ["claude-lsp", "codex-hooks", "cursor-hooks"])
def test_an_empty_file_of_json_is_an_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.json"
    file.write_text(" \n")
    for command in ("check", "show", "explain"):
        words = ["name"] if command == "explain" else []
        assert main([command, "--kind", name, str(file), *words]) == 1, command
        said = "".join(capsys.readouterr())
        assert "error[json-syntax]: not valid JSON: the file is empty" in said, command
    with pytest.raises(equipage.LoadError) as raised:
        equipage.load(file, kind=name)
    assert [each.code for each in raised.value.errors] == ["json-syntax"]


def test_a_kind_that_reads_nothing_and_only_warns_is_not_silent() -> None:
    """As a kind of somebody else may do."""
    kind = registry.format_named("cursor-hooks")

    def read(source: Source, session: Session) -> Parsed:
        warning = codes.DOCUMENT_EMPTY.at(span=Span(source, 0, 0), kind="x", what="File")
        return None, [msgspec.structs.replace(warning, severity="warning")]

    own = msgspec.structs.replace(kind, reading=msgspec.structs.replace(kind.reading, read=read))
    outcome = load_text("{}", own, Request(env={}), name="f.json", base="/nowhere")
    for strict in (False, True):
        with pytest.raises(equipage.LoadError, match="document-empty"):
            outcome.result(strict=strict)
    with pytest.raises(equipage.LoadError, match="document-empty"):
        loaded_of(outcome, Namespace(file="f.json"), Output())
