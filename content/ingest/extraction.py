"""Extract the text of a file as markdown, from which pages are written, and which search and citations use.

As a program, this module reads a file of the media type in its argument from stdin, and writes `{text, title}` or
`{error}` as JSON to stdout. It first limits its own memory and processor time.
"""

import json
import re
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import NamedTuple

from ..limits import CONTENT, SOURCE_TITLE

MARKDOWN, HTML, TEXT, PDF = "text/markdown", "text/html", "text/plain", "application/pdf"
MEDIA_TYPES = (MARKDOWN, HTML, TEXT, PDF)
SYNONYMS = {"text/x-markdown": MARKDOWN, "application/xhtml+xml": HTML, "application/x-pdf": PDF}
GENERIC_TYPES = ("", "application/octet-stream", "binary/octet-stream")
"""Media types that tell nothing about a file."""
ENDINGS = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN, ".html": HTML, ".htm": HTML, ".xhtml": HTML,
    ".txt": TEXT, ".text": TEXT, ".pdf": PDF,
}  # fmt: skip
BOMS = ((BOM_UTF8, "utf-8-sig"), (BOM_UTF16_LE, "utf-16"), (BOM_UTF16_BE, "utf-16"))
MARKUP = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)\b", re.IGNORECASE)
SNIFFED = 1_000  # bytes at the beginning of a file by which its media type is guessed
PAGES_MAX = 2_000  # pages of a PDF
MEMORY = 1_500_000_000  # bytes of address space
SECONDS = 20  # seconds of processor time
OMITTED = ("script", "style", "template", "noscript", "nav", "footer", "aside", "form", "button", "svg", "iframe")
"""Elements of a web page that are not part of its text."""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Unreadable(ValueError):
    """The text of a file cannot be read. The message says why, and what to do."""


class Extracted(NamedTuple):
    """The text of a file, and the title that the file itself gives."""

    text: str
    title: str | None = None


def media_type_of(given: str | None, address: str, data: bytes) -> str:
    """Return the media type of a file: the given one, or else by the extension in its address, or by its first bytes.

    Raises Unreadable for a media type that is not supported.
    """
    declared = (given or "").partition(";")[0].strip().lower()
    found = SYNONYMS.get(declared, declared)
    if found in GENERIC_TYPES:
        path = re.split(r"[?#]", address, maxsplit=1)[0].lower()
        ending = re.search(r"\.[a-z]{2,8}$", path)
        found = ENDINGS.get(ending[0] if ending else "") or sniff_media_type(data[:SNIFFED])
    if found not in MEDIA_TYPES:
        raise Unreadable(f"{found} is not read. Give one of {', '.join(MEDIA_TYPES)}")
    return found


def sniff_media_type(beginning: bytes) -> str:
    """Return the media type that the first bytes of a file look like."""
    if beginning.startswith(b"%PDF-"):
        return PDF
    return HTML if MARKUP.match(beginning.removeprefix(BOM_UTF8)) else TEXT


def is_plain(media_type: str) -> bool:
    """Return whether a file of this media type is text already, so that it need not be parsed."""
    return media_type in (MARKDOWN, TEXT)


def decode(data: bytes) -> str:
    """Decode a text in UTF-8, or in UTF-16 if it begins with a byte order mark. Raises Unreadable."""
    encoding = next((name for bom, name in BOMS if data.startswith(bom)), "utf-8")
    try:
        return tidy(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"byte {error.start} is not {encoding.removesuffix('-sig').upper()}: save it as UTF-8"
        ) from None


def extract(media_type: str, data: bytes) -> Extracted:
    """Return the text of a file. Raises Unreadable."""
    if is_plain(media_type):
        return Extracted(decode(data))
    found = from_pdf(data) if media_type == PDF else from_html(data)
    title = " ".join(CONTROLS.sub(" ", found.title or "").split())[: SOURCE_TITLE.maximum]
    return Extracted(tidy(found.text), title or None)


def from_html(data: bytes) -> Extracted:
    """Return the text of a web page as markdown, without navigation and hidden elements."""
    from bs4 import BeautifulSoup, Comment
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(data, "html.parser")
    title = soup.title.get_text() if soup.title else None
    for element in soup(OMITTED):
        element.decompose()
    for comment in soup(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    main = soup.find("main") or soup.find("article") or soup.body or soup
    for element in main("title"):
        element.decompose()
    return Extracted(MarkdownConverter(heading_style=ATX, bullets="-", strip=["img"]).convert_soup(main), title)


def from_pdf(data: bytes) -> Extracted:
    """Return the text of the pages of a PDF."""
    from io import BytesIO

    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("the PDF wants a password: save it without one")
        if len(reader.pages) > PAGES_MAX:
            raise Unreadable(f"the PDF has {len(reader.pages):,} pages: at most {PAGES_MAX:,} are read. Split it")
        title = reader.metadata.title if reader.metadata else None
        return Extracted("\n\n".join(page.extract_text() for page in reader.pages), title)
    except PyPdfError as error:
        raise Unreadable(f"this is no PDF that can be read: {error}") from None


def tidy(text: str) -> str:
    """Return the text with LF as line ends, and without control characters and runs of blank lines."""
    text = CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return BLANK_LINES.sub("\n\n", text).strip("\n") + "\n"


def check_extracted(found: Extracted) -> Extracted:
    """Return the extracted text. Raises Unreadable if it is empty or too long."""
    if not found.text.strip():
        raise Unreadable("there is no text in it: pictures of text are not read")
    if len(found.text) > CONTENT.maximum:
        raise Unreadable(f"its text has {len(found.text):,} characters: at most {CONTENT.maximum:,} are kept. Split it")
    return found


def main() -> None:
    """Read a file from stdin, and write its text, its title or an error to stdout."""
    limit_resources()
    try:
        found = check_extracted(extract(sys.argv[1], sys.stdin.buffer.read()))
        result = {"text": found.text, "title": found.title}
    except Unreadable as error:
        result = {"error": str(error)}
    except MemoryError:
        result = {"error": "reading it takes too much memory"}
    except RecursionError:
        result = {"error": "it is nested too deeply"}
    except Exception as error:  # a library fails in any way at damaged input
        result = {"error": f"it is damaged: {type(error).__name__}"}
    sys.stdout.write(json.dumps(result))


def limit_resources() -> None:
    """Limit the memory, processor time and files of this process, if the operating system supports it."""
    try:
        import resource
    except ImportError:
        return
    limits = {"RLIMIT_AS": MEMORY, "RLIMIT_CPU": SECONDS, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 64}
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))


if __name__ == "__main__":
    main()
