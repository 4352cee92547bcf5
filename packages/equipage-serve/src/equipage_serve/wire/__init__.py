"""Tools and skills over MCP. Only this part of the room needs the package `mcp`."""
