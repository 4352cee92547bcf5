"""Tables about clients and nothing else: their files, fields and tools."""
