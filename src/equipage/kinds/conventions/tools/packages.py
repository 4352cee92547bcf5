"""MCP servers as packages, and graphs to deploy: the registry, bundles, FastMCP, LangGraph.

The tables follow the schemas that the projects publish. A finding that rests on a schema alone is a
warning: the programs that read the files are older and newer than any schema.
"""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import (
    Convention,
    Field,
    Group,
    NameRule,
    Names,
    Table,
    by_name,
    either,
    list_of,
)

# The registry of MCP servers.

# What a variable, a header and an argument have in common.
_INPUT = (
    Field("description", "what it is for"),
    Field("isRequired", "whether it must be given", bool, instead=("is_required",)),
    Field("format", "what sort of text it is", Literal["string", "number", "boolean", "filepath"]),
    Field("value", "its value"),
    Field("isSecret", "whether it is a secret", bool, instead=("is_secret",)),
    Field("default", "the value if none is given"),
    Field("placeholder", "an example of a value"),
    Field("choices", "the values it may have", Names),
    Field("variables", "the meaning of `{name}` in the value", Table),
)
_NAMED = Group(
    "a variable or header of a server", (Field("name", "its name", required="warning"), *_INPUT)
)
_ARGUMENT = Group(
    "an argument of a server",
    (
        Field("type", "how it is written", Literal["positional", "named"], required="warning"),
        Field("name", "the name of a named argument"),
        Field("valueHint", "what a positional argument is", instead=("value_hint",)),
        Field(
            "isRepeated", "whether it may be given several times", bool, instead=("is_repeated",)
        ),
        *_INPUT,
    ),
)
_LOCAL = Group(
    "a transport of a package",
    (
        Field(
            "type",
            "how to talk to the server",
            Literal["stdio", "sse", "streamable-http"],
            required="warning",
        ),
        Field("url", "the address, unless the type is `stdio`"),
        Field("headers", "headers of each request", list_of(_NAMED)),
    ),
)
_REMOTE = Group(
    "a remote of a server",
    (
        Field(
            "type",
            "how to talk to it",
            Literal["streamable-http", "sse"],
            required="warning",
            instead=("transport_type",),
        ),
        Field("url", "its address", required="warning"),
        Field("headers", "headers of each request", list_of(_NAMED)),
        Field("variables", "the meaning of `{name}` in the address", Table),
    ),
)
# Names with underscores are those of older revisions, which registries do not read any more.
_PACKAGE = Group(
    "a package of a server",
    (
        Field(
            "registryType",
            "where the package is: `npm`, `pypi`, `oci`, `nuget`, `mcpb`, `cargo`",
            required="warning",
            instead=("registry_type", "registry_name"),
        ),
        Field("identifier", "its name there", required="warning", instead=("name",)),
        Field("version", "its exact version"),
        Field("transport", "how to talk to the server", _LOCAL, required="warning"),
        Field("registryBaseUrl", "the address of the registry", instead=("registry_base_url",)),
        Field("runtimeHint", "the program that runs it", instead=("runtime_hint",)),
        Field(
            "runtimeArguments",
            "arguments of that program",
            list_of(_ARGUMENT),
            instead=("runtime_arguments",),
        ),
        Field(
            "packageArguments",
            "arguments of the server",
            list_of(_ARGUMENT),
            instead=("package_arguments",),
        ),
        Field(
            "environmentVariables",
            "variables it needs",
            list_of(_NAMED),
            instead=("environment_variables",),
        ),
        Field("fileSha256", "the hash of a bundle", instead=("file_sha256",)),
    ),
)

REGISTRY = Convention(
    kind="mcp-registry",
    tool="MCP registry",
    title="registry entry of an MCP server",
    sort="registry entry",
    syntax="json",
    identity="field",
    suffixes=(".json",),
    measured=False,
    fields=(
        Field("$schema", "the revision of the format", required="warning"),
        Field("name", "its name: a domain backwards, a slash, a name", required="warning"),
        Field("description", "what it does, in at most 100 characters", required="warning"),
        Field("version", "its exact version", required="warning"),
        Field("title", "the name that people see"),
        Field("websiteUrl", "where to read about it", instead=("website_url",)),
        Field("repository", "where its source is", Table),
        Field("icons", "pictures of it", tuple[Any, ...]),
        Field("packages", "how to install it", list_of(_PACKAGE)),
        Field("remotes", "where it runs already", list_of(_REMOTE)),
        Field("_meta", "anything else", Table),
        Field("status", "an old field without effect"),
    ),
    name=NameRule(
        r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", "a domain backwards, a slash and a name: `org.x/name`"
    ),
    longest={"description": 100, "title": 100},
    example_path="server.json",
    example="""\
{
  "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "io.github.example/reviewer",
  "description": "Reviews changes",
  "version": "1.0.0",
  "packages": [
    {
      "registryType": "npm",
      "identifier": "@example/reviewer",
      "version": "1.0.0",
      "transport": { "type": "stdio" }
    }
  ]
}
""",
)

