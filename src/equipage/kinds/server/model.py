"""The configuration of a server: what an author may write, and the one form a program gets.

`ServerFile` is the author's: the simple form with `tools`, `resources` and `prompts` at the top, or the phased
form with `baseline` and `phases`. `ServerConfig` is the program's: the simple form is a baseline without phases.
"""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Any, ClassVar, Literal

import msgspec

from equipage.kinds.server.behavior import Behavior
from equipage.kinds.server.metadata import Metadata
from equipage.kinds.server.parts import Part, Unsigned
from equipage.kinds.server.responses import PromptResponse, ResourceResponse, ToolResponse

StateScope = Literal["per_connection", "global"]
UnknownMethods = Literal["ignore", "error", "drop"]
LogLevel = Literal["debug", "info", "warn", "error"]
OnTimeout = Literal["advance", "abort"]

# ----------------------------------------------------------------------------------------------- capabilities


class ListCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    list_changed: bool | None = None


class ResourceCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    subscribe: bool | None = None
    list_changed: bool | None = None


class Capabilities(Part, frozen=True):
    tools: ListCapability | None = None
    resources: ResourceCapability | None = None
    prompts: ListCapability | None = None
    logging: dict[str, Any] | None = None


# ------------------------------------------------------------------------------------------------------ items


class ToolDefinition(Part, frozen=True, rename={"input_schema": "inputSchema"}):
    name: str
    description: str
    input_schema: Any  #: a JSON Schema


class Tool(Part, frozen=True):
    tool: ToolDefinition
    response: ToolResponse
    behavior: Behavior | None = None


class ResourceDefinition(Part, frozen=True, rename={"mime_type": "mimeType"}):
    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None


class Resource(Part, frozen=True):
    resource: ResourceDefinition
    response: ResourceResponse | None = None
    behavior: Behavior | None = None


class PromptArgument(Part, frozen=True):
    name: str
    description: str | None = None
    required: bool = False


class PromptDefinition(Part, frozen=True):
    name: str
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


class Prompt(Part, frozen=True):
    prompt: PromptDefinition
    response: PromptResponse
    behavior: Behavior | None = None


# ----------------------------------------------------------------------------------------------------- phases


class Notification(Part, frozen=True):
    method: str
    params: Any = None


class ServerRequest(Part, frozen=True):
    method: str
    id: Any = None
    params: Any = None


class EntryAction(Part, frozen=True):
    """Something a phase does when it is entered: one of the three."""

    send_notification: str | Notification | None = None
    send_request: ServerRequest | None = None
    log: str | None = None


class Trigger(Part, frozen=True):
    """What ends a phase: an event, some time, or whichever comes first."""

    on: str | None = None  #: see `events`
    count: Unsigned = 1
    #: field path → value, or operators
    match: dict[str, Any] = msgspec.field(default_factory=dict)
    after: str | None = None  #: see `durations`
    timeout: str | None = None
    on_timeout: OnTimeout = "advance"


class Phase(Part, frozen=True):
    """A state of the server: the baseline with what this phase removes, replaces and adds."""

    name: str
    advance: Trigger | None = None
    on_enter: tuple[EntryAction, ...] = ()
    replace_tools: dict[str, Tool] = msgspec.field(default_factory=dict)
    add_tools: tuple[Tool, ...] = ()
    remove_tools: tuple[str, ...] = ()
    replace_resources: dict[str, Resource] = msgspec.field(default_factory=dict)
    add_resources: tuple[Resource, ...] = ()
    remove_resources: tuple[str, ...] = ()
    replace_prompts: dict[str, Prompt] = msgspec.field(default_factory=dict)
    add_prompts: tuple[Prompt, ...] = ()
    remove_prompts: tuple[str, ...] = ()
    replace_capabilities: Capabilities | None = None
    behavior: Behavior | None = None


# ------------------------------------------------------------------------------------------------------- root


class Server(Part, frozen=True):
    """The `server` section as it is written."""

    name: str
    version: str = "0.0.0"
    state_scope: StateScope = "per_connection"
    capabilities: Capabilities | None = None  #: the default of the baseline's


class ServerInfo(Part, frozen=True):
    """Who the server says it is."""

    name: str
    version: str = "0.0.0"
    state_scope: StateScope = "per_connection"


class Baseline(Part, frozen=True):
    """What the server offers before any phase changes it."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    capabilities: Capabilities | None = None
    behavior: Behavior | None = None


class Logging(Part, frozen=True):
    level: LogLevel = "info"
    on_phase_change: bool = False
    on_request: bool | None = None
    on_response: bool | None = None
    on_trigger_match: bool = False
    output: str = "stderr"  #: `stderr`, `stdout`, or a file; a relative one starts at the file that names it


class ServerFile(Part, frozen=True):
    """A configuration as it is written, in either form."""

    TITLE: ClassVar[str] = "a server file"

    server: Server
    metadata: Metadata | None = None
    tools: tuple[Tool, ...] | None = None
    resources: tuple[Resource, ...] | None = None
    prompts: tuple[Prompt, ...] | None = None
    behavior: Behavior | None = None
    baseline: Baseline | None = None
    phases: tuple[Phase, ...] | None = None
    logging: Logging | None = None
    unknown_methods: UnknownMethods = "ignore"


class ServerConfig(Part, frozen=True):
    """A configuration as a program gets it."""

    server: ServerInfo
    baseline: Baseline = Baseline()
    phases: tuple[Phase, ...] = ()
    logging: Logging = Logging()
    unknown_methods: UnknownMethods = "ignore"
    metadata: Metadata | None = None
