"""What a profile says, both variants alike: the folder's `config.toml` and the header of a single file."""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Annotated, ClassVar, Literal

import msgspec

from equipage.kinds.defect.hooks import Hooks, Table

U32 = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
RequestLimitMode = Literal["fixed", "adaptive", "unbounded"]
Variant = Literal["folder", "file"]

#: What an agent may use when its profile does not say: enough to read and to search.
READ_ONLY = ("read_file", "search")


class Default(Table, frozen=True):
    """The table the settings have, too; a profile may give its model here."""

    model: str | None = None


class Prompt(Table, frozen=True):
    """The system prompt. `text` is always there in a loaded profile, wherever it came from."""

    text: str | None = None
    file: str | None = None


class Tools(Table, frozen=True):
    """The tools an agent may use: names or patterns. An empty list allows none."""

    allow: tuple[str, ...] = READ_ONLY


class Sampling(Table, frozen=True):
    """How the model draws. The table replaces that of the caller as a whole."""

    max_tokens: U32 | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: U32 | None = None


class AgentProfile(Table, frozen=True):
    """One agent."""

    TITLE: ClassVar[str] = "a profile"

    description: str
    model: str | None = None
    default: Default | None = None
    prompt: Prompt = Prompt()
    tools: Tools = Tools()
    sampling: Sampling | None = None
    inherit_project_prompt: bool = False
    request_limit: U32 | None = None
    request_limit_mode: RequestLimitMode | None = None
    hooks: Hooks = Hooks()


class ProfileOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`layer` is where the profile was found; by default its path tells."""

    layer: Literal["user", "project"] | None = None


class RequestLimit(msgspec.Struct, frozen=True):
    """How often an agent may ask its model in one turn. An adaptive limit grows with each tool call."""

    mode: RequestLimitMode
    number: int | None = None


def request_limit(number: int | None, mode: RequestLimitMode | None) -> RequestLimit | None:
    """The limit that the two keys mean together; None leaves it to the program."""
    if mode == "unbounded":
        return RequestLimit("unbounded")
    return None if number is None else RequestLimit(mode or "adaptive", number)
