"""What MkDocs does beyond its theme: the version, and colours and links in what equipage prints.

A block of output on the site looks as it does on a terminal, and each code leads to its page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.utils import get_relative_url

HERE = Path(__file__).parent
_SOURCE = (HERE.parent / "src" / "equipage" / "__init__.py").read_text(encoding="utf-8")
VERSION = _SOURCE.partition('__version__ = "')[2].partition('"')[0]

#: A line of output, as the highlighter marks it.
_LINE = re.compile(r'<span class="go">(.*?)</span>', re.DOTALL)
_HEAD = re.compile(r"^(.*?)\b(error|warning|note)\[([a-z0-9-]+)\]")
_PLACE = re.compile(r"^( *--&gt; )(.*)$")
_MARKS = re.compile(r"^( +\| +)(\^+|-+)(.*)$")
_ADVICE = re.compile(r"^( *= )(help|fix|unsafe fix[^:]*|note)(:)")
_BETTER = re.compile(r"^(\+.*)$")
_WORSE = re.compile(r"^(-.*)$")


def on_config(config: Any) -> Any:
    config["copyright"] = f"equipage {VERSION} · Apache-2.0"
    # Nothing is published yet, so the address of the repository is not known to the repository.
    config["repo_url"] = os.environ.get("EQUIPAGE_REPOSITORY") or config.get("repo_url")
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Where the repository shows a folder, the site has a page that lists what is in it."""
    return markdown.replace("](clients/)", "](kinds/index.md)").replace(
        "](findings/)", "](codes/index.md)"
    )


def on_page_content(html: str, page: Any, **_: Any) -> str:
    def line(match: re.Match[str]) -> str:
        return f'<span class="go">{coloured(match[1], page.url)}</span>'

    if page.is_homepage:
        html = html.replace("</h1>", f" <small>{VERSION}</small></h1>", 1)
    return _LINE.sub(line, html)


def coloured(text: str, url: str) -> str:
    """A line of output with its colours, and its code as a link from the page at `url`."""
    text = _PLACE.sub(r'\1<span class="eq-place">\2</span>', text)
    text = _MARKS.sub(r'\1<span class="eq-mark">\2</span>\3', text)
    text = _ADVICE.sub(r'\1<span class="eq-advice">\2\3</span>', text)
    text = _BETTER.sub(r'<span class="eq-added">\1</span>', text)
    text = _WORSE.sub(r'<span class="eq-removed">\1</span>', text)
    head = _HEAD.match(text)
    if head is None:
        return text
    before, severity, code = head.groups()
    if (HERE / "reference" / "codes" / f"{code}.md").exists():
        target = get_relative_url(f"reference/codes/{code}.html", url)
        code = f'<a href="{target}">{code}</a>'
    return f'{before}<span class="eq-{severity}">{severity}[{code}]</span>{text[head.end() :]}'
