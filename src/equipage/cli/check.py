"""`equipage check`: the main job."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from equipage.cli.main import BUG, FOUND, OK, USAGE
from equipage.cli.output import Output, Progress
from equipage.cli.request import request_of
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.text import visible
from equipage.files.writing import NotWritten, rewrite
from equipage.loading.session import project_of_folder
from equipage.render import text
from equipage.workspace.fixes import REASONS, Refusal, Repair, diff, repair
from equipage.workspace.project import Selection
from equipage.workspace.report import SETTINGS, Report, check_paths
from equipage.workspace.watch import Turn, watch_check


def run(options: argparse.Namespace, output: Output) -> int:
    if options.watch:
        return run_watch(options, output, selection_of(options))
    check = _checking(options, output)
    fixed: int | None = None
    if options.fix:
        report, fixed = fix_all(check, options.paths, output, unsafe=options.unsafe_fixes)
    else:
        report = check()
    output.code = _exit_code(report, strict=options.strict)
    if options.diff:
        code = FOUND if show_diff(report, output, unsafe=options.unsafe_fixes) else OK
    else:
        if report.files or report.diagnostics or options.output_format != "text":
            _write(report, options, output, fixed)
        code = output.code
        if options.quiet and options.strict and report.warnings and not report.errors:
            output.note(
                f"equipage: --strict fails on warnings that --quiet leaves out: {len(report.warnings)}"
            )
    hidden = _hidden(report)
    if hidden:
        output.note(
            f"equipage: errors that are not shown keep a configuration from existing: {', '.join(hidden)}"
        )
    if all(each.kind == SETTINGS for each in report.files) and not report.errors:
        output.note("equipage: found nothing to check; name a file, or a kind with --kind")
        return USAGE
    return code


def _checking(options: argparse.Namespace, output: Output) -> Callable[[], Report]:
    """A check as the command line asks for it, to be made once or more."""
    selection = selection_of(options)
    request = request_of(options)

    def check() -> Report:
        progress = Progress("checking", output.width)
        try:
            return check_paths(
                options.paths,
                request,
                kind=options.kind,
                selection=selection,
                progress=progress,
                jobs=options.jobs,
                digests=options.output_format == "json",
            )
        finally:
            progress.clear()

    return check


def selection_of(options: argparse.Namespace) -> Selection:
    """The codes the command line wants to see. Raises `UsageError`."""
    return Selection(_codes(options.select) or None, _codes(options.ignore))


def _write(report: Report, options: argparse.Namespace, output: Output, fixed: int | None) -> None:
    """The report in the format that was asked for; each is imported only then."""
    if options.output_format == "text":
        _write_text(report, options, output, fixed)
        return
    if options.quiet:
        report = Report(report.files, report.errors)
    if options.output_format == "json":
        from equipage.render import json

        output.data(json.render(report, fixed=fixed))
    elif options.output_format == "sarif":
        from equipage.loading.recognise import codes_of
        from equipage.render import sarif

        output.data(sarif.render(report, codes_of(each.kind for each in report.files)))
    else:
        from equipage.render import github

        for line in github.render(report, prefix=_inside_repository()):
            output.data(line)
    if options.statistics:
        output.note(*statistics(report).splitlines())


def _write_text(
    report: Report, options: argparse.Namespace, output: Output, fixed: int | None
) -> None:
    from equipage.render import text

    if options.statistics:
        output.data(statistics(report, quiet=options.quiet))
        output.data(text.summary(report, output.style(), quiet=options.quiet))
        return
    for piece in text.render(report, output.style(), quiet=options.quiet, fixed=fixed):
        output.data(piece)


def _inside_repository() -> str:
    """The way from the checkout of a workflow to the working directory, empty outside of one."""
    checkout = os.environ.get("GITHUB_WORKSPACE", "")
    here = os.path.realpath(os.getcwd())
    root = os.path.realpath(checkout) if checkout else here
    inside = here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root).replace(os.sep, "/") if inside else ""


def statistics(report: Report, *, quiet: bool = False) -> str:
    """How often each code was found, the most frequent first."""
    found = Counter(
        (each.severity, each.code)
        for each in report.diagnostics
        if not quiet or each.severity == "error"
    )
    fixable = Counter(each.code for each in report.diagnostics if each.fix is not None)
    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    width = len(str(rows[0][1])) if rows else 1
    return "".join(
        f"{count:>{width}}  {severity:<7}  {code}{f' ({fixable[code]} with a fix)' if fixable[code] else ''}\n"
        for (severity, code), count in rows
    )


def _codes(given: list[str]) -> frozenset[str]:
    """The codes of a repeatable, comma-separated option. Raises `UsageError`."""
    codes = [code.strip() for each in given for code in each.split(",") if code.strip()]
    if not codes:
        return frozenset()
    from equipage.core.text import nearest
    from equipage.loading.recognise import codes_for

    known = codes_for(codes)
    for code in codes:
        if code not in known:
            guess = nearest(code, known)
            hint = f"; did you mean `{guess}`?" if guess else "; `equipage rule` lists them"
            raise UsageError(f"there is no code `{code}`{hint}")
    return frozenset(codes)


def _hidden(report: Report) -> list[str]:
    """The files that do not load although no error is reported for them: somebody ignores its code."""
    told = {each.name for each in report.errors} | {
        label.span.source.name
        for each in report.errors
        for label in each.related
        if label.span is not None
    }
    silent = [
        each.path
        for each in report.files
        if each.kind is not None and not each.ok and each.path not in told
    ]
    # What is wrong with a file that has several names is told under one of them.
    files = {os.path.realpath(name) for name in told if name} if silent else set()
    return [path for path in silent if os.path.realpath(path) not in files]


def _exit_code(report: Report, *, strict: bool) -> int:
    if any(each.code == "internal-error" for each in report.diagnostics):
        return BUG
    failed = report.errors or _hidden(report)
    return FOUND if failed or (strict and report.warnings) else OK


# --- fixing ------------------------------------------------------------------------------------
# `equipage check --fix` and `--diff`: apply the fixes of findings, or show what they would change.

#: A fix may uncover another one. Fixes that uncover each other for ever must end, too.
_MAX_PASSES = 10


def fix_all(
    check: Callable[[], Report], paths: Sequence[str], output: Output, *, unsafe: bool = False
) -> tuple[Report, int]:
    """Fix what can be fixed until nothing is left; the report of the rest, and how many findings are gone."""
    roots = roots_of(paths, os.getcwd())
    fixed = 0
    unwritten: dict[str, str] = {}
    report = check()
    for _ in range(_MAX_PASSES):
        repairs, refused = repair(report.diagnostics, unsafe=unsafe)
        written = [each for each in repairs if _fixing_write(each, roots, unwritten)]
        if not written:
            _explain(refused, unwritten, output)
            break
        fixed += sum(len(each.mended) for each in written)
        report = check()
    return report, fixed


def roots_of(paths: Iterable[str], cwd: str) -> tuple[str, ...]:
    """The projects that the caller's own arguments lie in. The last step of an argument is not followed: naming
    a link does not name the place it leads to."""
    places = (os.path.join(cwd, path) for path in paths)
    folders = (each if os.path.isdir(each) else os.path.dirname(each) for each in places)
    return tuple(dict.fromkeys(project_of_folder(folder, cwd) for folder in folders))


def _fixing_write(each: Repair, roots: Sequence[str], unwritten: dict[str, str]) -> bool:
    try:
        rewrite(each.source, each.text, roots)
    except NotWritten as problem:
        unwritten[each.source.name] = str(problem)
        return False
    return True


def _explain(refused: Sequence[Refusal], unwritten: dict[str, str], output: Output) -> None:
    for name, why in unwritten.items():
        output.note(f"equipage: did not write {name}: {why}")
    for each in refused:
        output.note(f"equipage: not fixed: {each.finding}: {REASONS[each.reason]}")


def show_diff(report: Report, output: Output, *, unsafe: bool = False) -> bool:
    """Print what fixing would change; whether that is anything, or a file could not be looked at."""
    repairs, refused = repair(report.diagnostics, unsafe=unsafe)
    for each in repairs:
        output.data(diff(each))
    _explain(refused, {}, output)
    unseen = [each for each in report.errors if each.span is None]
    for error in unseen:
        output.note(f"equipage: {error}")
    return bool(repairs or unseen)


# --- watching ----------------------------------------------------------------------------------
# `equipage check --watch`: the report first, then only what each change adds and takes away.

#: How many files a status line names before it only counts.
_NAMED = 3


def run_watch(options: argparse.Namespace, output: Output, selection: Selection) -> int:
    """Check until interrupted."""
    if options.output_format != "text" or options.fix or options.diff or options.statistics:
        raise UsageError(
            "--watch writes findings as text; it goes with no other output, and with no --fix"
        )
    progress = Progress("checking", output.width)
    turns = watch_check(
        options.paths,
        request_of(options),
        kind=options.kind,
        selection=selection,
        progress=progress,
    )
    for number, turn in enumerate(turns):
        progress.clear()
        pieces = (
            _change(turn, output, quiet=options.quiet)
            if number
            else _first(turn, output, quiet=options.quiet)
        )
        for piece in pieces:
            output.data(piece)
        output.flush()
        if not number:
            output.note("equipage: watching; press Ctrl-C to stop")
    return OK


def _first(turn: Turn, output: Output, *, quiet: bool) -> Iterator[str]:
    return text.render(turn.report, output.style(), quiet=quiet)


def _change(turn: Turn, output: Output, *, quiet: bool) -> Iterator[str]:
    """New findings in full, those that are gone in a line each, and one line about it all."""
    style = output.style()
    new, gone = (_shown(each, quiet=quiet) for each in (turn.new, turn.gone))
    yield from (text.finding(each, style) + "\n" for each in new)
    yield from (f"{style.paint('help', 'gone')}: {each}\n" for each in gone)
    what = f"{len(new)} new, {len(gone)} gone" if new or gone else "nothing new"
    yield f"{_named(turn.changed)}: {what}; {text.summary(turn.report, style, quiet=quiet)}"


def _shown(diagnostics: tuple[Diagnostic, ...], *, quiet: bool) -> list[Diagnostic]:
    return [each for each in diagnostics if not quiet or each.severity == "error"]


def _named(changed: tuple[str, ...]) -> str:
    """The files that changed; where none of them is known, something around them did."""
    rest = len(changed) - _NAMED
    names = ", ".join(map(visible, changed[:_NAMED])) or "elsewhere"
    return f"changed {names}" + (f" and {rest} more" if rest > 0 else "")
