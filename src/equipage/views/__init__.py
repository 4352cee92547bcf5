"""Questions about loads, answered as values: lists, differences, locks, graphs and schemas.

Nothing here asks the operating system or writes text; `files` does the one, `render` the other.
"""
