"""Evidence as it is sent, shown, listed and forgotten."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Discriminator, Field, Tag

from content.limits import CONTENT, REF, SOURCE_TITLE
from resolvers.sources.retain import BATCH_MAX
from schema.enums import WikiSourceKind

from .given import Given
from .pages import PageName
from .shown import Listed, Shown

ONE, MANY = "one", "many"


def as_text(value: object) -> object:
    """JSON has no moments: only a text can be one, and one of digits alone is a number in quotes."""
    try:
        datetime.fromisoformat(value)  # type: ignore[arg-type]  # what is no text is an error too
    except (TypeError, ValueError):
        raise ValueError("must be a text like 2026-11-20T10:00:00Z") from None
    return value


def how_many(given: Any) -> str:
    return MANY if isinstance(given, list) else ONE


SourceKind = Annotated[WikiSourceKind, Field(strict=False)]
Moment = Annotated[datetime, BeforeValidator(as_text), Field(strict=False)]


class NewSource(Given):
    """A piece of evidence. Other content under the same kind and ref is its next version."""

    kind: SourceKind
    ref: Annotated[str, Field(min_length=1, max_length=REF.most, description="Its name where it comes from.")]
    content: Annotated[str, Field(min_length=1, max_length=CONTENT.most)]
    title: Annotated[str | None, Field(max_length=SOURCE_TITLE.most)] = None
    captured_at: Annotated[Moment | None, Field(description="When it is from; now if left out.")] = None
    metadata: dict[str, Any] | None = None


NewSources = Annotated[
    Annotated[NewSource, Tag(ONE)] | Annotated[list[NewSource], Field(min_length=1, max_length=BATCH_MAX), Tag(MANY)],
    Discriminator(how_many),
]


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


class Sources(Listed):
    items: list[SourceItem]


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
