"""The findings that a client sees: which texts wait for a check, what was sent, how it looks.

An open text is checked when no message waits. When it has been quiet for a moment, another thread
surveys the workspace for all other files, and for what only several files together have wrong.
Findings are pulled by the client or pushed to it, never both: editors would show them twice.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic as Finding
from equipage.core.diagnostics import Label
from equipage.core.text import code_page_url
from equipage.lsp import protocol
from equipage.lsp.documents import EditorWorkspace, Opened, Survey, findings_by_file
from equipage.lsp.protocol import FILE_START, span_range

#: How long it must be quiet before the workspace is surveyed, in seconds.
QUIET_SECONDS = 0.3
#: How long to wait for a message if nothing is to be done; then the client may be gone.
_IDLE_SECONDS = 5.0


class Publisher:
    """Finds and sends the findings of one workspace. One thread uses it, that of the messages."""

    def __init__(
        self,
        workspace: EditorWorkspace,
        *,
        notify: Callable[[str, dict[str, Any]], None],
        answer: Callable[[int | str, Any], None],
        refresh: Callable[[], None],
        surveyed: Callable[[Survey], None],
        site: str | None = None,
        pulls: bool = False,
        whole: bool = True,
    ) -> None:
        """`refresh` asks the client to pull again; `surveyed` gets a survey from its thread."""
        self.workspace = workspace
        self._notify, self._answer = notify, answer
        self._refresh, self._surveyed = refresh, surveyed
        self._site = site  #: where pages of codes are published
        self._pulls = pulls  #: whether the client asks for findings
        self._whole = whole  #: whether findings in files that are not open are shown, too
        self._dirty: dict[str, None] = {}  #: open texts to be checked
        self._found: dict[str, tuple[int, tuple[Finding, ...]]] = {}  #: by address, with generation
        self._known: dict[str, tuple[Finding, ...]] = {}  #: of the last survey, by real path
        self._sent: dict[str, bytes] = {}  #: what was sent last, by address
        self._survey: threading.Thread | None = None
        self._survey_due: float | None = None
        self._stop_survey = threading.Event()
        self._held: list[tuple[int | str, protocol.WorkspaceDiagnostics]] = []

    # Events.

    def text_changed(self, uri: str) -> None:
        self._dirty[uri] = None
        self.survey_soon()

    def files_changed(self) -> None:
        """Something on the disk changed, which may matter for any open text."""
        self._dirty.update(dict.fromkeys(self.workspace.open))
        self.survey_soon()

    def text_closed(self, uri: str, opened: Opened | None) -> None:
        self._dirty.pop(uri, None)
        self._found.pop(uri, None)
        if opened is not None and not self.workspace.holds(opened.path):
            self._publish(uri, (), None)  # no survey looks at it
            self._sent.pop(uri, None)
        self.survey_soon()

    def survey_soon(self) -> None:
        """Survey once it is quiet, and stop a survey that runs: its findings are outdated."""
        self._survey_due = time.monotonic() + QUIET_SECONDS
        self._stop_survey.set()

    def set_whole_workspace(self, *, whole: bool) -> None:
        """Whether findings in files that are not open are shown from now on."""
        self._whole = whole
        self.survey_soon()

    def survey_now(self) -> None:
        self._survey_due = time.monotonic()

    def stop(self) -> None:
        self._stop_survey.set()

    # What to do when no message waits.

    @property
    def is_idle(self) -> bool:
        """Whether every text was checked and the last survey has arrived."""
        return not self._dirty and self._survey is None and self._survey_due is None

    def seconds_until_work(self) -> float:
        """How long to wait for a message before `work` has something to do."""
        if self._dirty:
            return 0.0
        if self._survey_due is not None and self._survey is None:
            return max(0.0, self._survey_due - time.monotonic())
        return _IDLE_SECONDS

    def work(self) -> None:
        """Check one text that changed; if there is none, survey if it is time."""
        if self._dirty:
            uri = next(iter(self._dirty))
            del self._dirty[uri]
            opened = self.workspace.open.get(uri)
            if opened is not None and not self._pulls:
                self._publish(uri, self.findings(opened), opened.version)
            return
        if self._survey_due is not None and time.monotonic() >= self._survey_due:
            self._start_survey()

    def _start_survey(self) -> None:
        if self._survey is not None:
            return  # it was asked to stop, and arrives when it has
        self._survey_due = None
        self._stop_survey = threading.Event()
        survey, stop = self.workspace.snapshot(), self._stop_survey

        def run() -> None:
            try:
                survey.run(stop.is_set)
            except Exception as problem:  # the thread of the messages says it
                survey.problem = problem
            finally:
                self._surveyed(survey)

        self._survey = threading.Thread(target=run, name="survey", daemon=True)
        self._survey.start()

    def accept_survey(self, survey: Survey) -> None:
        """Publish what a survey found; an outdated survey is scheduled again."""
        self._survey = None
        if survey.problem is not None:
            raise survey.problem  # a new one would fail alike; the next change starts one
        if not self.workspace.take(survey) or survey.report is None:
            self._survey_due = self._survey_due or time.monotonic()
            return
        self._found.clear()  # the survey may find more in open texts than their own check
        found = findings_by_file(survey.report, survey.workspace.system)
        is_shown = self.workspace.opened_at
        self._known = {path: found[path] for path in found if self._whole or is_shown(path)}
        self._answer_held()
        if self._pulls:
            self._refresh()
            return
        own = {each.real: each for each in self.workspace.open.values()}
        files = {self.workspace.uri(path): path for path in self._known}
        # Files that have no findings any more are sent, too: without any.
        for uri in [*files, *(self._sent.keys() - files.keys())]:
            if uri not in self.workspace.open:
                path = files.get(uri, "")
                self._publish(uri, self._known.get(path, ()), None)
        for opened in own.values():
            self._publish(opened.uri, self.findings(opened), opened.version)

    # Findings, for clients that pull them and clients that do not.

    def findings(self, opened: Opened) -> tuple[Finding, ...]:
        """The findings in an open text as it is now."""
        known = self._found.get(opened.uri)
        if known is None or known[0] != self.workspace.generation:
            known = self.workspace.generation, self.workspace.check(opened)
            self._found[opened.uri] = known
        return known[1]

    def _publish(self, uri: str, findings: Sequence[Finding], version: int | None) -> None:
        """Send the findings of a file, unless the client has them already."""
        shown = protocol_diagnostics(findings, self.workspace, self._site)
        data = msgspec.json.encode(shown)
        is_open = uri in self.workspace.open
        if not is_open and self._sent.get(uri, b"[]") == data:
            return
        if shown or is_open:
            self._sent[uri] = data
        else:
            self._sent.pop(uri, None)
        params: dict[str, Any] = {"uri": uri, "diagnostics": shown}
        if version is not None:
            params["version"] = version
        self._notify("textDocument/publishDiagnostics", params)

    def document_report(self, params: protocol.DocumentDiagnostics) -> dict[str, Any]:
        """The answer to a client that pulls the findings of a text."""
        opened = self.workspace.open.get(params.text_document.uri)
        findings: tuple[Finding, ...] = ()
        if opened is not None:
            self._dirty.pop(opened.uri, None)
            findings = self.findings(opened)
        return self._report(findings, params.previous_result_id)

    def _report(self, findings: Sequence[Finding], previous: str | None) -> dict[str, Any]:
        items = protocol_diagnostics(findings, self.workspace, self._site)
        # The number is a hash of what is reported, so that equal findings need not be sent again.
        number = hashlib.sha256(msgspec.json.encode(items)).hexdigest()[:16]
        if number == previous:
            return {"kind": "unchanged", "resultId": number}
        return {"kind": "full", "resultId": number, "items": items}

    def hold_request(self, number: int | str, params: protocol.WorkspaceDiagnostics) -> None:
        """Answer a request for the findings of the workspace when a survey knows them."""
        self._held.append((number, params))
        self._answer_held()

    def _answer_held(self) -> None:
        if self.workspace.surveyed != self.workspace.generation:
            return
        held, self._held = self._held, []
        for number, params in held:
            self._answer(number, self._workspace_report(params))

    def _workspace_report(self, params: protocol.WorkspaceDiagnostics) -> dict[str, Any]:
        previous = {each.uri: each.value for each in params.previous_result_ids}
        files = {self.workspace.uri(path): found for path, found in self._known.items()}
        items: list[dict[str, Any]] = []
        for uri in dict.fromkeys([*files, *previous]):
            opened = self.workspace.open.get(uri)
            findings = files.get(uri, ()) if opened is None else self.findings(opened)
            report = self._report(findings, previous.get(uri))
            version = None if opened is None else opened.version
            items.append({"uri": uri, "version": version, **report})
        return {"items": items}


# -------------------------------------------------------------- findings as the protocol shows them
# Exact ranges, the way through includes, a page for each code.

SOURCE = "equipage"
_SEVERITIES = {"error": 1, "warning": 2, "note": 3}
_UNNECESSARY_TAG = 1
#: Findings about text that has no effect; editors show it faded.
_FADED_CODES = frozenset({codes.UNUSED_IGNORE.name, codes.IGNORED_FIELD.name})


def protocol_diagnostics(
    findings: Iterable[Finding], workspace: EditorWorkspace, site: str | None = None
) -> list[protocol.Diagnostic]:
    """Findings of one file. `site` is where the pages of codes are published."""
    return [_protocol_diagnostic(each, workspace, site) for each in findings]


def _protocol_diagnostic(
    each: Finding, workspace: EditorWorkspace, site: str | None
) -> protocol.Diagnostic:
    place = FILE_START if each.span is None else span_range(each.span, workspace.encoding)
    lines = [each.message, *([f"help: {each.help}"] if each.help else [])]
    # A place in no file that the client could open is a sentence, and not lost.
    lines += [label.message for label in each.related if not _is_in_a_file(label)]
    related = [
        protocol.RelatedInformation(_label_location(label, workspace), label.message)
        for label in each.related
        if _is_in_a_file(label)
    ]
    page = None if site is None else code_page_url(site, each.code)
    return protocol.Diagnostic(
        place,
        "\n".join(lines),
        _SEVERITIES[each.severity],
        each.code,
        SOURCE,
        None if page is None else protocol.CodeDescription(page),
        [_UNNECESSARY_TAG] if each.code in _FADED_CODES else None,
        related or None,
    )


def _is_in_a_file(label: Label) -> bool:
    return label.span is not None and label.span.source.filename is not None


def _label_location(label: Label, workspace: EditorWorkspace) -> protocol.Location:
    assert label.span is not None
    assert label.span.source.filename is not None
    uri = workspace.uri(label.span.source.filename)
    return protocol.Location(uri, span_range(label.span, workspace.encoding))
