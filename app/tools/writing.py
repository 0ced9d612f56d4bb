"""wiki_create and wiki_edit."""

from typing import Annotated

from pydantic import BaseModel, Field

from resolvers.addresses import PageAddress
from resolvers.drafts import PageDraft
from resolvers.edits import edit_page
from resolvers.errors import BadInput
from resolvers.pages import create_page
from resolvers.records import Saved

from .budget import paragraphs
from .caller import Caller
from .pages import Found, PageName, PageType, find_page, named, page_type, parted
from .tool import Given, Told, Tool

EditSummary = Annotated[
    str | None, Field(max_length=2_000, description="What to say of the change in the history, in one line.")
]


class Creating(Given):
    title: str = Field(max_length=500, description="Its name for people.", examples=["Austin, Texas"])
    type: PageType
    content: str = Field(
        max_length=1_000_000,
        description="Markdown: `## Heading` begins a section, [[slug]] or [text](wiki:slug) links to a page.",
        examples=["A city on a river.\n\n## Notes\n\nSee [[barton-springs]]."],
    )
    slug: str | None = Field(None, max_length=120, description="Its name in links; else made from the title.")
    summary: str | None = Field(None, max_length=2_000, description="One line that says what it is.")
    tags: list[str] | None = Field(None, max_length=50, description="Soft hints, never structure.")
    aliases: list[str] = Field([], max_length=200, description="Other names by which it is to be found.")
    related: list[PageName] = Field([], max_length=50, description="Pages to link to under the heading Related.")
    edit_summary: EditSummary = None


class Written(BaseModel):
    page: str = Field(description="Its name as type/slug.")
    version: int
    changed: bool = Field(description="False when all of it stood there already.")


async def create(caller: Caller, given: Creating) -> Told:
    draft = PageDraft(
        type=page_type(given.type).lower(),
        title=given.title,
        slug=given.slug,
        summary=given.summary,
        body=with_related(given.content, given.related),
        tags=given.tags,
        aliases=given.aliases,
        edit_summary=given.edit_summary,
    )
    saved = await caller.write(lambda database, scope: create_page(database, scope, draft))
    data = await written(caller, saved)
    return Told(data, f"Made {data.page}, version {data.version}.")


def with_related(content: str, related: list[str]) -> str:
    """The text, and links to these pages behind it."""
    if not related:
        return content
    return f"{content.rstrip()}\n\n## Related\n\n" + "\n".join(f"- {link(*parted(name))}" for name in related)


def link(type: str | None, slug: str) -> str:
    if any(character in "[]()|#\n\r" for character in slug):
        raise BadInput(f'"{slug[:100]}" is not the slug of a page.', "related")
    return f"[[{slug}]]" if type is None else f"[{slug}](/wiki/{type.lower()}/{slug})"


async def written(caller: Caller, saved: Saved) -> Written:
    """The page under the name that it has now."""
    page = (await caller.read("page_saved", id=str(saved.page_id)))["node"]
    return Written(page=named(page), version=saved.version, changed=saved.changed)


class Editing(Given):
    page: PageName
    old_text: str = Field(
        max_length=1_000_000,
        description="The text to replace, as it stands on the page; small differences of white space are forgiven.",
    )
    new_text: str = Field(max_length=1_000_000, description="What is to stand there instead; empty to delete.")
    replace_all: bool = Field(False, description="Every place that has it, where there is more than one.")
    section: str | None = Field(None, max_length=120, description="Look in this section alone: its slug.")
    expected_version: int | None = Field(
        None, ge=1, description="The version that you have read; refused if the page has changed since."
    )
    edit_summary: EditSummary = None


class Edited(Written):
    matched_by: str | None = Field(description="How the old text was found: exact, or how tolerantly.")
    lines: list[int] = Field(description="Where the new text begins, in lines from 1: the first twenty.")


async def edit(caller: Caller, given: Editing) -> Told:
    found: Found = await find_page(caller, given.page)
    done = await caller.write(
        lambda database, scope: edit_page(
            database,
            scope,
            PageAddress(type=found.type.lower(), slug=found.slug),
            old_text=given.old_text,
            new_text=given.new_text,
            replace_all=given.replace_all,
            section_slug=given.section,
            expected_version=given.expected_version,
            summary=given.edit_summary,
        )
    )
    edited = done.edited
    data = Edited(
        page=found.name,
        version=done.saved.version,
        changed=done.saved.changed,
        matched_by=edited and edited.matched_by,
        lines=list(edited.lines[:20]) if edited else [],
    )
    places = f"{len(edited.lines)} place{'s' * (len(edited.lines) != 1)}" if edited else "no place"
    said = f"Changed {places} of {data.page}: it is at version {data.version} now." if data.changed else None
    return Told(data, paragraphs(said, done.note))


WIKI_CREATE = Tool(
    "wiki_create",
    "Create a page",
    "Write a new page. Search first: if there is a page about it, use wiki_edit. "
    "A slug made from the title gets a number when it is taken.",
    Creating,
    Written,
    create,
    writes=True,
    repeats=False,
)
WIKI_EDIT = Tool(
    "wiki_edit",
    "Edit a page",
    "Replace a piece of a page's text by another: quote what stands there, and say what shall stand there. "
    "Everything else stays as it is, and the version before stays in the history.",
    Editing,
    Edited,
    edit,
    writes=True,
    destroys=True,
    repeats=False,
)
