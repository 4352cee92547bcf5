"""Arguments of the commands that check, and that explain what is checked."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import (
    FORMATS,
    add_flag,
    add_format_option,
    add_list_option,
    add_loading_options,
    add_output_option,
    add_paths,
    command,
    refuse,
    whole_number,
)


@command(
    "check",
    "check agent configuration",
    "Find and check every agent configuration under PATH. Files that .gitignore or the settings "
    "exclude are left out, unless you name them.",
    examples=(
        ("equipage check", "check everything below this folder"),
        ("equipage check --fix", "apply safe fixes and report the rest"),
        ("equipage check -f concise | less", "one line for each finding"),
        ("equipage check -f sarif -o out.sarif", "a report for code scanning"),
        ("equipage check --write-baseline", "from now on, report only new findings"),
        ("equipage check --stdin-filename a.md -", "check standard input as a.md"),
    ),
)
def _check(check: argparse.ArgumentParser) -> None:
    add_paths(check)
    choosing = check.add_argument_group("choosing files")
    add_list_option(
        choosing, "--exclude", "GLOB", "leave out files and folders that match; repeatable"
    )
    add_flag(choosing, "--isolated", "ignore the settings of projects and what git ignores")
    add_flag(choosing, "--force-exclude", "leave out excluded files even if you name them")
    choosing.add_argument(
        "--files-from", metavar="FILE", help="also check the files that FILE lists, one per line"
    )
    choosing.add_argument(
        "--stdin-filename", metavar="NAME", help="check standard input as the text of NAME"
    )
    reporting = check.add_argument_group("reporting")
    # The check imports this package too; the help of the program does not need it.
    from equipage.render import REPORTS

    add_format_option(reporting, tuple(REPORTS))
    add_output_option(reporting)
    add_flag(reporting, "--quiet", "report errors only", short="-q")
    add_flag(reporting, "--verbose", "also name every file, with its kind", short="-v")
    add_flag(reporting, "--statistics", "count the findings of each code instead of printing them")
    reporting.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="print at most N findings, 0 for all (default: 100 on a terminal, else all)",
    )
    deciding = check.add_argument_group("what counts")
    add_list_option(deciding, "--select", "CODE", "report only these codes; separate with commas")
    add_list_option(deciding, "--ignore", "CODE", "leave out these codes; separate with commas")
    add_flag(deciding, "--strict", "exit 1 on warnings, too")
    deciding.add_argument(
        "--max-warnings",
        type=whole_number,
        metavar="N",
        help="exit 1 if there are more than N warnings",
    )
    add_flag(deciding, "--exit-zero", "exit 0 even if there are errors")
    deciding.add_argument(
        "--baseline", metavar="FILE", help="leave out the findings that FILE records"
    )
    add_flag(deciding, "--no-baseline", "report known findings, too")
    add_flag(deciding, "--write-baseline", "record all findings in the baseline, then report none")
    fixing = check.add_argument_group("fixing")
    either = fixing.add_mutually_exclusive_group()
    add_flag(either, "--fix", "apply safe fixes, then report what is left")
    add_flag(either, "--diff", "print what --fix would change; exit 1 if it would change anything")
    add_flag(
        fixing,
        "--unsafe-fixes",
        "also apply fixes that may change what an agent may do or says; review the result",
    )
    running = check.add_argument_group("running")
    running.add_argument(
        "-j",
        "--jobs",
        type=_process_count,
        default=0,
        metavar="N",
        help="check with N processes (default: depends on the number of files)",
    )
    add_flag(running, "--watch", "check again whenever a file changes (needs watchfiles)")
    add_loading_options(check)


def _process_count(written: str) -> int:
    if written == "auto":
        return 0  # the check decides
    if not written.isdecimal():
        refuse(f"`{written}` is not a number of processes")
    return int(written)


@command(
    "rule",
    "explain a finding and how to fix it",
    "Explain what CODE means and how to fix it. Without CODE, list all codes.",
    examples=(
        ("equipage rule unknown-field", "what this finding means"),
        ("equipage rule", "every code"),
    ),
)
def _rule(rule: argparse.ArgumentParser) -> None:
    rule.add_argument(
        "code", nargs="?", metavar="CODE", help="the code of a finding, such as unknown-field"
    )
    add_format_option(rule, FORMATS)
    add_output_option(rule)


@command(
    "kinds",
    "list what is read, and where it lives",
    "List every kind of configuration, the files it is recognised by and the program that reads "
    "them. With KIND, also its fields, and which of them restrict what an agent may do.",
    runs="list:run",
    examples=(
        ("equipage kinds", "every kind"),
        ("equipage kinds claude-agent", "its files and fields"),
    ),
)
def _kinds(kinds: argparse.ArgumentParser) -> None:
    kinds.add_argument("kind", nargs="?", metavar="KIND", help="a kind of configuration")
    add_format_option(kinds, FORMATS)
    add_output_option(kinds)
