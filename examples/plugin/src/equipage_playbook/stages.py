"""What is replaced before the model sees it. A stage takes a tree and gives a tree and what it
found; it never changes what it is given.
"""

from __future__ import annotations

import re

from equipage.plugin import Fact, Session, Tree, get, put


def shorthands(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """A step that is only text is a command, named after itself."""
    steps = get(tree.value, ("steps",))
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        if isinstance(step, str):
            name = re.sub(r"[^a-z0-9]+", "-", step.lower()).strip("-")
            tree = put(tree, ("steps", number), {"id": name, "run": step})
    return tree, []
