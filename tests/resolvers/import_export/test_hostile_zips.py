"""Malicious zips: a faulty entry is reported, and the other entries are imported."""

import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest

from resolvers.errors import BadInput, LimitExceeded
from resolvers.import_export.disk import zips
from resolvers.import_export.disk.zips import unpack_zip
from resolvers.import_export.results import Problems
from tests.resolvers.import_export.vaults import import_counts, run_import
from tests.wiki import Wiki

GOOD = ("good.md", b"Good.")


def zipped(path: Path, entries: Iterable[tuple[str | ZipInfo, bytes]], method: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", method) as zip:
        for name, data in entries:
            zip.writestr(name, data)
    return path


def extract(path: Path) -> tuple[set[str], dict[str, str]]:
    """Return the extracted entries, and the reason for each entry that is not extracted."""
    problems = Problems()
    with unpack_zip(path, problems) as folder:
        extracted = {entry.relative_to(folder).as_posix() for entry in folder.rglob("*") if entry.is_file()}
        return extracted, {problem.path: problem.message for problem in problems.listed}


def link(name: str, mode: int) -> ZipInfo:
    info = ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


@pytest.mark.parametrize(
    "name",
    ["../out.md", "a/../../out.md", "/etc/out.md", "C:/out.md", "c:out.md", "a\\..\\out.md", "\\\\host\\out.md"],
)
def test_a_path_that_leads_out_of_the_zip_is_reported(tmp_path: Path, name: str) -> None:
    extracted, problems = extract(zipped(tmp_path / "x.zip", [(name, b"Out."), GOOD]))
    assert extracted == {"good.md"}
    assert list(problems.values()) == ["the path leads out of the zip"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.zip"]


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o060666, 0o010666, 0o140777])
def test_links_devices_and_pipes_are_not_extracted(tmp_path: Path, mode: int) -> None:
    extracted, problems = extract(zipped(tmp_path / "x.zip", [(link("a.md", mode), b"/etc/passwd"), GOOD]))
    assert extracted == {"good.md"}
    assert list(problems) == ["a.md"]


def test_the_name_of_an_entry_ends_at_a_nul(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("a.mdXx.md", b"A."), GOOD])
    path.write_bytes(path.read_bytes().replace(b"a.mdXx.md", b"a.md\0x.md"))
    assert extract(path) == ({"a.md", "good.md"}, {})


def test_the_second_of_two_files_of_one_name_is_reported(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("a.md", b"One."), ("b.md", b"Two.")])
    path.write_bytes(path.read_bytes().replace(b"b.md", b"a.md"))
    assert extract(path) == ({"a.md"}, {"a.md": "the zip holds two files of this name"})


def test_a_file_where_a_folder_is_needed_is_reported(tmp_path: Path) -> None:
    extracted, problems = extract(zipped(tmp_path / "x.zip", [("a.md", b"A."), ("a.md/b.md", b"B."), GOOD]))
    assert extracted == {"a.md", "good.md"}
    assert list(problems) == ["a.md/b.md"]


async def test_a_zip_without_notes_is_refused_without_naming_a_server_path(wiki: Wiki, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^No notes are in this: they end in \.md or \.markdown"):
        await run_import(wiki, zipped(tmp_path / "notes.zip", [("picture.png", b"")]))


def test_a_name_that_is_not_utf_8_is_reported_and_others_are_extracted(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("é.md", b"E."), GOOD])
    path.write_bytes(path.read_bytes().replace("é.md".encode(), b"\xff\xfe.md"))
    extracted, problems = extract(path)
    assert extracted == {"good.md"}
    ((name, message),) = problems.items()
    assert (name, "UTF-8" in message) == ("\ufffd\ufffd.md", True)


@pytest.mark.parametrize("method", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_a_broken_stream_is_reported_and_other_entries_are_extracted(tmp_path: Path, method: int) -> None:
    path = zipped(tmp_path / "x.zip", [("bad.md", bytes(range(256)) * 20), GOOD], method)
    data = bytearray(path.read_bytes())
    start = 30 + len("bad.md")
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    extracted, problems = extract(path)
    assert extracted == {"good.md"}
    assert list(problems) == ["bad.md"]


async def test_a_note_whose_bytes_changed_in_the_zip_becomes_no_page(wiki: Wiki, tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("bad.md", b"Twelve apples."), ("bad.png", b"Twelve"), GOOD], ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"Twelve", b"Eleven"))
    result = await run_import(wiki, path)
    assert (import_counts(result), [error.path for error in result.errors]) == ((1, 0, 0, 1), ["bad.md"])
    assert (result.attachments, [page["title"] for page in await wiki.rows("pages")]) == (0, ["good"])


def test_an_unknown_compression_method_is_reported(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", [("bad.md", b"x" * 100), GOOD])
    path.write_bytes(path.read_bytes().replace(b"\x08\x00", b"\x63\x00", 1).replace(b"\x08\x00", b"\x08\x00"))
    data = bytearray(path.read_bytes())
    entry = data.find(b"PK\x01\x02")
    data[entry + 10 : entry + 12] = b"\x63\x00"
    path.write_bytes(data)
    extracted, problems = extract(path)
    assert "good.md" in extracted
    assert list(problems) == ["bad.md"]


def test_a_false_size_in_a_zip_is_not_trusted(tmp_path: Path) -> None:
    """The zip declares ten bytes for a note that unpacks to ten million."""
    path = zipped(tmp_path / "x.zip", [("bomb.md", b"x" * 10_000_000), GOOD])
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 10_000_000), struct.pack("<L", 10)))
    extracted, problems = extract(path)
    assert "good.md" in extracted
    assert list(problems) == ["bomb.md"]


