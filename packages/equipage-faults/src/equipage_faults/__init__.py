"""Runs a `server` configuration: an MCP server that misbehaves on purpose, the same way each time.

The engine has no I/O: bytes of a client and the time go in, items for channels come out. What it
does over time are jobs, generators of steps; `jobs` runs them in one order that depends on nothing
but the input, the seed and the clock. Transports carry bytes between the engine and the client.

    wire        what a client sent; the bytes of what we send
    views       what the server offers in each phase
    matching    conditions, triggers and patterns
    templates   `${…}` in answers
    answers     what an item answers; `replies`: what the server answers
    delivery    how the bytes of an answer reach the client; `responding`: the whole answer
    effects     what else the server does; `sides`: when
    jobs        channels, and jobs that write to them over time
    routes      connections, and the ways of the server's own messages
    phases      counters, transitions and timers
    exchange    what the parts share: the run, one request
    engine      the order of everything
    trace       one JSON line for everything that happened
    expect      what a client should have done, checked against a trace
    driver      the engine in the world; `stdio`, `http` and `web` carry its bytes
    run         one run, from the command line to the exit code
"""
