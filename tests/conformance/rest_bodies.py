"""Loaded by schemathesis: bodies of these kinds are sent as the bytes that they are."""

import schemathesis

schemathesis.serializer.alias(
    ["application/zip", "application/jsonl", "application/x-ndjson"], "application/octet-stream"
)
