"""Knowledge entries: pages of the type `reference`, each identified by a topic. They are a view of pages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from content.knowledge import Seed
from db.database import Database
from db.scope import Scope

from ..errors import BadInput, NotFound
from ..model.drafts import PageDraft
from ..model.lookup import PageAddress, locate
from ..model.names import find_slug, title_slug
from ..model.pages import Saved
from ..pages.lifecycle import archive_page
from ..pages.upsert import prepare_draft, upsert
from ..proposals.operations import proposable
from ..transactions.transaction import writing

TYPE = "reference"
ORIGIN = "knowledgeSource"
"""The metadata key with the origin of an entry. An entry without it was written through the API."""
USER, SEED, API = "user", "seed", "api"


@dataclass(frozen=True, slots=True)
class TopicEntry:
    """A topic with its content. Tags of None leave the stored tags as they are."""

    topic: str
    content: str
    tags: Sequence[str] | None = None


@proposable
async def write_knowledge(database: Database, scope: Scope, entry: TopicEntry) -> Saved:
    """Create an entry, or update an existing or deleted one, which keeps its title, and its tags if none are given."""
    ready = await prepare_draft(draft_of(entry))
    async with writing(database, scope) as writer:
        before = await find_slug(writer, TYPE, ready.slug)
        known = {} if before is None else before.metadata or {}
        title = entry.topic if before is None else before.title
        draft = replace(ready.draft, title=title, metadata=known | {ORIGIN: USER})
        return await upsert(writer, ready._replace(draft=draft))


async def delete_knowledge(database: Database, scope: Scope, topic: str) -> Saved:
    """Delete an entry by archiving its page. Writing the entry again restores it. Raises NotFound."""
    try:
        page_id = await locate(database, scope, PageAddress(type=TYPE, slug=topic_slug(topic)))
    except (BadInput, NotFound):
        page_id = None
    if page_id is not None and (saved := await archive_page(database, scope, page_id)).changed:
        return saved
    raise NotFound(f'There is no entry about "{topic[:100]}". knowledge_list says which topics there are.')


async def seed_knowledge(database: Database, scope: Scope, topic: str, seed: Seed) -> bool:
    """Create an entry and return true, unless the topic has an entry, also a deleted one, which stays as it is."""
    draft = draft_of(TopicEntry(topic, seed.content, seed.tags))
    ready = await prepare_draft(replace(draft, metadata={ORIGIN: SEED}))
    async with writing(database, scope) as writer:
        if await find_slug(writer, TYPE, ready.slug):
            return False
        await upsert(writer, ready)
        return True


def draft_of(entry: TopicEntry) -> PageDraft:
    if not entry.content.strip():
        raise BadInput("The content of an entry must not be empty.", "content")
    return PageDraft(
        type=TYPE,
        title=entry.topic,
        slug=topic_slug(entry.topic),
        body=entry.content,
        tags=entry.tags,
        status="active",
    )


def topic_slug(topic: str) -> str:
    """Return the slug of a topic; it is the same for `claude_models` and `Claude models`. Raises BadInput."""
    try:
        return title_slug(topic)
    except BadInput as error:
        raise BadInput(error.message, "topic") from None


def origin(metadata: dict[str, object]) -> str:
    """Return the origin of an entry: user, seed or api."""
    found = metadata.get(ORIGIN)
    return found if found in (USER, SEED) and isinstance(found, str) else API
