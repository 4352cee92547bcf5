"""The client of pytest-lsp, which knows the protocol from its specification and not from us.

It refuses answers that are not of the types of the protocol, and warns about those that its
capabilities, which are those of an editor, do not allow: a warning fails a test here. The project
has an include, and the text of the included file is never saved: it defines the tool `shout`, and
on disk that tool is `echo`. `make test-lsp` installs pytest-lsp.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS
from equipage.lsp.protocol import Text, uri_of
from lab import repository
from lsp.talking import applied, edits_of
from lsp.test_inner_names import PHASED, PROJECT
from lsp.test_publishing import TOOL

if not os.environ.get("EQUIPAGE_TEST_LSP"):
    reason = "pytest-lsp is not installed; run `make test-lsp`"
    pytest.importorskip("pytest_lsp", reason=reason)

import pytest_lsp
from lsprotocol import converters
from lsprotocol import types as lsp

pytestmark = pytest.mark.asyncio

MAIN, INCLUDED = "main.yaml", "library/tools/echo.yaml"
UNSAVED = TOOL.replace("echo", "shout")
USING = PHASED.replace("call:echo", "call:shout").replace("name: echo", "name: shout")
USING = USING.replace("      echo:\n", "      shout:\n")


def registering() -> pytest_lsp.LanguageClient:
    """A client that lets the server register what it wants to watch, as its capabilities say."""
    made = pytest_lsp.make_test_lsp_client()
    made.registered = []

    @made.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def register(params: lsp.RegistrationParams) -> None:
        made.registered += [each.method for each in params.registrations]

    return made


SERVER = pytest_lsp.ClientServerConfig(
    server_command=[str(Path(sys.executable).with_name("equipage")), "lsp"],
    client_factory=registering,
)


class Editor:
    """What an editor does: it keeps the texts that are open and asks about places in them."""

    def __init__(self, client: pytest_lsp.LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.texts: dict[str, str] = {}
        self.version = 0

    def uri(self, name: str) -> str:
        return uri_of(str(self.folder / name))

    def write(self, name: str, text: str) -> None:
        """Open a text or replace it; nothing is saved."""
        self.version += 1
        if name in self.texts:
            document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri(name))
            change = lsp.TextDocumentContentChangeWholeDocument(text)
            self.client.text_document_did_change(
                lsp.DidChangeTextDocumentParams(document, [change])
            )
        else:
            item = lsp.TextDocumentItem(self.uri(name), "yaml", self.version, text)
            self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        self.texts[name] = text

    def at(self, name: str, mark: str, *, after: bool = False) -> dict[str, Any]:
        """The place of `mark`; every text here is plain ASCII, so all encodings agree."""
        before = self.texts[name][: self.texts[name].index(mark) + len(mark) * after]
        where = lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
        return {"text_document": lsp.TextDocumentIdentifier(self.uri(name)), "position": where}

    async def until(self, is_so: Callable[[], Any]) -> None:
        """Wait for what the server sends on its own; the bound is for busy machines."""
        async with asyncio.timeout(HANGS):
            while not is_so():
                await asyncio.sleep(0.02)

    async def shown(self, name: str, codes: list[str]) -> list[lsp.Diagnostic]:
        """The findings of a text, as soon as they are those with these codes."""

        def found() -> list[lsp.Diagnostic]:
            return list(self.client.diagnostics.get(self.uri(name), [lsp.Diagnostic(WHOLE, "")]))

        await self.until(lambda: [each.code for each in found()] == codes)
        return found()

    def apply(self, edit: lsp.WorkspaceEdit | None) -> None:
        """Change the open texts as a workspace edit says, and tell the server."""
        assert edit is not None
        plain = converters.get_converter().unstructure(edit, lsp.WorkspaceEdit)
        for uri, edits in edits_of(plain).items():
            (name,) = (name for name in self.texts if self.uri(name) == uri)
            self.write(name, applied(Text(self.texts[name], "utf-16"), edits))


WHOLE = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))


def capabilities(*, pulls: bool) -> lsp.ClientCapabilities:
    """Those of VS Code, as pytest-lsp has them; that version did not pull findings yet."""
    made = pytest_lsp.client_capabilities("visual-studio-code")
    if pulls:
        assert made.text_document is not None
        assert made.workspace is not None
        made.text_document.diagnostic = lsp.DiagnosticClientCapabilities()
        made.workspace.diagnostics = lsp.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    return made


async def _session(
    client: pytest_lsp.LanguageClient, folder: Path, *, pulls: bool
) -> AsyncIterator[None]:
    root = lsp.WorkspaceFolder(uri_of(str(repository(folder, PROJECT))), "project")
    client.offered = await client.initialize_session(
        lsp.InitializeParams(
            capabilities=capabilities(pulls=pulls), root_uri=root.uri, workspace_folders=[root]
        )
    )
    yield
    await client.shutdown_session()
    # What the server sent was of the protocol, and it ended when it was told to.
    assert client.error is None
    assert client._server.returncode == 0


@pytest_lsp.fixture(config=SERVER)
async def pushed(client: pytest_lsp.LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    async for _ in _session(client, tmp_path, pulls=False):
        yield


@pytest_lsp.fixture(config=SERVER)
async def pulled(client: pytest_lsp.LanguageClient, tmp_path: Path) -> AsyncIterator[None]:
    async for _ in _session(client, tmp_path, pulls=True):
        yield


async def opened(client: pytest_lsp.LanguageClient, folder: Path) -> Editor:
    """The project with both texts open and unsaved, and its first survey done."""
    editor = Editor(client, folder)
    editor.write(INCLUDED, UNSAVED)
    editor.write(MAIN, USING)
    await editor.shown(MAIN, [])
    place = editor.at(MAIN, "shout'}")
    async with asyncio.timeout(HANGS):
        while not await client.text_document_definition_async(lsp.DefinitionParams(**place)):
            await asyncio.sleep(0.05)
    return editor


async def test_findings_are_pushed_for_a_text_that_is_not_saved(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    assert pushed.offered.capabilities.diagnostic_provider is None
    editor.write(INCLUDED, UNSAVED.replace("inputSchema", "inputSchem"))
    found = await editor.shown(INCLUDED, ["missing-field", "unknown-field"])
    assert {each.source for each in found} == {"equipage"}
    # The way from the file that includes it.
    (way,) = found[0].related_information
    assert way.location.uri == editor.uri(MAIN)
    assert way.location.range.start == editor.at(MAIN, "tools/echo.yaml")["position"]
    editor.write(INCLUDED, UNSAVED)
    assert await editor.shown(INCLUDED, []) == []
    # On disk the tool has its old name, and nothing there was changed.
    assert (tmp_path / INCLUDED).read_text() == TOOL
    assert pushed.registered == [lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES]


async def test_findings_are_pulled_from_a_text_and_from_the_workspace(
    pulled: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    assert pulled.offered.capabilities.diagnostic_provider.workspace_diagnostics
    editor = Editor(pulled, tmp_path)
    editor.write(MAIN, USING)
    editor.write(INCLUDED, UNSAVED.replace("inputSchema", "inputSchem"))
    document = lsp.TextDocumentIdentifier(editor.uri(INCLUDED))
    ask = pulled.text_document_diagnostic_async
    report = await ask(lsp.DocumentDiagnosticParams(document))
    # Who includes the text is known after the survey; then the server asks to pull again.
    for count in range(5):
        if [each.code for each in report.items] == ["missing-field", "unknown-field"]:
            break
        await editor.until(lambda seen=count: pulled.diagnostic_refresh_count > seen)
        report = await ask(lsp.DocumentDiagnosticParams(document))
    assert [each.code for each in report.items] == ["missing-field", "unknown-field"]
    again = lsp.DocumentDiagnosticParams(document, previous_result_id=report.result_id)
    assert (await ask(again)).kind == "unchanged"
    whole = await pulled.workspace_diagnostic_async(lsp.WorkspaceDiagnosticParams([]))
    codes = {each.uri: [one.code for one in each.items] for each in whole.items}
    assert codes[editor.uri(INCLUDED)] == ["missing-field", "unknown-field"]
    editor.write(INCLUDED, UNSAVED)
    assert not (await ask(again)).items
    assert pulled.diagnostics == {}, "findings that are pulled are not pushed as well"


async def test_a_quick_fix_changes_the_text_that_is_not_saved(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    editor.write(INCLUDED, UNSAVED.replace("inputSchema", "inputSchem"))
    found = await editor.shown(INCLUDED, ["missing-field", "unknown-field"])
    document = lsp.TextDocumentIdentifier(editor.uri(INCLUDED))
    context = lsp.CodeActionContext(found, only=[lsp.CodeActionKind.QuickFix])
    params = lsp.CodeActionParams(document, found[1].range, context)
    actions = await pushed.text_document_code_action_async(params)
    (fix,) = [each for each in actions if each.title == "Rename to `inputSchema`"]
    if fix.edit is None:
        fix = await pushed.code_action_resolve_async(fix)
    editor.apply(fix.edit)
    assert editor.texts[INCLUDED] == UNSAVED
    await editor.shown(INCLUDED, [])


async def test_hover_knows_the_field_and_the_include(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    place = editor.at(INCLUDED, "description")
    hover = await pushed.text_document_hover_async(lsp.HoverParams(**place))
    assert hover.contents.kind == lsp.MarkupKind.Markdown
    assert hover.contents.value.startswith("**description**")
    assert "main.yaml:4:17" in hover.contents.value


async def test_completion_offers_the_name_that_is_not_saved(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    editor.write(MAIN, USING.replace("{on: 'tools/call:shout'}", "{on: "))
    place = editor.at(MAIN, "{on: ", after=True)
    answer = await pushed.text_document_completion_async(lsp.CompletionParams(**place))
    labels = {each.label for each in answer.items}
    assert {"initialized", "tools/call:shout", "tools/call:add"} <= labels
    assert "tools/call:echo" not in labels


async def test_a_definition_is_in_the_included_text(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    # Two lines more than on disk: the place is that of the open text.
    editor.write(INCLUDED, "# one\n# two\n" + UNSAVED)
    place = editor.at(MAIN, "shout'}")
    (found,) = await pushed.text_document_definition_async(lsp.DefinitionParams(**place))
    target = found.target_uri if isinstance(found, lsp.LocationLink) else found.uri
    where = found.target_range if isinstance(found, lsp.LocationLink) else found.range
    assert (target, where.start.line) == (editor.uri(INCLUDED), 2)


async def test_a_rename_changes_both_texts_that_are_not_saved(
    pushed: pytest_lsp.LanguageClient, tmp_path: Path
) -> None:
    editor = await opened(pushed, tmp_path)
    place = editor.at(MAIN, "shout'}")
    assert await pushed.text_document_prepare_rename_async(lsp.PrepareRenameParams(**place))
    editor.apply(await pushed.text_document_rename_async(lsp.RenameParams(**place, new_name="say")))
    assert editor.texts == {
        MAIN: USING.replace("shout", "say"),
        INCLUDED: UNSAVED.replace("shout", "say"),
    }
    await editor.shown(MAIN, [])
    assert (tmp_path / MAIN).read_text() == PHASED
