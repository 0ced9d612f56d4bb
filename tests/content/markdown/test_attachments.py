"""Attachments have a media type and likely paths, and pictures have a size."""

import struct

import pytest

from content.markdown.attachments import file_key, folder_of, likely_paths, media_type, picture_size

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/B.PNG", "image/png"),
        ("plan.pdf", "application/pdf"),
        ("x.html", None),
        ("a.js", None),
        ("png", None),
        ("a.png/b", None),
    ],
)
def test_media_types_of_known_extensions_are_found(path: str, kind: str | None) -> None:
    assert media_type(path) == kind


@pytest.mark.parametrize(
    ("written", "folder", "paths"),
    [
        ("a.png", "notes/day", ["notes/day/a.png", "a.png"]),
        ("../a.png", "notes/day", ["notes/a.png"]),
        ("./x/../a.png", "", ["a.png"]),
        ("../../../a.png", "notes", []),
    ],
)
def test_an_attachment_is_looked_for_first_in_the_folder_of_its_note(
    written: str, folder: str, paths: list[str]
) -> None:
    assert likely_paths(written, folder) == paths


def test_attachment_names_are_compared_without_folder_and_case() -> None:
    assert (file_key("A/Straße.PNG"), folder_of("a/b.md"), folder_of(None)) == ("strasse.png", "a", "")


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (640, 480)),
        (b"GIF89a" + struct.pack("<HH", 3, 2), (3, 2)),
        (JPEG, (640, 480)),
        (b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x7f\x02\0\xdf\x01\0", (640, 480)),
        (b'<?xml version="1.0"?><svg xmlns="x" viewBox="0 0 30 20.4">', (30, 20)),
        (PNG[:20], None),
        (JPEG[:12], None),
        (b"RIFF", None),
        (b"\xff\xd8" + b"\xff\xe0\0\0" * 5, None),
        (b'<svg viewBox="0 0 1..2 .">', None),
        (b"", None),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_header(data: bytes, size: tuple[int, int] | None) -> None:
    assert picture_size(data) == size
