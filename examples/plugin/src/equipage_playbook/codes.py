"""Every sentence a playbook can cause: a name, how bad it is, one line, what it means, and what to do."""

from __future__ import annotations

from equipage.plugin import Code

CODES = (
    Code(
        "step-twice",
        "error",
        "there are two steps `{step}`",
        "Steps are named so that others can wait for them. Two with one name could not be told apart.",
        "rename one of them",
    ),
    Code(
        "step-unknown",
        "error",
        "there is no step `{step}`",
        "A step can only wait for a step of the same playbook.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "step-not-before",
        "error",
        "step `{step}` does not come before this one",
        "Steps run from top to bottom. One that waits for itself or for a later one would wait for ever.",
        "move it up",
    ),
    Code(
        "step-does-nothing",
        "error",
        "step `{step}` has neither `run` nor `ask`",
        "A step is a command or a question.",
        "add `run:` with a command, or `ask:` with a question",
    ),
    Code(
        "step-does-both",
        "error",
        "step `{step}` has both `run` and `ask`",
        "A step is a command or a question. Which comes first would be anybody's guess.",
        "make two steps of it",
    ),
)
