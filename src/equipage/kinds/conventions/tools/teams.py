"""Teams of agents: Docker Agent, CrewAI, recipes of Goose, and agents that others call (A2A)."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Group, Names, Table, by_name, list_of

# Docker Agent (`cagent`).

_MODEL = Group(
    "a model of Docker Agent",
    (
        Field("provider", "who runs the model"),
        Field("model", "its name there"),
        Field("temperature", "how random its answers are", int | float),
        Field("max_tokens", "how long its answers may be", int),
        Field("top_p", "sample only from the most likely tokens", int | float),
        Field("frequency_penalty", "how much repetition costs", int | float),
        Field("presence_penalty", "how much known words cost", int | float),
        Field("base_url", "another address of the provider"),
        Field("parallel_tool_calls", "whether tools may run at the same time", bool),
        Field("token_key", "the environment variable that holds the token"),
        Field("provider_opts", "further options for the provider", Table),
        Field("track_usage", "whether tokens are counted", bool),
        Field("thinking_budget", "how much it reasons", Any),
        Field("routing", "which model answers what", tuple[Any, ...]),
    ),
)
_TOOLSET = Group(
    "a toolset of Docker Agent",
    (
        Field("type", "what sort of tools they are", required="warning"),
        Field("tools", "the only tools of the set to offer", Names, restricts=True),
        Field("ref", "a server of the catalogue: `docker:NAME`"),
        Field("command", "the program to start"),
        Field("args", "its arguments", Names),
        Field("env", "environment variables to add", Table),
        Field("remote", "a server that runs elsewhere", Table),
        Field("instruction", "how to use the tools"),
        Field("name", "the name of the set"),
        Field("path", "where it keeps things"),
        Field("url", "the address of another agent"),
        Field("version", "the version to start"),
    ),
    # Each type has keys of its own.
    unknown="ignore",
)
_DOCKER_AGENT = Group(
    "an agent of Docker Agent",
    (
        Field("model", "the model: a name below `models`, or `provider/model`"),
        Field("description", "when others choose it"),
        Field("instruction", "the prompt", instead=("instructions", "prompt")),
        Field("welcome_message", "what it says first"),
        Field("toolsets", "the tools it has", list_of(_TOOLSET), instead=("tools",)),
        Field("sub_agents", "agents it may ask", Names, instead=("subagents", "sub-agents")),
        Field("handoffs", "agents it may hand over to", Names),
        Field("commands", "prompts by name", Any),
        Field("skills", "whether it uses skills", Any),
        Field("hooks", "programs that run at certain events", Table),
        Field("fallback", "models to use if one fails", Table),
        Field("structured_output", "the form of its answers", Table),
        Field("max_iterations", "after how many steps it stops", int),
        Field("num_history_items", "how much it remembers", int),
        Field("add_date", "whether it knows the date", bool),
        Field("add_environment_info", "whether it knows the machine", bool),
        Field("add_prompt_files", "files that it reads first", Names),
        Field("add_description_parameter", "whether calls are described", bool),
        Field("code_mode_tools", "whether tools are called by code", bool),
        Field("rag", "what it may search", Names),
    ),
)

DOCKER_AGENT = Convention(
    kind="docker-agent",
    tool="Docker Agent",
    title="Docker Agent configuration",
    sort="team",
    syntax="yaml",
    suffixes=(".yaml", ".yml"),
    measured=False,
    fields=(
        Field("version", "the version of the format", str | int),
        Field(
            "agents",
            "the agents by name; `root` or the first is asked",
            by_name(_DOCKER_AGENT),
            required="warning",
        ),
        Field("models", "the models, by name", by_name(_MODEL)),
        Field("providers", "providers of models, by name", Table),
        Field("mcps", "MCP servers, by name", Table),
        Field("rag", "what may be searched, by name", Table),
        Field("metadata", "who wrote it", Table),
        Field(
            "permissions",
            "what may be done",
            Group(
                "the permissions of Docker Agent",
                (
                    Field("allow", "tools that run without asking", Names),
                    Field("ask", "tools that always ask", Names, restricts=True),
                    Field(
                        "deny", "tools that never run", Names, restricts=True, instead=("denied",)
                    ),
                ),
            ),
            restricts=True,
        ),
    ),
    example_path="NAME.yaml",
    example="""\
agents:
  root:
    model: openai/gpt-5
    description: Reviews changes
    instruction: You review changes. Report each problem with file and line.
    toolsets:
      - type: filesystem
        tools: [read_file]
