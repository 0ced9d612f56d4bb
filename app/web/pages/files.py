"""Attachments and originals: looked up for the texts that refer to them, and served so that browsers never run them."""

from collections.abc import Iterable
from urllib.parse import quote, unquote

from starlette.responses import Response

from content.markdown.attachments import folder_of
from db.scope import Scope as Wiki
from resolvers.auth.owners import find_owner
from resolvers.errors import NotFound
from resolvers.sources.attachments import NO_FILE, find_attachments, read_attachment
from resolvers.sources.blobs import NO_ORIGINAL, read_original
from resolvers.tenants.tenants import as_id

from ..endpoint import Visit
from ..prose import IMAGE_TYPES, NO_FILES, Files, attachment_names

# For files that people have uploaded: a browser may show an image with the styles inside of it, and nothing else.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"


async def find_files(visit: Visit, texts: Iterable[str], origin: object = None) -> Files:
    """Return the attachments that these texts refer to. `origin` is the path that their page was imported from."""
    names = {name for text in texts if "wiki-attachment" in text for name in attachment_names(text)}
    if not names:
        return NO_FILES
    return await find_attachments(visit.web.database, await owner_scope(visit), folder_of(origin), names)


async def owner_scope(visit: Visit) -> Wiki:
    """Return the scope of the wiki that the path names. It is not checked whether the credential may read that wiki."""
    try:
        owner = await find_owner(visit.web.database, visit.wiki.tenant_id, visit.owner or "")
    except NotFound:
        raise NotFound(NO_FILE) from None
    return visit.wiki.in_owner(owner.id)


async def send_file(visit: Visit) -> Response:
    """Send an attachment: images are shown by the browser, any other file is downloaded."""
    try:
        file = await read_attachment(visit.web.database, await owner_scope(visit), visit.request.path_params["path"])
    except NotFound:
        raise NotFound(NO_FILE) from None
    name = file.path.rpartition("/")[2]
    return file_response(visit, name, file.media_type, file.hash, file.data, is_shown=file.media_type in IMAGE_TYPES)


async def send_original(visit: Visit) -> Response:
    """Send the original file of a source as a download, which the browser never shows."""
    id = as_id(visit.request.path_params["id"])
    if id is None:
        raise NotFound(NO_ORIGINAL)
    file = await read_original(visit.web.database, visit.wiki, id)
    name = unquote(file.address).rstrip("/").rpartition("/")[2] or "original"
    return file_response(visit, name, file.media_type, file.sha256, file.data, is_shown=False)


def file_response(visit: Visit, name: str, media_type: str, hash: str, data: bytes, *, is_shown: bool) -> Response:
    tag = f'"{hash}"'
    headers = {
        "content-disposition": f"{'inline' if is_shown else 'attachment'}; filename*=UTF-8''{quote(name, safe='')}",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-cache",
        "etag": tag,
        "vary": "Cookie",
    }
    if visit.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)
