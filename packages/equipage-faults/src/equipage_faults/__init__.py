"""Runs a `server` configuration: an MCP server that misbehaves on purpose, the same way each time.

The engine has no I/O: bytes of a client and the time go in, items for channels come out. What it
does over time are jobs, generators of steps; `jobs` runs them in one order that depends on nothing
but the input, the seed and the clock. Transports carry bytes between the engine and the client.

    wire        what a client sent; the bytes of what we send; two revisions of the protocol
    phases      what the server offers in each; counters, transitions and timers
    matching    conditions, triggers and patterns; `${…}` in answers
    answers     what an item answers; `handlers` ask programs and web services
    responding  what the server answers, and how; `delivery`: how its bytes reach the client
    effects     what else the server does, and when
    jobs        channels, and jobs that write to them over time
    routes      connections, and the ways of the server's own messages
    exchange    what the parts share: the run, one request
    engine      the order of everything
    trace       one JSON line for everything that happened; what a client should have done
    driver      the engine in the world, and its pipes; `http` and `web` carry its bytes, too
    run         one run, from the command line to the exit code; `caps`: what it may cost
"""
