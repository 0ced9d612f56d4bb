"""The slug under which a page of a type is found: no other page of the type has it or had it."""

from content.slugs import NoSlug, numbered, slugify
from db.sql import statements

from .errors import BadInput, SlugTaken
from .records import Page, find_page, learn_editions
from .writer import Writer

PAGES = statements("pages")


def title_slug(title: str) -> str:
    """The slug that a title asks for."""
    try:
        return slugify(title)
    except NoSlug as error:
        raise BadInput(str(error), "title") from None


async def find_slug(writer: Writer, page_type: str, slug: str) -> Page | None:
    """The page of a type that has the slug, or had it."""
    page_id = await writer.value(PAGES["find_by_slug"], type=page_type, slug=slug)
    return await find_page(writer, page_id) if page_id else None


async def free_slug(writer: Writer, page_type: str, slug: str) -> str:
    """The slug, or the first number of it that is free."""
    start, size = 1, 8
    while True:
        wanted = [slug if n == 1 else numbered(slug, n) for n in range(start, start + size)]
        row = await writer.one(PAGES["find_taken_slugs"], type=page_type, slugs=wanted)
        assert row is not None
        learn_editions(writer, row)
        if free := next((one for one in wanted if one not in row["taken"]), None):
            return free
        start, size = start + size, size * 4


async def check_free(writer: Writer, page_type: str, slug: str, but: Page | None = None) -> None:
    """Refuse a slug that another page has or had."""
    page = await find_slug(writer, page_type, slug)
    if page and not (but and page.id == but.id):
        raise SlugTaken(f'The slug "{slug}" belongs to {page.name} already.', "slug")
