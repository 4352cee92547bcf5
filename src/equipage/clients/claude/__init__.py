"""What only Claude Code has: permission rules, hooks, manifests.

The tables in `clients.tables` say which fields there are. Here is what a table cannot say;
`rules.RULES` has the rules of each kind.
"""

from __future__ import annotations