# Bundles: a server in an archive, with a manifest.

_LAUNCH = (
    Field("command", "the program to start", required="warning"),
    Field("args", "the arguments of the program", Names),
    Field("env", "environment variables to add", Table),
)
BUNDLE = Convention(
    kind="mcp-bundle",
    tool="MCP bundles",
    title="manifest of an MCP bundle",
    sort="bundle",
    syntax="json",
    identity="field",
    suffixes=(".json",),
    measured=False,
    fields=(
        Field("$schema", "the schema for editors"),
        Field("manifest_version", "the version of the format", Literal["0.1", "0.2", "0.3", "0.4"]),
        Field("dxt_version", "the old name of `manifest_version`"),
        Field("name", "its name", required="warning"),
        Field("display_name", "the name that people see"),
        Field("version", "its version", required="warning"),
        Field("description", "what it does, in a few words", required="warning"),
        Field("long_description", "what it does, at length"),
        Field(
            "author",
            "who wrote it",
            Group(
                "the author of a bundle",
                (
                    Field("name", "who it is", required="warning"),
                    Field("email", "an address for mail"),
                    Field("url", "an address on the web"),
                ),
            ),
            required="warning",
        ),
        Field(
            "server",
            "how the server is started",
            Group(
                "the server of a bundle",
                (
                    Field(
                        "type",
                        "what it is written in",
                        Literal["python", "node", "binary", "uv"],
                        required="warning",
                    ),
                    Field("entry_point", "the file to start", required="warning"),
                    Field(
                        "mcp_config",
                        "the command that starts it",
                        Group(
                            "the start of a bundle",
                            (*_LAUNCH, Field("platform_overrides", "by system", Table)),
                        ),
                        required="warning",
                    ),
                ),
            ),
            required="warning",
        ),
        Field("tools", "the tools it has", tuple[Any, ...]),
        Field("tools_generated", "whether it has further tools", bool),
        Field("prompts", "the prompts it has", tuple[Any, ...]),
        Field("prompts_generated", "whether it has further prompts", bool),
        Field(
            "user_config",
            "what the user is asked for, by name",
            by_name(
                Group(
                    "a setting of a bundle",
                    (
                        Field(
                            "type",
                            "what sort of value it is",
                            Literal["string", "number", "boolean", "directory", "file"],
                            required="warning",
                        ),
                        Field("title", "the name that people see", required="warning"),
                        Field("description", "what it is for", required="warning"),
                        Field("required", "whether it must be given", bool),
                        Field("default", "the value if none is given", Any),
                        Field("multiple", "whether there may be several", bool),
                        Field("sensitive", "whether it is a secret", bool),
                        Field("min", "the smallest number", int | float),
                        Field("max", "the largest number", int | float),
                    ),
                )
            ),
        ),
        Field("compatibility", "where it runs", Table),
        Field("repository", "where its source is", str | Table),
        Field("homepage", "where to read about it"),
        Field("documentation", "where to read how to use it"),
        Field("support", "where to ask"),
        Field("icon", "its picture"),
        Field("icons", "pictures of several sizes", tuple[Any, ...]),
        Field("screenshots", "pictures of its use", Names),
        Field("localization", "its texts in other languages", Table),
        Field("keywords", "words to find it by", Names),
        Field("license", "the licence"),
        Field("privacy_policies", "what happens to data", Names),
        Field("_meta", "anything else", Table),
    ),
    example_path="manifest.json",
    example="""\
{
  "manifest_version": "0.3",
  "name": "reviewer",
  "version": "1.0.0",
  "description": "Reviews changes",
  "author": { "name": "Example" },
  "server": {
    "type": "node",
    "entry_point": "server/index.js",
    "mcp_config": { "command": "node", "args": ["${__dirname}/server/index.js"] }
  }
}
""",
)

