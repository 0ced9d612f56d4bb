"""Parsing of the forms that browsers send, with or without a file."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from ..http.request import Bodies, Refused, header

MULTIPART = "multipart/form-data"


@dataclass(frozen=True)
class Upload:
    """A file that a browser uploaded with a form."""

    name: str
    media_type: str | None
    data: bytes


def content_type(request: Request) -> str:
    """Return the media type of a request's body without its parameters, in lower case."""
    return (header(request.scope, b"content-type") or "").partition(";")[0].strip().lower()


async def read_form(bodies: Bodies, request: Request) -> dict[str, str]:
    """Return the fields of an urlencoded form. If a name is repeated, its last value counts. Raises Refused."""
    if content_type(request) != "application/x-www-form-urlencoded":
        raise Refused(415, "Send the form as application/x-www-form-urlencoded.", "UNSUPPORTED_MEDIA_TYPE")
    body = await bodies.read(request.scope, request.receive)
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=1_000)
    except ValueError:
        raise Refused(400, "The form is not valid UTF-8, or has more than 1,000 fields.") from None
    return {name: values[-1] for name, values in found.items()}


async def read_multipart(bodies: Bodies, request: Request) -> tuple[dict[str, str], Upload | None]:
    """Return the fields of a multipart form, and its file if the person chose one. Raises Refused."""
    body = await bodies.read(request.scope, request.receive)

    async def chunks() -> AsyncGenerator[bytes]:
        yield body

    fields: dict[str, str] = {}
    upload = None
    try:
        form = await MultiPartParser(
            request.headers, chunks(), max_files=1, max_fields=100, max_part_size=len(body) + 1
        ).parse()
    except (MultiPartException, ValueError, KeyError) as error:
        raise Refused(400, f"The form cannot be read: {error}") from None
    try:
        for name, value in form.multi_items():
            if isinstance(value, str):
                fields[name] = value
            elif value.filename:
                upload = Upload(value.filename, value.content_type, await value.read())
    finally:
        await form.close()
    return fields, upload
