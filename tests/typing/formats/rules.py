"""A rule takes the class of its format and yields problems or sentences."""

from __future__ import annotations

from collections.abc import Iterator

from app import App, Tool

from equipage import Format, Problem


def uses_https(app: App) -> Iterator[Problem]:
    for number, tool in enumerate(app.tools):
        if not tool.url.startswith("https:"):
            yield Problem(f"tools[{number}].url", "must use https", code="no-https")


def one_sentence(app: App) -> list[str]:
    return [] if app.name else ["it has no name"]


def about_a_tool(tool: Tool) -> Iterator[Problem]:
    yield Problem("url", tool.url)


def numbers(app: App) -> list[int]:
    return [len(app.name)]


def right() -> None:
    ruled = Format(App, rules=(uses_https, one_sentence, lambda app: [app.name][1:]))
    assert ruled.load("app.yaml").warnings == ()


def wrong() -> None:
    of_app: Format[App] = Format(App, rules=(about_a_tool,))  # wrong: Tool
    of_app = Format(App, rules=(numbers,))  # wrong: int
    of_app = Format(App, rules=(uses_https("app"),))  # wrong: "uses_https"
    of_app.rules = ()  # wrong: rules
