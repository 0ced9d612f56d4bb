"""Hooks of schemathesis: bodies as the bytes that they are, and most requests in the wiki that is there."""

import os
import random
from contextlib import suppress
from typing import Any
from uuid import UUID

import schemathesis
from schemathesis.core.parameters import ParameterLocation

OWNER = UUID(os.environ["CAIRN_OWNER"])
FOREIGN = 0.05  # of the requests that name an owner name one whose wiki the credential may not use

schemathesis.serializer.alias(
    ["application/zip", "application/jsonl", "application/x-ndjson"], "application/octet-stream"
)


@schemathesis.hook
def before_call(context: Any, case: Any, options: Any) -> None:
    """Any well-formed id of an owner is drawn otherwise: 403 would be all that is ever seen. What is no id stays, and
    so do headers that are wrong on purpose: schemathesis would take them for mended."""
    meta = case.meta
    if meta and meta.generation.mode.is_negative and meta.phase.data.parameter_location == ParameterLocation.HEADER:
        return
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        if UUID(case.headers["X-Cairn-Owner"]) != OWNER and random.random() >= FOREIGN:
            case.headers["X-Cairn-Owner"] = str(OWNER)