def test_entries_that_share_their_bytes_are_unpacked_once(tmp_path: Path) -> None:
    """Many entries of the directory point at one stream, as in overlapping zip bombs."""
    path = tmp_path / "x.zip"
    path.write_bytes(overlapping(1_000, b"x" * 1_000_000))
    assert path.stat().st_size < 100_000
    extracted, problems = extract(path)
    assert extracted == {"0000.md"}
    assert len(problems) == 999


def overlapping(count: int, content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    name = b"0000.md"
    facts = struct.pack("<5H3L", 20, 0, 8, 0, 33, zlib.crc32(content), len(packed), len(content))
    local = b"PK\x03\x04" + facts + struct.pack("<2H", len(name), 0) + name + packed
    directory = b"".join(
        b"PK\x01\x02\x14\x00" + facts + struct.pack("<5H2L", len(name), 0, 0, 0, 0, 0, 0) + b"%04d.md" % number
        for number in range(count)
    )
    return local + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(local), 0)


def test_a_zip_in_a_zip_is_not_unpacked(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", [("deep.md", b"x" * 1_000_000)]).read_bytes()
    assert extract(zipped(tmp_path / "x.zip", [("inner.zip", inner), GOOD])) == ({"good.md"}, {})


def test_too_many_entries_are_refused_before_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of entries that the zip declares is not trusted."""
    path = zipped(tmp_path / "x.zip", [(f"{n}.md", b"") for n in range(30)])
    data = bytearray(path.read_bytes())
    end = data.rfind(b"PK\x05\x06")
    data[end + 8 : end + 12] = struct.pack("<2H", 1, 1)
    path.write_bytes(data)
    monkeypatch.setattr(zips, "ENTRIES_MAX", 20)
    with pytest.raises(LimitExceeded, match="20 entries"), unpack_zip(path, Problems()):
        pass


@pytest.mark.parametrize("before", [b"", b"#!/bin/sh\nexit\n"])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_the_entries_of_a_zip_are_read_in_parts_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, before: bytes
) -> None:
    """The zip may have a comment, and bytes before its start."""
    monkeypatch.setattr(zips, "ENTRIES", size)
    path = tmp_path / "x.zip"
    with ZipFile(path, "w") as zip:
        for n in range(30):
            zip.writestr(f"folder/{n}.md", f"Note {n}.")
        zip.comment = b"made by hand"
    path.write_bytes(before + path.read_bytes())
    problems = Problems()
    with unpack_zip(path, problems) as folder:
        assert problems.listed == []
        assert {note.name: note.read_text() for note in (folder / "folder").iterdir()} == {
            f"{n}.md": f"Note {n}." for n in range(30)
        }


def test_a_zip64_archive_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 10)
    path = tmp_path / "x.zip"
    with ZipFile(path, "w") as zip:
        with zip.open("a.md", "w", force_zip64=True) as file:
            file.write(b"A.")
        for n in range(20):
            zip.writestr(f"p{n}.exe", b"")
    assert b"PK\x06\x06" in path.read_bytes()
    assert extract(path) == ({"a.md"}, {})


@pytest.mark.parametrize("cut", [1, 10, 21, 22, 40, 60])
def test_a_truncated_zip_is_refused(tmp_path: Path, cut: int) -> None:
    path = zipped(tmp_path / "x.zip", [GOOD])
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(BadInput, match="no zip"), unpack_zip(path, Problems()):
        pass


async def test_valid_entries_of_a_malicious_zip_become_pages(wiki: Wiki, tmp_path: Path) -> None:
    entries = [
        ("bom.md", b"\xef\xbb\xbf---\ntitle: Marked\n---\nText."),
        ("latin.md", "café".encode("latin-1")),
        ("nul.md", b"a\0b"),
        ("anchors.md", b"---\na: &a [x, x]\n" + b"".join(b"b%d: [*a, *a, *a]\n" % n for n in range(9)) + b"---\nT"),
        ("tags.md", b"---\na: !!python/object/apply:os.system ['true']\n---\nT"),
        ("deep.md", b"---\na: " + b"[" * 5_000 + b"]" * 5_000 + b"\n---\nT"),
        ("header.md", b"---\na: " + b"x" * 300_000 + b"\n---\nT"),
        ("huge.md", b"x" * 50_000_000),
        ("open.md", b"---\ntitle: x\nText."),
        ("long-name-" + "x" * 240 + ".md", b"Long."),
        ("deep/" * 30 + "far.md", b"Far."),
        GOOD,
    ]  # fmt: skip
    result = await run_import(wiki, zipped(tmp_path / "x.zip", entries))
    assert {"Marked", "good", "far"} <= {page["title"] for page in await wiki.rows("pages")}
    assert {"latin.md", "nul.md", "anchors.md", "tags.md", "deep.md", "header.md", "huge.md", "open.md"} <= {
        problem.path for problem in result.errors
    }
    assert all(problem.message for problem in result.errors)
    assert import_counts(await run_import(wiki, tmp_path / "x.zip"))[:2] == (0, 0)
