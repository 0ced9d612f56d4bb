"""The shapes of this door, which its OpenAPI document is made of."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, FailFast, Field, Tag, model_validator

from content.limits import BODY_MAX, SUMMARY_MAX, TAG_MAX, TAGS_MAX, TITLE_MAX
from content.slugs import SLUG_MAX
from resolvers.drafts import RELATED_MAX
from resolvers.retaining import BATCH_MAX
from resolvers.sources import REF_MAX
from schema.enums import WikiPageStatus, WikiPageType, WikiSourceKind

VERSION_MAX = 2**31 - 1
MEMBERS_MAX = 50  # of a body


class Shown(BaseModel):
    """Something that is answered."""


class Given(BaseModel):
    """Something that is sent: types are exact, and what has no place here is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def few_members(cls, given: Any) -> Any:
        """Each one that has no place here is a fault to be told: of a hundred thousand that would take a second."""
        if isinstance(given, dict) and len(given) > MEMBERS_MAX:
            raise ValueError("this has far more members than are known")
        return given


def as_text(value: object) -> object:
    """JSON has no moments: only a text can be one, and one of digits alone is a number in quotes."""
    try:
        datetime.fromisoformat(value)  # type: ignore[arg-type]  # what is no text is an error too
    except (TypeError, ValueError):
        raise ValueError("Input should be a text like 2026-11-20T10:00:00Z") from None
    return value


PageType = Annotated[WikiPageType, Field(strict=False)]
SourceKind = Annotated[WikiSourceKind, Field(strict=False)]
Moment = Annotated[datetime, BeforeValidator(as_text), Field(strict=False)]
Version = Annotated[int, Field(ge=1, le=VERSION_MAX)]
Text = Annotated[str, Field(max_length=BODY_MAX)]
EditSummary = Annotated[str | None, Field(max_length=SUMMARY_MAX, description="What to say of it in the history.")]
ExpectedVersion = Annotated[
    int | None, Field(ge=1, le=VERSION_MAX, description="Refuse with 409 if it has another; If-Match says the same.")
]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=TAG_MAX)]], FailFast(), Field(max_length=TAGS_MAX)]
Related = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=SLUG_MAX + 20)]],
    FailFast(),
    Field(max_length=RELATED_MAX, description="Slugs of pages of this wiki, or TYPE/SLUG where types share one."),
]


class NewPage(Given):
    """A page to be made."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE_MAX, examples=["Harbour Coffee"])]
    slug: Annotated[
        str | None, Field(min_length=1, max_length=SLUG_MAX, description="Made from the title if left out.")
    ] = None
    type: PageType
    content: Annotated[Text, Field(description="Markdown; `## ` headings make sections.")]
    related: Related = []
    tags: Tags = []
    edit_summary: EditSummary = None


class Edit(Given):
    """The new text comes where the old text stands. Whitespace may differ; of two lines or more some words as well."""

    old_text: Annotated[Text, Field(min_length=1)]
    new_text: Text
    replace_all: Annotated[bool, Field(description="Wherever it stands, not in one place alone.")] = False
    section: Annotated[
        str | None, Field(min_length=1, max_length=SLUG_MAX, description="A section's slug; else the whole text.")
    ] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class Restoration(Given):
    """A version whose title, summary, text, tags and metadata come again, as a new version."""

    version: Version
    expected_version: ExpectedVersion = None


class NewName(Given):
    """A new title, a new slug, or both. The old ones lead to the page, and links that say them are rewritten."""

    title: Annotated[str | None, Field(min_length=1, max_length=TITLE_MAX)] = None
    slug: Annotated[str | None, Field(min_length=1, max_length=SLUG_MAX)] = None
    edit_summary: EditSummary = None
    expected_version: ExpectedVersion = None


class Merger(Given):
    """The page that stays, by its slug, and of this one's type."""

    into: Annotated[str, Field(min_length=1, max_length=SLUG_MAX)]
    expected_version: Annotated[
        int | None, Field(ge=1, le=VERSION_MAX, description="Of the page that stays. If-Match is of the one that goes.")
    ] = None


class NewSource(Given):
    """A piece of evidence. Other content under the same kind and ref is its next version."""

    kind: SourceKind
    ref: Annotated[str, Field(min_length=1, max_length=REF_MAX, description="Its name where it comes from.")]
    content: Annotated[Text, Field(min_length=1)]
    title: Annotated[str | None, Field(max_length=TITLE_MAX)] = None
    captured_at: Annotated[Moment | None, Field(description="When it is from; now if left out.")] = None
    metadata: dict[str, Any] | None = None


ONE, MANY = "one", "many"


def how_many(given: Any) -> str:
    return MANY if isinstance(given, list) else ONE


