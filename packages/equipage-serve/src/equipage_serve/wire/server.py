"""The MCP server over a catalogue: both revisions of the protocol, and the Skills extension.

The package `mcp` speaks the protocol; here is what it asks for. `ServedCatalogue` holds what is
served now; a request looks at it once, so a reload never shows half of the old and half of the new.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from equipage import __version__
from equipage_serve.engine import Engine
from equipage_serve.outcome import Result
from equipage_serve.wire.catalogue import (
    CODE,
    EXECUTION,
    BadCursor,
    Catalogue,
    Entry,
    normalize_uri,
    page,
)

MODERN = "2026-07-28"
SKILLS = "io.modelcontextprotocol/skills"
_RESOURCE_NOT_FOUND = -32002  # only in the older revision
#: How long clients may keep lists, in milliseconds: if they can change, and if they cannot.
_TTL_WATCHED, _TTL_FROZEN = 5_000, 300_000
_CACHED: tuple[CacheableMethod, ...] = (
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)
_MAX_SUBSCRIPTIONS = 64
#: Notices of progress per second.
_PROGRESS_RATE = 10
_PROGRESS = re.compile(r"progress (\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?(?: (.{0,200}))?")


class _SkillParams(types.RequestParams):
    uri: str


class _FolderParams(types.PaginatedRequestParams):
    uri: str


class ServedCatalogue:
    """What is served now, and who must hear of a change."""

    def __init__(self, catalogue: Catalogue, engine: Engine, *, watched: bool, private: bool):
        self.catalogue, self.engine = catalogue, engine
        self.bus = InMemorySubscriptionBus()
        self.sessions: list[Any] = []  #: of clients that speak the older revision
        ttl = _TTL_WATCHED if watched else _TTL_FROZEN
        self.hint = CacheHint(ttl, "private" if private else "public")

    async def replace(self, catalogue: Catalogue) -> None:
        """Serve something else from now on; clients hear of what changed for them."""
        # Replaced before the engine is: a request between the two sees a tool that the engine still
        # runs, because it passes the tool itself.
        old, self.catalogue = self.catalogue.snapshot, catalogue
        new = catalogue.snapshot
        await self.engine.replace(new.tools)
        # By digest, so that a save without a change wakes no client.
        if old.tools_digest() != new.tools_digest():
            await self.bus.publish(ToolsListChanged())
            await self._notify_sessions(lambda session: session.send_tool_list_changed())
        if old.skills_digest() != new.skills_digest():
            await self.bus.publish(ResourcesListChanged())
            await self._notify_sessions(lambda session: session.send_resource_list_changed())

    async def _notify_sessions(self, send: Callable[[Any], Any]) -> None:
        for session in tuple(self.sessions):
            try:
                await asyncio.wait_for(send(session), 5)
            except Exception:  # the client is gone, whatever the transport says about it
                self.sessions.remove(session)

    def cache_hints(self, ctx: Any) -> Any:
        """The hints that the newer revision wants in results of the extension."""
        if not _is_modern(ctx):
            return {}
        return {"ttlMs": self.hint.ttl_ms, "cacheScope": self.hint.scope}


def build(
    served: ServedCatalogue, principal: Callable[[Any], str] = lambda _ctx: ""
) -> Server[Any]:
    """The server. `principal` says who makes a request."""
    handlers = _Handlers(served, principal)
    catalogue = served.catalogue
    server = _AnnouncingServer(
        "equipage",
        version=__version__,
        title="equipage",
        instructions=_instructions(catalogue),
        cache_hints=dict.fromkeys(_CACHED, served.hint),
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscriptions_listen=ListenHandler(served.bus, max_subscriptions=_MAX_SUBSCRIPTIONS),
    )
    server.extensions[SKILLS] = {"directoryRead": True}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, handlers.list_skills)
    server.add_request_handler("skills/get", _SkillParams, handlers.get_skill)
    server.add_request_handler("resources/directory/read", _FolderParams, handlers.read_folder)
    server.middleware.append(handlers.remember_session)
    return server


#: What a server announces to clients of the older revision.
_CHANGES = NotificationOptions(tools_changed=True, resources_changed=True)


class _AnnouncingServer(Server[Any]):
    """Announces changes of its lists over every transport; that of HTTP passes no options."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        return super().create_initialization_options(
            notification_options or _CHANGES, *more, **named
        )


def _instructions(catalogue: Catalogue) -> str | None:
    if not catalogue.skills:
        return None
    names = ", ".join(each.name for each in catalogue.snapshot.skills[:20])
    return f"Skills are offered as resources (skill://NAME/SKILL.md): {names}."


def _is_modern(ctx: Any) -> bool:
    return bool(ctx.protocol_version >= MODERN)


