"""Values to text: one module per format. Nothing here prints."""

# made by tools/faces.py from them; `make stubs` renews it.

#: The formats of a check, and what each is for, as the `REPORTS` of their modules say. The command
#: line reads this, because the modules themselves are imported only for a report.
REPORTS = {
    "full": "people: each finding with the line it is about, and its fix",
    "concise": "people and editors: one line for each finding",
    "github": "annotations of a GitHub workflow",
    "gitlab": "the Code Quality report of a GitLab merge request",
    "json": "programs: one object with every file and finding",
    "jsonl": "scripts: one JSON object for each finding",
    "junit": "build servers that show test results",
    "markdown": "a comment on a pull request",
    "sarif": "code scanning",
}
