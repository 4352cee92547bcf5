"""A name is that of a built-in kind; a format of one's own is given as the format."""

from __future__ import annotations

from typing import assert_type

from app import APP

import equipage
from equipage.models import AgentProfile


def right() -> None:
    text = "---\ndescription: Writes.\n---\nYou write."
    assert_type(equipage.loads(text, kind="profile").config, AgentProfile)
    assert equipage.check("app.yaml", kind=APP).ok
    assert equipage.schema(APP)["title"] == "`app` file"


def wrong() -> None:
    equipage.load("app.yaml", kind="toolpac")  # wrong: toolpac|"load"
    equipage.load("app.yaml", kind="playbook")  # wrong: playbook|"load"
    equipage.check(".", kind="toolpac")  # wrong: toolpac
    equipage.schema("toolpac")  # wrong: toolpac
    equipage.discover(".", kind="toolpac")  # wrong: toolpac|"discover"
