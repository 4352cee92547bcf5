"""The kinds of files of clients, and what others ask about a kind whose table they do not read.

The tables are large, and most checks need one of them: so `index.json` has, kind by kind and in
order of recognition, where the files are and what the table says in few words. `tools/faces.py`
makes it from the tables; the order is kept, and a new kind comes last.
"""

from __future__ import annotations

import os
from typing import Literal

import msgspec

FileSyntax = Literal["header", "toml", "json", "yaml", "text"]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a kind before its table is read."""

    file: str  #: the path of its table below this folder, without its ending
    tool: str  #: the program that files of the kind are for
    paths: tuple[str, ...] = ()
    #: the rest is empty for files of which only the grants are in a table
    title: str = ""
    sort: str = ""
    syntax: FileSyntax = "header"
    fields: tuple[str, ...] = ()
    restricting: tuple[str, ...] = ()

    @property
    def title_with_article(self) -> str:
        return add_article(self.title)


class Index(msgspec.Struct, frozen=True):
    clients: dict[str, str]  #: the name of a client → its folder
    kinds: dict[str, Entry]
    #: what belongs to clients and is not read: what it is, and where it lives
    unread: tuple[tuple[str, tuple[str, ...]], ...]


def add_article(title: str) -> str:
    return f"{'an' if title[0] in 'AEIOUaeiou' else 'a'} {title}"


with open(os.path.join(os.path.dirname(__file__), "index.json"), "rb") as _file:
    _INDEX = msgspec.json.decode(_file.read(), type=Index)
CLIENTS, KINDS, UNREAD = _INDEX.clients, _INDEX.kinds, _INDEX.unread
