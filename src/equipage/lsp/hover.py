"""What an editor shows beside the pointer: what a field means, and where its value comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from equipage.core.diagnostics import EquipageError
from equipage.core.path import Path, format_path
from equipage.lsp import protocol
from equipage.lsp.cursor import Place, cursor_at, place_at
from equipage.lsp.documents import Context, EditorWorkspace, Opened, context_of
from equipage.lsp.fields import FieldDescription
from equipage.lsp.navigation import description_of, target_at
from equipage.lsp.protocol import Position, Range

#: `${NAME}` and what may follow the name.
VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)(?::(?P<sign>[-?])(?P<rest>[^{}]*))?\}")
#: The longest value that is shown.
_MAX_VALUE_LENGTH = 300


def hover_at(
    workspace: EditorWorkspace, opened: Opened, position: Position
) -> protocol.Hover | None:
    """What is known about the entry at a position."""
    offset = opened.text.offset(position)
    variable = variable_at(opened.text.text, offset)
    context = context_of(workspace, opened)
    if context is None:
        return None
    if variable is not None and context.outcome.kind.reading.variables:
        words = _describe_variable(variable, workspace)
        return _make_hover(words, opened.text.range(*variable.span()))
    named = target_at(context, opened, position)
    if named is not None and named.span is not None:
        about = description_of(workspace, named)
        if about is not None:
            return _make_hover(about, opened.text.range(named.span.start, named.span.end))
    place = place_at(context.document, offset) if context.is_current(opened) else None
    path = _path_at(opened, offset) if place is None else place.path
    if not path:
        return None
    parts = list(_hover_parts(context, path))
    return _make_hover("\n\n".join(parts), _place_range(opened, place)) if parts else None


def variable_at(text: str, offset: int) -> re.Match[str] | None:
    """The `${…}` at an offset."""
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    found = VARIABLE.finditer(text, begin, len(text) if end < 0 else end)
    return next((each for each in found if each.start() <= offset <= each.end()), None)


def _describe_variable(variable: re.Match[str], workspace: EditorWorkspace) -> str:
    """Describe how a variable is replaced; its value is never shown."""
    name = variable["name"]
    if name in workspace.env:
        return f"`{name}` is set in the environment of the language server. Its value is not shown."
    if variable["sign"] == "-":
        return f"`{name}` is not set here, so the default counts: `{variable['rest']}`"
    if variable["sign"] == "?":
        return f"`{name}` is not set here, and the file does not load without it."
    return f"`{name}` is not set here, so nothing is written in its place."


def _path_at(opened: Opened, offset: int) -> Path:
    """The path of the entry in a text that does not parse."""
    cursor = cursor_at(opened.text.text, offset, opened.path)
    if cursor.part != "key":
        return cursor.path if cursor.part == "value" else ()
    word = opened.text.text[cursor.start : cursor.end].strip("\"' ")
    return (*cursor.path, word) if word else ()


def _hover_parts(context: Context, path: Path) -> Iterator[str]:
    """Yield the field at a path, then its value and where that comes from."""
    authored = context.authored_path(path)
    field = _nearest_field(context, authored)
    if field is not None:
        yield _describe_field(field)
    yield from _describe_provenance(context, path)


def _nearest_field(context: Context, path: Path) -> FieldDescription | None:
    """The field at a path, or the nearest one around an entry of a list."""
    for depth in range(len(path), 0, -1):
        found = context.fields.field(path[:depth], context.value)
        if found is not None:
            return found
        if isinstance(path[depth - 1], str):
            return None
    return None


def _describe_field(field: FieldDescription) -> str:
    notes = [field.type]
    notes += ["required"] if field.required else []
    notes += [f"default `{json.dumps(field.default)}`"] if field.default is not None else []
    return f"**{field.name}**: {', '.join(notes)}\n\n{field.words}".rstrip()


def _describe_provenance(context: Context, path: Path) -> Iterator[str]:
    """Yield the effective value and where it comes from, unless the text here says it all."""
    loaded = context.loaded_or_none()
    if loaded is None:
        return
    try:
        story = loaded.explain((*context.prefix, *path))
    except (EquipageError, ValueError):
        return
    steps = story.steps
    is_plain = len(steps) < 2 and not story.variables
    if is_plain or (isinstance(story.value, dict | list) and not story.through):
        return
    lines = [f"Value: `{_shorten_json(story.value)}`"]
    lines += [
        f"- {each.how} at `{each.place}`" if each.place else f"- {each.how}" for each in steps
    ]
    lines += [f"- {each}" for each in story.notes]
    lines.append(f"\n`{format_path(context.authored_path(path))}`")
    yield "\n".join(lines)


def _shorten_json(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str).replace("`", "'")
    return words if len(words) <= _MAX_VALUE_LENGTH else words[:_MAX_VALUE_LENGTH] + " …"


def _place_range(opened: Opened, place: Place | None) -> Range | None:
    if place is None:
        return None
    span = place.located.key if place.is_key and place.located.key else place.located.value
    return opened.text.range(span.start, span.end)


def _make_hover(words: str, place: Range | None) -> protocol.Hover:
    return protocol.Hover(protocol.Markup(words, "markdown"), place)
