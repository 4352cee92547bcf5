"""Templates in static text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.server.items import Place, all_responses, answers, choosers, content_items, entries
from equipage.kinds.server.templates import FUNCTIONS, template_problems
from equipage.nearest import nearest
from equipage.session import Session
from equipage.tree import mapping


def templates_are_closed(config: Any, _session: Session) -> Iterator[Fact]:
    """Templates end, and call functions that exist."""
    for path, text in _texts(config):
        if isinstance(text, str) and "${" in text:
            for code, about in template_problems(text):
                yield _problem(code, path, about)


def _problem(code: str, path: Any, about: str) -> Fact:
    if code == "template-unclosed":
        return fact(code, path, text=Shown(about))
    return fact(code, path, name=Shown(about), nearest=nearest(about, FUNCTIONS), known=FUNCTIONS)


def _texts(config: Any) -> Iterator[Place]:
    """Every static text that is filled when a request comes."""
    for response in all_responses(config):
        for answer in answers(response):
            yield from _answer_texts(answer)
        for path, chooser in choosers(response):
            yield from _handler_texts(path, mapping(mapping(chooser).get("handler")))


def _answer_texts(answer: Place) -> Iterator[Place]:
    path, value = answer
    value = mapping(value)
    yield (*path, "content"), value.get("content")
    for place, item in content_items(answer):
        yield (*place, "text"), mapping(item).get("text")
    for place, content in entries(value, path, "contents"):
        for key in ("uri", "text"):
            yield (*place, key), mapping(content).get(key)


def _handler_texts(path: Any, handler: dict[str, Any]) -> Iterator[Place]:
    for key in ("headers", "env"):
        for name, text in mapping(handler.get(key)).items():
            yield (*path, "handler", key, name), text


RULES = (templates_are_closed,)
