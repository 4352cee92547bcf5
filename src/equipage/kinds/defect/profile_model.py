"""The fields of a profile, whether in the `config.toml` of a folder or the header of a file."""

# Annotations are evaluated, not kept as text: msgspec would compile each one at first use.
from typing import Annotated, ClassVar, Literal

import msgspec

from equipage.kinds.defect.hooks import Hooks
from equipage.kinds.shared import Table

U32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
RequestLimitMode = Literal["fixed", "adaptive", "unbounded"]
Variant = Literal["folder", "file"]

#: The tools of an agent whose profile has no `tools.allow`: it can read and search.
READ_ONLY = ("read_file", "search")


class Default(Table, frozen=True):
    """The table that the settings also have; a profile may name its model here."""

    model: str | None = None  #: the model, as an alternative to the key `model`


class Prompt(Table, frozen=True):
    """The system prompt. A loaded profile always has `text`, wherever it came from."""

    text: str | None = None  #: the prompt itself
    #: the file that holds the prompt, in the folder of the profile; `system.md` by default
    file: str | None = None


class Tools(Table, frozen=True):
    """The tools an agent may use."""

    #: names and patterns; an empty list allows no tool, no list allows reading and searching
    allow: tuple[str, ...] = READ_ONLY


class Sampling(Table, frozen=True):
    """Sampling parameters of the model. The table replaces the caller's table as a whole."""

    max_tokens: U32 | None = None  #: the longest answer, in tokens
    temperature: float | None = None  #: how random the answer is, from 0 to 2
    top_p: float | None = None  #: sample only from the most likely tokens up to this probability
    top_k: U32 | None = None  #: sample only from this many of the most likely tokens


class AgentProfile(Table, frozen=True):
    """One agent."""

    TITLE: ClassVar[str] = "a profile"

    description: str  #: when to use the agent; other agents choose it by this text
    model: str | None = None  #: the model to use; by default the caller's
    default: Default | None = None  #: the table of the settings; only its `model` is allowed
    #: the system prompt of a folder; a single file has it below the header
    prompt: Prompt = Prompt()
    tools: Tools = Tools()  #: the tools the agent may use
    sampling: Sampling | None = None  #: sampling parameters; by default the caller's
    #: whether the project's own instructions come before the agent's prompt
    inherit_project_prompt: bool = False
    request_limit: U32 | None = None  #: how many requests to the model one turn may make
    #: whether the limit is fixed, grows with each tool call, or does not exist
    request_limit_mode: RequestLimitMode | None = None
    hooks: Hooks = Hooks()  #: what runs at certain events; an agent inherits no hooks


class ProfileOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a load."""

    #: the layer of the file; by default its path says
    layer: Literal["user", "project"] | None = None


class RequestLimit(msgspec.Struct, frozen=True):
    """How many requests to its model an agent may make in one turn.

    An adaptive limit grows with each tool call.
    """

    mode: RequestLimitMode
    number: int | None = None


def request_limit(number: int | None, mode: RequestLimitMode | None) -> RequestLimit | None:
    """The limit that the two keys describe together; None leaves it to the program."""
    if mode == "unbounded":
        return RequestLimit("unbounded")
    return None if number is None else RequestLimit(mode or "adaptive", number)
