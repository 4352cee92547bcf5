"""Keeps one comment on a pull request: what agents may do more than before.

The action runs it. The text comes from a file; if the file is empty, an earlier comment is removed,
so that there is no comment when nothing became wider. Only the standard library is used.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

#: Marks our comment; it is not shown.
MARK = "<!-- equipage: reach -->"
#: GitHub refuses longer comments.
LONGEST = 65_000
PAGES, PER_PAGE = 20, 100


def call(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {
        "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
        "Accept": "application/vnd.github+json",
        "Content-Type": "application/json",
    }
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def ours(comments: str) -> str | None:
    """The address of our comment, if there is one."""
    for page in range(1, PAGES + 1):
        found = call("GET", f"{comments}?per_page={PER_PAGE}&page={page}")
        for each in found:
            # Anybody may write the mark; only a bot's comment can be ours.
            if each["body"].startswith(MARK) and each["user"]["type"] == "Bot":
                return str(each["url"])
        if len(found) < PER_PAGE:
            return None
    return None


def main() -> int:
    text = Path(os.environ["COMMENT"]).read_text(encoding="utf-8").strip()
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    comments = f"{repository}/issues/{int(os.environ['NUMBER'])}/comments"
    try:
        known = ours(comments)
        if not text:
            if known is not None:
                call("DELETE", known)
            return 0
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}\n\n… the rest is in the log of the job."
        body = {"body": f"{MARK}\n{text}"}
        call("POST", comments, body) if known is None else call("PATCH", known, body)
    except (urllib.error.URLError, TimeoutError) as error:
        # The job still fails if something widened; forks have a token that cannot write.
        code = getattr(error, "code", None)
        why = f"HTTP {code}" if code else type(error).__name__
        print(f"::warning::no comment: {why}; the job needs `permissions: pull-requests: write`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
