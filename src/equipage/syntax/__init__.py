"""Text to plain values, with places on demand.

Each syntax is a module with the functions of `engine.Engine`; `document` puts one of them over a source.
"""
