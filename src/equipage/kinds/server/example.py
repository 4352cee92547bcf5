"""A good first file."""

from __future__ import annotations

EXAMPLE = """\
# An MCP server for tests: one tool that answers slowly. Check it with `equipage check`.
server:
  name: NAME
  version: "1.0"            # quoted: a bare 1.0 would be a number

tools:
  - tool:
      name: echo
      description: Says back what it is told
      inputSchema:
        type: object
        properties:
          text: {type: string}
        required: [text]
    response:
      content:
        - type: text
          text: "You said: $${args.text}"   # filled at run time; with one $ it would be an environment variable

behavior:
  delivery: {type: slow_loris, byte_delay_ms: 20}

# Patterns can live in files of a library and be shared:
#   - $include: tools/echo.yaml
#     override: {tool: {name: echo2}}
# Payloads are described and made only when they are sent:
#   text: {$generate: {type: nested_json, depth: 1000}}
"""
