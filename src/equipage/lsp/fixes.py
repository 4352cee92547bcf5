"""Code actions: apply a proven fix, ignore a finding, explain its code.

A fix is offered only if `workspace.fixes` proves it, exactly as `check --fix` does. One that may
change what an agent does is a separate action that says so, and never part of “fix all”.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from equipage.core.codes import BLOCKING
from equipage.core.diagnostics import Diagnostic as Finding
from equipage.core.diagnostics import Edit
from equipage.lsp import protocol, publishing
from equipage.lsp.documents import EditorWorkspace, Opened
from equipage.lsp.protocol import Range, Text, span_range
from equipage.project.registry import codes_for
from equipage.syntax.document import Document
from equipage.workspace.fixes import repair

QUICK_FIX, OWN_FIX_ALL = "quickfix", "source.fixAll.equipage"
EXPLAIN_COMMAND = "equipage.explainRule"
_RISK = "unsafe: it may change what the file means or allows"
#: A fix may uncover another one; this ends fixes that uncover each other endlessly.
_MAX_PASSES = 10
_IGNORE = re.compile(r"equipage:\s*ignore\[(?P<codes>[^\]]*)\]")


def code_actions(
    workspace: EditorWorkspace,
    opened: Opened,
    findings: Sequence[Finding],
    place: Range,
    only: Sequence[str] | None = None,
    site: str | None = None,
) -> list[protocol.CodeAction]:
    """What can be done about the findings that touch a range, and about the whole text."""
    made: list[protocol.CodeAction] = []
    if _is_wanted(QUICK_FIX, only):
        touched = [each for each in findings if _touches(each, place, workspace)]
        for each in touched:
            made += _actions_for(each, workspace, opened, site)
    if _is_wanted(OWN_FIX_ALL, only) and (only is not None or made):
        edit = fix_all(workspace, opened, findings)
        if edit is not None:
            title = "Fix everything that can be fixed safely (equipage)"
            made.append(protocol.CodeAction(title, OWN_FIX_ALL, edit=edit))
    return made


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    return only is None or any(kind == each or kind.startswith(f"{each}.") for each in only)


def _touches(each: Finding, place: Range, workspace: EditorWorkspace) -> bool:
    if each.span is None:
        return place.start.line == 0
    own = span_range(each.span, workspace.encoding)
    return own.start <= place.end and place.start <= own.end


def _actions_for(
    each: Finding, workspace: EditorWorkspace, opened: Opened, site: str | None
) -> Iterator[protocol.CodeAction]:
    about = publishing.protocol_diagnostics([each], workspace, site)
    if each.fix is not None and repair([each], unsafe=True)[0]:
        words = each.fix.message[0].upper() + each.fix.message[1:]
        title = words if each.fix.safe else f"{words} ({_RISK})"
        edit = workspace_edit(workspace, each.fix.edits)
        safe = each.fix.safe
        yield protocol.CodeAction(title, QUICK_FIX, about, is_preferred=safe, edit=edit)
    ignoring = _ignore_edit(each, workspace, opened)
    if ignoring is not None:
        yield protocol.CodeAction(f"Ignore `{each.code}` here", QUICK_FIX, about, edit=ignoring)
    command = protocol.Command(f"Explain `{each.code}`", EXPLAIN_COMMAND, [each.code])
    yield protocol.CodeAction(f"Explain `{each.code}`", QUICK_FIX, about, command=command)


def workspace_edit(workspace: EditorWorkspace, edits: Iterable[Edit]) -> protocol.WorkspaceEdit:
    """Edits of any files as the protocol writes them."""
    by_file: dict[str, list[protocol.TextEdit]] = {}
    for each in edits:
        path = each.span.source.filename or each.span.source.name
        place = span_range(each.span, workspace.encoding)
        by_file.setdefault(workspace.uri(path), []).append(protocol.TextEdit(place, each.text))
    return protocol.WorkspaceEdit(by_file)


def fix_all(
    workspace: EditorWorkspace, opened: Opened, findings: Sequence[Finding]
) -> protocol.WorkspaceEdit | None:
    """The open text with every safe fix that is proven; None if there is none."""
    trial = Trial(workspace, opened)
    for _ in range(_MAX_PASSES):
        repairs, _refused = repair(findings)
        own = next((each for each in repairs if each.source.filename == opened.real), None)
        if own is None:
            break
        findings = trial.check(own.text)
    text = trial.text
    if text == opened.text.text:
        return None
    return protocol.WorkspaceEdit({opened.uri: [minimal_edit(opened.text, text)]})


class Trial:
    """Checks of another text in place of an open one, which stays as it is."""

    def __init__(self, workspace: EditorWorkspace, opened: Opened) -> None:
        self._workspace = EditorWorkspace(
            workspace.folders, env=workspace.env, encoding=workspace.encoding, kind=workspace.kind
        )
        for each in workspace.open.values():
            self._workspace.did_open(each.uri, each.text.text)
        self._workspace.borrow(workspace)
        self._uri, self.text = opened.uri, opened.text.text

    def document(self) -> Document | None:
        """The document of the text that was checked last."""
        return _document_of(self._workspace, self._workspace.open[self._uri])

    def check(self, text: str) -> tuple[Finding, ...]:
        """What a check finds in the text."""
        self.text = text
        opened = self._workspace.did_change(self._uri, [protocol.TextChange(text)])
        assert opened is not None
        return self._workspace.check(opened)


def minimal_edit(before: Text, after: str) -> protocol.TextEdit:
    """One edit that turns a text into another, and touches only what differs."""
    old = before.text
    start = _shared_length(old, after)
    end = _shared_length(old[start:][::-1], after[start:][::-1])
    return protocol.TextEdit(before.range(start, len(old) - end), after[start : len(after) - end])


def _shared_length(a: str, b: str) -> int:
    """How many letters two texts begin with alike."""
    differs = (number for number, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(differs, min(len(a), len(b)))


# A comment that ignores a finding. Whether a comment may be written there is not guessed: the text
# with it is checked. It must mean the same, and have every other finding and not this one.


def _ignore_edit(
    each: Finding, workspace: EditorWorkspace, opened: Opened
) -> protocol.WorkspaceEdit | None:
    if each.span is None or each.span.source.filename != opened.real or each.code in BLOCKING:
        return None
    number = each.span.line - 1
    line, start = opened.text.line_at(number), opened.text.starts[number]
    before = workspace.check(opened)
    document = _document_of(workspace, opened)
    is_data = document is not None and document.window[0] <= start < document.window[1]
    comment = _append_ignore_comment(line, each.code, opened.path, is_data=is_data)
    text = opened.text.text[:start] + comment + opened.text.text[start + len(line) :]
    trial = Trial(workspace, opened)
    place = (each.code, each.span.line)
    left = sorted(one for one in map(_code_and_line, before) if one != place)
    if sorted(map(_code_and_line, trial.check(text))) != left:
        return None
    after = trial.document()
    if is_data and (document is None or after is None or document.value != after.value):
        return None
    return protocol.WorkspaceEdit({opened.uri: [minimal_edit(opened.text, text)]})


def _document_of(workspace: EditorWorkspace, opened: Opened) -> Document | None:
    outcome = workspace.load(opened.path).outcome
    return outcome.documents[0] if outcome is not None and outcome.documents else None


def _code_and_line(each: Finding) -> tuple[str, int]:
    return each.code, each.span.line if each.span is not None else 0


def _append_ignore_comment(line: str, code: str, path: str, *, is_data: bool) -> str:
    """The line with a comment that ignores a code."""
    known = _IGNORE.search(line)
    if known is not None:
        return f"{line[: known.end('codes')]}, {code}{line[known.end('codes') :]}"
    words = f"equipage: ignore[{code}]"
    if not is_data:
        return f"{line} <!-- {words} -->"
    return f"{line} // {words}" if path.endswith((".json", ".jsonc")) else f"{line}  # {words}"


# Rules in words.


def explain_code(code: str) -> str | None:
    """What a code means and how to fix it; None if there is no such code."""
    known = codes_for([code]).get(code)
    return None if known is None else f"{code} ({known.severity}): {known.words.about}"