""",
)

_CREW_AGENT = Group(
    "an agent of CrewAI",
    (
        Field("role", "who it is", required="warning"),
        Field("goal", "what it is after", required="warning"),
        Field("backstory", "what it knows", required="warning"),
        Field("llm", "the model", Any),
        Field("function_calling_llm", "the model that calls tools", Any),
        Field("tools", "the tools it has", tuple[Any, ...]),
        Field("allow_delegation", "whether it may ask others", bool),
        Field("allow_code_execution", "whether it may run code", bool, restricts=True),
        Field("code_execution_mode", "where code runs", Literal["safe", "unsafe"], restricts=True),
        Field("max_iter", "after how many steps it stops", int),
        Field("max_rpm", "how many requests a minute it makes", int),
        Field("max_execution_time", "after how many seconds it stops", int),
        Field("max_retry_limit", "how often it tries again", int),
        Field("verbose", "whether it says what it does", bool),
        Field("cache", "whether answers of tools are kept", bool),
        Field("memory", "whether it remembers", bool),
        Field("reasoning", "whether it plans first", bool),
        Field("max_reasoning_attempts", "how often it plans", int),
        Field("knowledge_sources", "what it may look up", Any),
        Field("embedder", "how it looks things up", Any),
        Field("system_template", "the form of the prompt"),
        Field("prompt_template", "the form of a question"),
        Field("response_template", "the form of an answer"),
        Field("respect_context_window", "whether long sessions are shortened", bool),
        Field("inject_date", "whether it knows the date", bool),
        Field("date_format", "how the date is written"),
        Field("multimodal", "whether it sees pictures", bool),
        Field("step_callback", "what is called after each step", Any),
        Field("use_system_prompt", "whether there is a system prompt", bool),
    ),
)

CREW_AGENTS = Convention(
    kind="crewai-agents",
    paths=("config/agents.{yaml,yml}",),
    tool="CrewAI",
    title="list of CrewAI agents",
    sort="crew",
    syntax="yaml",
    suffixes=(".yaml", ".yml"),
    measured=False,
    wraps="agents",
    signs=frozenset({"role", "goal", "backstory"}),
    fields=(Field("agents", "the agents, by name", by_name(_CREW_AGENT)),),
    example_path="config/agents.yaml",
    example="""\
reviewer:
  role: Reviewer of changes
  goal: Find problems before a merge
  backstory: You have read many changes and know where problems hide.
""",
)

_CREW_TASK = Group(
    "a task of CrewAI",
    (
        Field("description", "what to do", required="warning"),
        Field("expected_output", "what comes out", required="warning"),
        Field("agent", "who does it"),
        Field("context", "tasks whose results it needs", tuple[Any, ...]),
        Field("tools", "the tools it has", tuple[Any, ...]),
        Field("async_execution", "whether the next task starts at once", bool),
        Field("output_file", "the file for the result"),
        Field("output_json", "the form of the result", Any),
        Field("output_pydantic", "the class of the result", Any),
        Field("human_input", "whether a person looks at it", bool),
        Field("callback", "what is called with the result", Any),
        Field("markdown", "whether the result is Markdown", bool),
        Field("guardrail", "what the result must be", Any),
        Field("guardrails", "what the result must be, one by one", Any),
        Field("guardrail_max_retries", "how often it tries again", int),
        Field("create_directory", "whether the folder of the file is made", bool),
        Field("config", "further settings", Any),
        Field("name", "its name"),
    ),
)

CREW_TASKS = Convention(
    kind="crewai-tasks",
    paths=("config/tasks.{yaml,yml}",),
    tool="CrewAI",
    title="list of CrewAI tasks",
    sort="crew",
    syntax="yaml",
    suffixes=(".yaml", ".yml"),
    measured=False,
    wraps="tasks",
    signs=frozenset({"description", "expected_output", "agent"}),
    fields=(Field("tasks", "the tasks, by name", by_name(_CREW_TASK)),),
    example_path="config/tasks.yaml",
    example="""\
review:
  description: Review the change and report each problem.
  expected_output: A list of problems with file and line.
  agent: reviewer
