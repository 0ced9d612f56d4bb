"""The size limits of the fields of a wiki, which everything that writes checks. Reads do not check them.

A limit applies to the input of a caller. Stored content is shown, exported and compiled whatever its size, even if a
limit has been lowered since, and an import accepts what any release could store.
"""

import json
import re
from dataclasses import dataclass

CHARACTERS = "characters"


@dataclass(slots=True)
class Bound:
    """The limit of a field for a write (`maximum`), and the highest limit that any release has had for it (`stored`).

    Lowering a limit changes `maximum` only. A `fixed` limit is part of how texts are read, such as the length of a slug
    that is made from a title, and cannot change without a migration of the stored data.
    """

    field: str
    maximum: int
    unit: str = CHARACTERS
    stored: int = 0
    fixed: bool = False

    def __post_init__(self) -> None:
        self.stored = max(self.stored, self.maximum)

    def limit(self, *, restored: bool = False) -> int:
        """Return the limit for a write, or for the restore of an export the highest limit that any release has had."""
        return self.stored if restored else self.maximum


TITLE = Bound("title of a page", 500)
SLUG = Bound("slug of a page, and of a section", 120, fixed=True)
SUMMARY = Bound("summary of a page", 2_000)
BODY = Bound("text of a page, of all its sections together", 1_000_000)
SECTIONS = Bound("sections of a page", 1_000, "sections")
HEADING = Bound("heading of a section", 200, fixed=True)
ALIAS = Bound("alias, or mention", 500)
NAME = Bound("part of a name by which it is found", 200, fixed=True)
ALIASES = Bound("aliases of a page, its title among them", 1_000, "names")
ALIASES_PER_CALL = Bound("aliases in one call", 200, "names")
TAG = Bound("tag", 100)
TAGS = Bound("tags of a page", 50, "tags")
METADATA = Bound("metadata of a page, or of a source", 65_536, "bytes of JSON", stored=70_000)
METADATA_DEPTH = Bound("lists and objects in each other in metadata", 32, "levels")
METADATA_VALUES = Bound("values in metadata", 20_000, "values")
LINK = Bound("name in a link", 500, fixed=True)
LINK_TEXT = Bound("text of a link `[[name|text]]`", 1_000, fixed=True)
LINKS = Bound("different targets of links in a page", 5_000, "targets")
RELATED = Bound("related pages in one call", 100, "pages")
REASON = Bound("reason of a link", 200)
EDIT_SUMMARY = Bound("edit summary", 2_000)
CITATION_SUMMARY = Bound("summary of a citation", 2_000)
QUOTE = Bound("quote with a mention", 2_000)
CLAIM = Bound("superseded claim, or what replaced it", 2_000)
REF = Bound("ref of a source", 500)
SOURCE_TITLE = Bound("title of a source", 500)
CONTENT = Bound("text of a source", 1_000_000)
ORIGINAL = Bound("file that is ingested", 8_000_000, "bytes")
ADDRESS = Bound("address of a file that is ingested", 500)
ATTACHMENT = Bound("attachment of an imported wiki", 8_000_000, "bytes")
FORGET_REASON = Bound("reason why a source is forgotten", 2_000)
AUTHOR = Bound("author, the subject of a token", 200, stored=500)
DISPLAY_NAME = Bound("name of a tenant, an owner or an API key", 200)

BOUNDS = (
    TITLE, SLUG, SUMMARY, BODY, SECTIONS, HEADING, ALIAS, NAME, ALIASES, ALIASES_PER_CALL, TAG, TAGS, METADATA,
    METADATA_DEPTH, METADATA_VALUES, LINK, LINK_TEXT, LINKS, RELATED, REASON, EDIT_SUMMARY, CITATION_SUMMARY, QUOTE,
    CLAIM, REF, SOURCE_TITLE, CONTENT, ORIGINAL, ADDRESS, ATTACHMENT, FORGET_REASON, AUTHOR, DISPLAY_NAME,
)  # fmt: skip

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BadText(ValueError):
    """A text or value that cannot be stored. The message says why, and what to do."""


def quoted(text: str, limit: int = 80) -> str:
    """Return the first `limit` characters of a text as a JSON string, for an error message."""
    return json.dumps(text[:limit], ensure_ascii=False)


def clean(text: str) -> str:
    """Return the text unchanged.

    Raises BadText for NUL, which Postgres cannot store, and for half of a surrogate pair, which is not a character.
    """
    if found := UNSTORABLE.search(text):
        what = "NUL" if found[0] == "\0" else "half of a surrogate pair"
        raise BadText(f"the text holds {what} (U+{ord(found[0]):04X}) at character {found.start()}: remove it")
    return text
