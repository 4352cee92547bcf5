"""A `server` configuration as a running MCP server that misbehaves on purpose, and repeatably.

The engine has no I/O: bytes of a client and the time go in, items for channels come out. What it
does over time are jobs, generators of steps; `jobs` runs them in one order that depends on nothing
but the input, the seed and the clock. Transports carry bytes between the engine and the client.

    wire        what a client sent; the bytes of what we send
    views       what the server offers in each phase
    matching    conditions, triggers and patterns
    templates   `${…}` in answers
    answers     a request to a result
    delivery    how the bytes of an answer reach the client
    effects     what else the server does
    jobs        channels, and jobs that write to them over time
    phases      counters, transitions and timers
    engine      the order of everything, for one request
    trace       one JSON line for everything that happened
    expect      what a client should have done, checked against a trace
    driver      the engine, a clock and the transports
"""