""",
)

RECIPE = Convention(
    kind="goose-recipe",
    tool="Goose",
    title="Goose recipe",
    sort="recipe",
    syntax="yaml",
    suffixes=(".yaml", ".yml"),
    measured=False,
    fields=(
        Field("version", "the version of the format", str | int | float),
        Field("title", "the name that people see", required="warning"),
        Field("description", "what it does", required="warning"),
        Field("instructions", "what the agent knows"),
        Field("prompt", "what it is asked first"),
        Field(
            "parameters",
            "what the user is asked for",
            list_of(
                Group(
                    "a parameter of a recipe",
                    (
                        Field("key", "its name: `{{ key }}` in the text", required="warning"),
                        Field("input_type", "what sort of value it is", required="warning"),
                        Field(
                            "requirement",
                            "whether it must be given",
                            Literal["required", "optional", "user_prompt"],
                            required="warning",
                        ),
                        Field("description", "what it is for", required="warning"),
                        Field("default", "the value if none is given", Any),
                        Field("options", "the values it may have", tuple[Any, ...]),
                    ),
                )
            ),
        ),
        Field("extensions", "the servers it needs", tuple[Any, ...]),
        Field("settings", "the model to use", Table),
        Field("sub_recipes", "recipes it may call", tuple[Any, ...]),
        Field("response", "the form of the result", Table),
        Field("retry", "when it tries again", Table),
        Field("activities", "examples of what to ask", Names),
        Field("author", "who wrote it", Table),
        Field("context", "further text", Any),
    ),
    example_path="recipe.yaml",
    example="""\
version: "1.0.0"
title: Review
description: Reviews a change and reports problems
instructions: You review changes. Report each problem with file and line.
prompt: Review {{ branch }}.
parameters:
  - key: branch
    input_type: string
    requirement: required
    description: the branch to review
""",
)

# Agents that other agents call over the network.

_CARD_SKILL = Group(
    "a skill of an agent card",
    (
        Field("id", "what tells it from the others", required="warning"),
        Field("name", "the name that people see", required="warning"),
        Field("description", "what it does", required="warning"),
        Field("tags", "words to find it by", Names, required="warning"),
        Field("examples", "what one may ask", Names),
        Field("inputModes", "the media types it takes", Names),
        Field("outputModes", "the media types it gives", Names),
        Field("security", "who may use it", tuple[Any, ...], restricts=True),
        Field("securityRequirements", "who may use it", tuple[Any, ...], restricts=True),
    ),
)
_INTERFACE = Group(
    "an interface of an agent card",
    (
        Field("url", "its address", required="warning"),
        Field("protocolBinding", "`JSONRPC`, `GRPC` or `HTTP+JSON`", instead=("transport",)),
        Field("transport", "the name of `protocolBinding` before version 1.0"),
        Field("protocolVersion", "the version of the protocol"),
        Field("tenant", "whose requests they are"),
    ),
)
AGENT_CARD = Convention(
    kind="a2a-card",
    paths=(".well-known/{agent-card,agent}.json", "agent-card.json"),
    tool="A2A",
    title="agent card",
    sort="agent card",
    syntax="json",
    identity="field",
    suffixes=(".json",),
    measured=False,
    fields=(
        Field("name", "the name that people see", required="warning"),
        Field("description", "what the agent does", required="warning"),
        Field("version", "its version", required="warning"),
        Field("url", "its address; from version 1.0 on in `supportedInterfaces`"),
        Field("supportedInterfaces", "its addresses, the best first", list_of(_INTERFACE)),
        Field("protocolVersion", "the version of the protocol"),
        Field("preferredTransport", "how to talk to it"),
        Field("additionalInterfaces", "further addresses", list_of(_INTERFACE)),
        Field("capabilities", "what it can do", Table, required="warning"),
        Field("defaultInputModes", "the media types it takes", Names, required="warning"),
        Field("defaultOutputModes", "the media types it gives", Names, required="warning"),
        Field("skills", "what one may ask it for", list_of(_CARD_SKILL), required="warning"),
        Field("provider", "who runs it", Table),
        Field("securitySchemes", "how to sign in, by name", Table, restricts=True),
        Field("security", "who may use it", tuple[Any, ...], restricts=True),
        Field("securityRequirements", "who may use it", tuple[Any, ...], restricts=True),
        Field("supportsAuthenticatedExtendedCard", "whether those who sign in see more", bool),
        Field("signatures", "proofs of who wrote it", tuple[Any, ...]),
        Field("iconUrl", "its picture"),
        Field("documentationUrl", "where to read about it"),
        Field("authentication", "how to sign in, in the first versions", Table),
        Field("$schema", "the schema for editors"),
    ),
    example_path=".well-known/agent-card.json",
    example="""\
{
  "name": "Reviewer",
  "description": "Reviews changes",
  "version": "1.0.0",
  "supportedInterfaces": [
    { "url": "https://example.org/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }
  ],
  "capabilities": { "streaming": true },
  "defaultInputModes": ["text/plain"],
  "defaultOutputModes": ["text/plain"],
  "skills": [
    { "id": "review", "name": "Review", "description": "Reviews a change", "tags": ["code"] }
  ]
}
""",
)

CONVENTIONS = (DOCKER_AGENT, CREW_AGENTS, CREW_TASKS, RECIPE, AGENT_CARD)
