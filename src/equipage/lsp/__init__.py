"""The language server: findings of a check, and answers about a text, while it is being written.

`server` speaks the protocol; every answer is a function of the workspace and a position, in a
module of its own (`hover`, `completion`, `navigation` …). Unsaved texts are an overlay over the
disk, so that recognition, includes and references between files see them. Nothing is executed, and
no socket is opened: the server reads standard input and writes standard output.
"""