class _Handlers:
    """One method for each request."""

    def __init__(self, served: ServedCatalogue, principal: Callable[[Any], str]) -> None:
        self.served, self.principal = served, principal

    def input_schema(self, name: str) -> Any:
        entry = self.served.catalogue.entries.get(name)
        return None if entry is None else entry.modern["inputSchema"]

    async def remember_session(self, ctx: Any, call_next: Any) -> Any:
        # Clients of the newer revision subscribe; those of the older one must be remembered.
        if ctx.method == "notifications/initialized" and ctx.session not in self.served.sessions:
            self.served.sessions.append(ctx.session)
        return await call_next(ctx)

    # Tools.

    async def list_tools(self, ctx: Any, params: Any) -> Any:
        entries = self.served.catalogue.entries
        names, more = _page(list(entries), params)
        modern = _is_modern(ctx)
        listed = [entries[each].definition(modern=modern) for each in names]
        return _page_result(ctx, {"tools": listed}, more)

    async def call_tool(self, ctx: Any, params: Any) -> Any:
        entry = self.served.catalogue.entries.get(params.name)
        if entry is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:128]}")
        progress = _Progress(ctx)
        # The tool of the entry goes along: a reload between the look and the call changes nothing.
        call = self.served.engine.call(
            entry.tool.pack.id,
            params.arguments,
            tool=entry.tool,
            principal=self.principal(ctx),
            heard=progress.forward_line if progress.wanted else None,
        )
        try:
            result = await call
        finally:
            await progress.end()
        return _result(ctx, _call_result(result, entry, modern=_is_modern(ctx)))

    # Skills.

    async def list_resources(self, ctx: Any, params: Any) -> Any:
        resources = self.served.catalogue.resources
        uris, more = _page(sorted(resources), params)
        return _page_result(ctx, {"resources": [resources[each] for each in uris]}, more)

    async def list_templates(self, ctx: Any, params: Any) -> Any:
        return _result(ctx, {"resourceTemplates": []})

    async def read_resource(self, ctx: Any, params: Any) -> Any:
        # Addresses are compared in one form, because clients escape them differently.
        file = self.served.catalogue.files.get(normalize_uri(str(params.uri)))
        if file is None:
            code = types.INVALID_PARAMS if _is_modern(ctx) else _RESOURCE_NOT_FOUND
            raise MCPError(code, "Resource not found", {"uri": str(params.uri)})
        content: dict[str, Any] = {"uri": file.uri, "mimeType": file.mime_type}
        if (text := file.text) is None:
            content["blob"] = base64.b64encode(file.data).decode()
        else:
            content["text"] = text
        return _result(ctx, {"contents": [content]})

    async def read_folder(self, ctx: Any, params: Any) -> Any:
        folders = self.served.catalogue.folders
        wanted = normalize_uri(params.uri).rstrip("/")
        found = next(
            (inner for uri, inner in folders.items() if normalize_uri(uri) == wanted), None
        )
        if found is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such folder", {"uri": params.uri})
        by_uri = {each["uri"]: each for each in found}
        uris, more = _page(sorted(by_uri), params)
        result = {"resources": [by_uri[each] for each in uris], **self.served.cache_hints(ctx)}
        return _page_result(ctx, result, more)

    async def list_skills(self, ctx: Any, params: Any) -> Any:
        skills = self.served.catalogue.skills
        uris, more = _page(sorted(skills), params)
        result = {"skills": [skills[each] for each in uris], **self.served.cache_hints(ctx)}
        return _page_result(ctx, result, more)

    async def get_skill(self, ctx: Any, params: Any) -> Any:
        wanted = normalize_uri(params.uri)
        skills = self.served.catalogue.skills
        found = next((entry for uri, entry in skills.items() if normalize_uri(uri) == wanted), None)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such skill", {"uri": params.uri})
        return {"skill": found, **self.served.cache_hints(ctx)}


def _page(keys: Sequence[str], params: Any) -> tuple[list[str], str | None]:
    try:
        return page(keys, None if params is None else params.cursor)
    except BadCursor:
        raise MCPError(types.INVALID_PARAMS, "This server did not make the cursor") from None


def _page_result(ctx: Any, result: dict[str, Any], more: str | None) -> dict[str, Any]:
    return _result(ctx, result if more is None else {**result, "nextCursor": more})


def _result(ctx: Any, result: dict[str, Any]) -> dict[str, Any]:
    """A result as the revision of the client wants it."""
    return {"resultType": "complete", **result} if _is_modern(ctx) else result


def _call_result(result: Result, entry: Entry, *, modern: bool) -> dict[str, Any]:
    meta: Mapping[str, Any] = {EXECUTION: result.stats.to_dict()}
    if not result.ok:
        content = [{"type": "text", "text": result.text}]
        return {"content": content, "isError": True, "_meta": {**meta, CODE: result.code}}
    text = json.dumps(result.data, ensure_ascii=False)
    wire: dict[str, Any] = {"content": [{"type": "text", "text": text}], "_meta": meta}
    # Clients of the older revision accept nothing but a mapping here.
    if modern or entry.has_mapping or isinstance(result.data, dict):
        wire["structuredContent"] = result.data
    return wire


class _Progress:
    """Passes on the lines of progress that a tool writes to its standard error."""

    def __init__(self, ctx: Any) -> None:
        self.session = ctx.session
        meta = ctx.meta or {}
        self.wanted = meta.get("progress_token", meta.get("progressToken")) is not None
        self._last = -1.0
        self._next = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._queue = asyncio.Lock()

    def forward_line(self, line: str) -> None:
        """A line of standard error: `progress 3/10 reading`."""
        found = _PROGRESS.fullmatch(line.strip())
        now = asyncio.get_running_loop().time()
        # Progress must grow, and a flood of it would delay the answer.
        if found is None or float(found[1]) <= self._last or now < self._next:
            return
        self._last, self._next = float(found[1]), now + 1 / _PROGRESS_RATE
        total = None if found[2] is None else float(found[2])
        task = asyncio.ensure_future(self._send(self._last, total, found[3]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, done: float, total: float | None, text: str | None) -> None:
        async with self._queue:  # in order
            try:
                await self.session.report_progress(done, total, text)
            except Exception:  # the client is gone; the call ends for that reason, too
                return

    async def end(self) -> None:
        """Nothing is sent after the result."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
