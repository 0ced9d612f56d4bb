"""Who sends: one process of the service called cairn, unless OTEL_SERVICE_NAME calls it otherwise."""

from functools import cache
from importlib.metadata import version
from uuid import uuid4

from opentelemetry.sdk.resources import OTELResourceDetector, Resource


@cache
def resource() -> Resource:
    ours = {"service.name": "cairn", "service.version": version("cairn-wiki"), "service.instance.id": str(uuid4())}
    return Resource.create(ours).merge(OTELResourceDetector().detect())