NewSources = Annotated[
    Annotated[NewSource, Tag(ONE)] | Annotated[list[NewSource], Field(min_length=1, max_length=BATCH_MAX), Tag(MANY)],
    Discriminator(how_many),
]


class PageName(Shown):
    """A page in a list of names."""

    slug: str
    title: str
    type: WikiPageType


class Link(Shown):
    """What a page's text, or who wrote it, points at. `broken`: nobody answers to it yet."""

    slug: str
    title: str
    type: WikiPageType | None
    broken: bool


class PageItem(Shown):
    """A page in a list."""

    id: UUID
    slug: str
    title: str
    type: WikiPageType
    summary: str | None
    version: int
    status: WikiPageStatus
    tags: list[str]
    created_at: datetime
    updated_at: datetime


class Page(PageItem):
    """A page, with its first hundred links. `redirected_from`: the former slug by which it was asked for.

    `merged_into`: the page that it became a part of. `pages_to_rewrite`: texts that may call it by a name it had, and
    are yet to be rewritten; 0 once a rename is done.
    """

    content: str
    aliases: list[str]
    related: list[str]
    links: list[Link]
    pages_to_rewrite: int
    created_by: str
    updated_by: str
    redirected_from: str | None
    merged_into: PageName | None


class Highlight(Shown):
    """A stretch of a text that says what was asked for, in Unicode code points."""

    start: int
    length: int


class Snippet(Shown):
    text: str
    highlights: list[Highlight]


class SectionName(Shown):
    slug: str
    heading: str


class Hit(PageItem):
    """A page that a search found. Scores are comparable within one search."""

    score: float
    matched_alias: str | None
    section: SectionName | None
    snippet: Snippet | None


class Revision(Shown):
    """A version of a page."""

    version: int
    title: str
    edit_summary: str | None
    author_type: Literal["agent", "user", "compiler", "service"]
    author_id: str
    created_at: datetime


class Difference(Shown):
    """How the text changed, as `diff -u` says it."""

    from_version: int
    to_version: int
    unified: str
    lines_added: int
    lines_removed: int
    is_truncated: bool


class SourceItem(Shown):
    """A source in a list, without what it says."""

    id: UUID
    kind: WikiSourceKind
    ref: str
    version: int
    title: str | None
    checksum: str
    metadata: dict[str, Any]
    captured_at: datetime
    created_at: datetime
    forgotten_at: Annotated[datetime | None, Field(description="Since then nothing is left of it but this.")]


class Source(SourceItem):
    """A source, with the first hundred pages that cite it."""

    content: str
    cited_by: list[PageName]


class Listed(Shown):
    """`next` is the `cursor` of the next items; null after the last."""

    next: str | None


class Retained(Shown):
    """What became of a source of a batch, by its place from 0; it is kept, or `code` and `detail` say why not."""

    position: int
    id: UUID | None
    version: int | None
    created: bool
    code: str | None
    detail: str | None


class Retention(Shown):
    """A batch of sources, and the job that will read what is new."""

    items: list[Retained]
    job_id: UUID | None


class Forgotten(Shown):
    """What is left of a forgotten source, and the job that takes it out of pages, history and search."""

    source: Source
    versions: int
    job_id: UUID | None


class Rebuild(Shown):
    """The job that builds a page again."""

    job_id: UUID


class Pages(Listed):
    items: list[PageItem]


class Change(Shown):
    """The last change of a page; `page` as it is now, archived ones too."""

    position: int
    page_id: UUID
    state: Literal["active", "archived", "deleted"]
    changed_at: datetime
    page: PageItem | None


class Changes(Listed):
    """`resume` is the `cursor` with which to ask later for what has changed since."""

    items: list[Change]
    resume: str | None


class Hits(Listed):
    """`did_you_mean` is what was searched for instead, when a word had to be corrected."""

    items: list[Hit]
    did_you_mean: str | None


class History(Listed):
    items: list[Revision]


class Links(Listed):
    items: list[Link]


class Sources(Listed):
    items: list[SourceItem]


class ImportFault(Shown):
    """What could not be imported, and why."""

    path: str
    code: str
    message: str


class Imported(Shown):
    """What came of an import, as `cairn import` says it; the first thousand of the errors."""

    created: int
    changed: int
    unchanged: int
    failed: int
    sources: int
    links: int
    broken_links: int
    errors: list[ImportFault]


class Health(Shown):
    status: Literal["ok"]


class Fault(Shown):
    """What to mend, and where."""

    field: str | None
    message: str


class Problem(Shown):
    """What is wrong (RFC 9457). `code` is for programs: docs/errors.md has them all. Others may have more members."""

    model_config = ConfigDict(extra="allow")

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    code: str
    request_id: str | None
    field: str | None = None
    errors: list[Fault] = []
    current_version: int | None = None
