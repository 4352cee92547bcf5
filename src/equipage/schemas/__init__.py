"""JSON Schemas inside configurations.

`structure` knows the drafts, where subschemas are, and what a reference's fragment points to;
`patterns` judges regular expressions; `checking` compares a schema with the meta-schema of its
draft, which `plain` ones need not. Nothing here reads a file or opens a socket, whatever a schema
says.
"""