FASTMCP = Convention(
    kind="fastmcp",
    paths=("fastmcp.json", "*.fastmcp.json"),
    tool="FastMCP",
    title="FastMCP configuration",
    sort="server",
    syntax="json",
    suffixes=(".fastmcp.json", ".json"),
    measured=False,
    fields=(
        Field("$schema", "the schema for editors"),
        Field(
            "source",
            "where the server is",
            Group(
                "the source of a FastMCP server",
                (
                    Field("type", "`filesystem`"),
                    Field("path", "the file of the server", required="warning"),
                    Field("entrypoint", "the object in the file"),
                ),
            ),
            required="warning",
            instead=("entrypoint",),
        ),
        Field(
            "environment",
            "what it needs",
            Group(
                "the environment of a FastMCP server",
                (
                    Field("type", "`uv`"),
                    Field("python", "the version of Python"),
                    Field("dependencies", "packages to install", Names),
                    Field("requirements", "a file with packages to install"),
                    Field("project", "the project to run in"),
                    Field("editable", "folders to install", Names),
                ),
            ),
        ),
        Field(
            "deployment",
            "how it runs",
            Group(
                "the deployment of a FastMCP server",
                (
                    Field(
                        "transport",
                        "how to talk to it",
                        Literal["stdio", "http", "sse", "streamable-http"],
                    ),
                    Field("host", "the address it listens at"),
                    Field("port", "the port it listens at", int),
                    Field("path", "the path of its address"),
                    Field(
                        "log_level",
                        "how much is logged",
                        Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"],
                    ),
                    Field("cwd", "the folder it runs in"),
                    Field("env", "environment variables to set", Table),
                    Field("args", "arguments of the server", Names),
                ),
            ),
        ),
    ),
    example_path="fastmcp.json",
    example="""\
{
  "source": { "path": "server.py", "entrypoint": "mcp" },
  "environment": { "dependencies": ["httpx"] },
  "deployment": { "transport": "http", "port": 8000 }
}
""",
)

_GRAPH = Group(
    "a graph of LangGraph",
    (
        Field("path", "the file and the variable: `./file.py:graph`", required="warning"),
        Field("description", "what it does"),
    ),
)

LANGGRAPH = Convention(
    kind="langgraph",
    paths=("langgraph.json",),
    tool="LangGraph",
    title="LangGraph configuration",
    sort="graphs",
    syntax="json",
    suffixes=(".json",),
    measured=False,
    fields=(
        Field(
            "graphs",
            "graphs by name, each as `./file.py:variable`",
            by_name(either(str, _GRAPH)),
            required="warning",
        ),
        Field("dependencies", "packages and folders to install", Names),
        Field("env", "environment variables, or a file with them", str | Table),
        Field("python_version", "the version of Python", Literal["3.11", "3.12", "3.13"]),
        Field("node_version", "the version of Node", str | int),
        Field("store", "where things are kept", Table),
        Field("checkpointer", "where the state is kept", Table),
        Field("auth", "who may use it", Table, restricts=True),
        Field("encryption", "how data is encrypted", Table),
        Field("http", "what the server offers", Table),
        Field("webhooks", "where events are sent", Table),
        Field("ui", "parts of a page, by name", Table),
        Field("ui_config", "how the page looks", Table),
        Field("source", "where packages come from", Any),
        Field("dockerfile_lines", "further lines of the image", Names),
        Field("base_image", "the image to start from"),
        Field("image_distro", "the distribution of the image"),
        Field("pip_installer", "the program that installs", Literal["auto", "pip", "uv"]),
        Field("pip_config_file", "a file for that program"),
        Field("keep_pkg_tools", "whether it stays in the image", bool | Names),
        Field("api_version", "the version of the server"),
        Field("$schema", "the schema for editors"),
        Field("_INTERNAL_docker_tag", "for LangGraph's own use"),
    ),
    example_path="langgraph.json",
    example="""\
{
  "dependencies": ["."],
  "graphs": { "reviewer": "./reviewer.py:graph" },
  "env": ".env"
}
""",
)

CONVENTIONS = (REGISTRY, BUNDLE, FASTMCP, LANGGRAPH)
