"""The text of a file as markdown: what pages are written from, and what search and citations read.

Run as a program it reads a file of the media type of its argument from stdin, and writes `{text, title}` or
`{error}` as JSON to stdout, within limits of memory and processor time that it sets itself first.
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
UNSAID = ("", "application/octet-stream", "binary/octet-stream")
"""The media types that say nothing of a file."""
ENDINGS = {
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN, ".html": HTML, ".htm": HTML, ".xhtml": HTML,
    ".txt": TEXT, ".text": TEXT, ".pdf": PDF,
}  # fmt: skip
BOMS = ((BOM_UTF8, "utf-8-sig"), (BOM_UTF16_LE, "utf-16"), (BOM_UTF16_BE, "utf-16"))
MARKUP = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)\b", re.IGNORECASE)
SNIFFED = 1_000  # bytes at the beginning of a file
PAGES_MAX = 2_000  # of a PDF
MEMORY = 1_500_000_000  # bytes of address space
SECONDS = 20  # of processor time
UNSHOWN = ("script", "style", "template", "noscript", "nav", "footer", "aside", "form", "button", "svg", "iframe")
"""The elements of a web page that are not its text."""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Unreadable(ValueError):
    """A file whose text cannot be read. The message says why, and what to do."""


class Extracted(NamedTuple):
    """The text of a file, and the title that the file itself gives."""

    text: str
    title: str | None = None


def media_type_of(given: str | None, address: str, data: bytes) -> str:
    """Return the media type of a file: the one given, else by its ending, else by how it begins. Raises Unreadable."""
    said = (given or "").partition(";")[0].strip().lower()
    found = SYNONYMS.get(said, said)
    if found in UNSAID:
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
    """Return whether such a file is text already, so that nothing of it has to be parsed."""
    return media_type in (MARKDOWN, TEXT)


def decode(data: bytes) -> str:
    """Return the characters of a text in UTF-8, or in UTF-16 where it begins with its mark. Raises Unreadable."""
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
    title = " ".join(CONTROLS.sub(" ", found.title or "").split())[: SOURCE_TITLE.most]
    return Extracted(tidy(found.text), title or None)


def from_html(data: bytes) -> Extracted:
    """Return what a web page says as markdown, without its navigation and what is not shown."""
    from bs4 import BeautifulSoup, Comment
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(data, "html.parser")
    title = soup.title.get_text() if soup.title else None
    for element in soup(UNSHOWN):
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
    """Return the text without what cannot be stored or seen, with lines that end alike."""
    text = CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return BLANK_LINES.sub("\n\n", text).strip("\n") + "\n"


def check_extracted(found: Extracted) -> Extracted:
    """Return what was read. Raises Unreadable for a text that is empty or too long."""
    if not found.text.strip():
        raise Unreadable("there is no text in it: pictures of text are not read")
    if len(found.text) > CONTENT.most:
        raise Unreadable(f"its text has {len(found.text):,} characters: at most {CONTENT.most:,} are kept. Split it")
    return found


def main() -> None:
    limit()
    try:
        found = check_extracted(extract(sys.argv[1], sys.stdin.buffer.read()))
        said = {"text": found.text, "title": found.title}
    except Unreadable as error:
        said = {"error": str(error)}
    except MemoryError:
        said = {"error": "reading it takes too much memory"}
    except RecursionError:
        said = {"error": "it is nested too deeply"}
    except Exception as error:  # of a library, at input that it was not made for
        said = {"error": f"it is damaged: {type(error).__name__}"}
    sys.stdout.write(json.dumps(said))


def limit() -> None:
    """Bound what this process may use, where the system has a way to say so."""
    try:
        import resource
    except ImportError:
        return
    limits = {"RLIMIT_AS": MEMORY, "RLIMIT_CPU": SECONDS, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 64}
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))


if __name__ == "__main__":
    main()
