"""Values to text: what each format of a report is for, and where it is written.

Nothing here prints. The modules are imported only for what is asked for.
"""

from __future__ import annotations

from typing import NamedTuple


class OutputFormat(NamedTuple):
    """A format of a report: its module in this folder, the function there, and its purpose."""

    module: str
    function: str
    purpose: str


#: The formats of a check by their names, in the order in which they are listed.
REPORTS = {
    "full": OutputFormat(
        "text", "render", "people: each finding with the line it is about, and its fix"
    ),
    "concise": OutputFormat("text", "render", "people and editors: one line for each finding"),
    "github": OutputFormat("ci", "render_github", "annotations of a GitHub workflow"),
    "gitlab": OutputFormat(
        "ci", "render_gitlab", "the Code Quality report of a GitLab merge request"
    ),
    "json": OutputFormat("json", "render", "programs: one object with every file and finding"),
    "jsonl": OutputFormat("json", "render_lines", "scripts: one JSON object for each finding"),
    "junit": OutputFormat("ci", "render_junit", "build servers that show test results"),
    "markdown": OutputFormat("ci", "render_markdown", "a comment on a pull request"),
    "sarif": OutputFormat("sarif", "render", "code scanning"),
}
