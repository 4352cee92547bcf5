"""MCP servers: `.mcp.json` and its relatives, and the tables of the tools that read them."""
