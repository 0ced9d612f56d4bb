"""Attachments of notes: their media types, the references to them in texts, and the size of pictures."""

import re
from posixpath import basename, dirname, join, normpath
from struct import unpack_from
from typing import NamedTuple
from urllib.parse import quote, unquote

from ..normalization import normalize
from .links import wiki_file_at

ADDRESS = "/attachment?path="
PICTURES = {
    "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "png": "image/png", "svg": "image/svg+xml", "webp": "image/webp",
}  # fmt: skip
MEDIA_TYPES = PICTURES | {
    "3gp": "video/3gpp", "canvas": "application/json", "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "flac": "audio/flac",
    "heic": "image/heic", "m4a": "audio/mp4", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
    "odt": "application/vnd.oasis.opendocument.text", "ogg": "audio/ogg", "ogv": "video/ogg", "pdf": "application/pdf",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "tif": "image/tiff",
    "tiff": "image/tiff", "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip
"""The media types of the files that are stored, by file extension. Files with other extensions are not stored."""
SIZE = re.compile(r"(\d{1,4})(?:x\d{1,4})?")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
VIEW = re.compile(
    rb"<svg\b[^>]{0,2000}?\bviewBox=[\"']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+(\d{1,7})(?:\.\d*)?[\s,]+(\d{1,7})\b"
)


class Attachment(NamedTuple):
    """A reference to a file in a text: the path as written, and the text to show for it.

    `width` is in pixels, None if the text gives none. `end` is the position after the reference.
    """

    path: str
    shown: str
    is_embedded: bool
    width: int | None
    end: int


def media_type(path: str) -> str | None:
    """Return the media type of a file by its extension; None if such files are not stored."""
    return MEDIA_TYPES.get(path.rpartition(".")[2].lower()) if "." in basename(path) else None


def attachment_at(text: str, position: int) -> Attachment | None:
    """Return the attachment that `![[name]]` or `[[name.pdf]]` at this position refers to; None if there is none."""
    found = wiki_file_at(text, position)
    if found is None or media_type(found.name) is None:
        return None
    size = SIZE.fullmatch(found.text)
    shown = found.text if found.text and not size else basename(found.name)
    return Attachment(found.name, shown, found.is_embedded, int(size[1]) if size else None, found.end)


def attachment_path(address: str) -> str | None:
    """Return the path of the attachment that the address of a markdown link refers to; None for any other address."""
    path = unquote(address.partition("#")[0].partition("?")[0])
    is_elsewhere = SCHEME.match(path) or path.startswith(("/", "\\")) or not path.isprintable()
    return None if is_elsewhere or media_type(path) is None else path


def attachment_address(path: str, width: int | None = None) -> str:
    """Return the URL of an attachment for HTML, with the width in pixels that the text asks for."""
    # The path is a query parameter, because browsers would resolve a `..` in the path of the URL.
    return ADDRESS + quote(path) + (f"&width={width}" if width else "")


def likely_paths(written: str, folder: str) -> list[str]:
    """Return the paths, likeliest first, of the file that a note in `folder` refers to by the path `written`.

    Paths are relative to the top folder of the notes, and none leads out of it. Their letters are composed.
    """
    bare = written.removeprefix("./")
    near = composed_path(normpath(join(folder, bare)))
    top = composed_path(normpath(bare))
    return list(dict.fromkeys(path for path in (near, top) if not path.startswith("../")))


def folder_of(origin: object) -> str:
    """Return the folder of the file that a page was imported from.

    `origin` is the file's path in the page's metadata.
    """
    return dirname(origin) if isinstance(origin, str) else ""


def file_key(path: str) -> str:
    """Return the key by which a file is looked up in any folder: its name, case-folded and with composed letters."""
    return composed_path(basename(path)).casefold()


def composed_path(path: str) -> str:
    """Return a path with composed letters: macOS writes a letter and its accent as two characters, texts as one."""
    return normalize("NFC", path)


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Return the width and height of a picture in pixels; None if its first bytes do not tell them."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        size = unpack_from(">II", data, 16)
    elif data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        size = unpack_from("<HH", data, 6)
    elif data.startswith(b"\xff\xd8"):
        size = size_of_jpeg(data)
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        size = size_of_webp(data)
    else:
        found = VIEW.search(data[:4_000])
        size = tuple(map(int, found.groups())) if found else ()
    return (size[0], size[1]) if len(size) == 2 and all(0 < side < 1 << 20 for side in size) else None


def size_of_jpeg(data: bytes) -> tuple[int, ...]:
    """Return the width and height of a JPEG from its frame segment; () if there is none."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if mark in FRAMES:
            height, width = unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + max(length, 2)
    return ()


def size_of_webp(data: bytes) -> tuple[int, ...]:
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8 ":
        width, height = unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    bits = int.from_bytes(data[21:25], "little")
    return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
