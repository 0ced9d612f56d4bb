"""wiki_create, wiki_edit, wiki_append, wiki_supersede and wiki_update: tools that write pages."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from content.limits import ALIASES_PER_CALL, BODY, CLAIM, EDIT_SUMMARY, REF, SLUG, SUMMARY, TAGS, TITLE
from content.sensitivity import LEVELS
from resolvers.errors import BadInput
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.model.page_fields import NAMES, PAGE_REFERENCES, ROLE_MAX
from resolvers.model.pages import Saved
from resolvers.pages.claims.claims import Mode, SourceRef, supersede_claim
from resolvers.pages.edits import append_to_page, edit_page
from resolvers.pages.lifecycle import create_page, update_page

from .caller import Caller
from .output_limit import paragraphs
from .pages import PageLookup, PageName, PageType, find_page, format_page_name, page_type, split_name
from .tool import KeyedInput, Tool, ToolInput, ToolOutput

EditSummary = Annotated[
    str | None,
    Field(max_length=EDIT_SUMMARY.maximum, description="One line for the history."),
]


ExpectedVersion = Annotated[
    int | None, Field(ge=1, description="Version that you have read; fails if the page has changed.")
]


class CreateInput(KeyedInput):
    title: str = Field(max_length=TITLE.maximum, description="Display name.", examples=["Austin, Texas"])
    type: PageType
    content: str = Field(
        max_length=BODY.maximum,
        description="Markdown: `## Heading` begins a section, [[slug]] or [text](wiki:slug) links to a page.",
        examples=["A city on a river.\n\n## Notes\n\nSee [[barton-springs]]."],
    )
    slug: str | None = Field(
        None,
        max_length=SLUG.maximum,
        description="Slug; defaults to the title's. Needed if that is taken.",
    )
    summary: str | None = Field(None, max_length=SUMMARY.maximum, description="One-line summary.")
    tags: list[str] | None = Field(None, max_length=TAGS.maximum, description="Tags.")
    aliases: list[str] = Field([], max_length=ALIASES_PER_CALL.maximum, description="Other names.")
    related: list[PageName] = Field([], max_length=50, description="Pages to link to under the heading Related.")
    sensitivity: str | None = Field(None, description=f"One of {', '.join(LEVELS)}.")
    edit_summary: EditSummary = None


class Written(BaseModel):
    page: str = Field(description="type/slug.")
    version: int
    changed: bool = Field(description="False if nothing was changed.")


async def create(caller: Caller, arguments: CreateInput) -> ToolOutput:
    draft = PageDraft(
        type=page_type(arguments.type).lower(),
        title=arguments.title,
        slug=arguments.slug,
        summary=arguments.summary,
        body=with_related(arguments.content, arguments.related),
        tags=arguments.tags,
        aliases=arguments.aliases,
        fields={} if arguments.sensitivity is None else {"sensitivity": arguments.sensitivity},
        edit_summary=arguments.edit_summary,
    )
    saved = await caller.write(lambda database, scope: create_page(database, scope, draft, unless_called=True))
    data = await find_written(caller, saved)
    return ToolOutput(data, f"Made {data.page}, version {data.version}.")


def with_related(content: str, related: list[str]) -> str:
    """Return the text with a section Related, which links to these pages."""
    if not related:
        return content
    return f"{content.rstrip()}\n\n## Related\n\n" + "\n".join(
        f"- {format_link(*split_name(name))}" for name in related
    )


def format_link(type: str | None, slug: str) -> str:
    """Return a link in Markdown. Raises BadInput if the slug has characters that would end the link."""
    if any(character in "[]()|#\n\r" for character in slug):
        raise BadInput(f'"{slug[:100]}" is not the slug of a page.', "related")
    return f"[[{slug}]]" if type is None else f"[{slug}](/wiki/{type.lower()}/{slug})"


async def find_written(caller: Caller, saved: Saved) -> Written:
    """Return the written page with its current name."""
    page = (await caller.read("page_saved", id=str(saved.page_id)))["node"]
    return Written(page=format_page_name(page), version=saved.version, changed=saved.changed)


class EditInput(KeyedInput):
    page: PageName
    old_text: str = Field(
        max_length=BODY.maximum,
        description="Text to replace, as on the page; whitespace can differ.",
    )
    new_text: str = Field(max_length=BODY.maximum, description="Replacement text; empty to delete.")
    replace_all: bool = Field(False, description="Replace all occurrences.")
    section: str | None = Field(None, max_length=SLUG.maximum, description="Slug of the section to edit.")
    expected_version: ExpectedVersion = None
    edit_summary: EditSummary = None


class Edited(Written):
    matched_by: str | None = Field(description="Strategy that found the old text.")
    lines: list[int] = Field(description="First twenty lines with the new text, from 1.")


async def edit(caller: Caller, arguments: EditInput) -> ToolOutput:
    found: PageLookup = await find_page(caller, arguments.page)
    done = await caller.write(
        lambda database, scope: edit_page(
            database,
            scope,
            address(found),
            old_text=arguments.old_text,
            new_text=arguments.new_text,
            replace_all=arguments.replace_all,
            section_slug=arguments.section,
            expected_version=arguments.expected_version,
            summary=arguments.edit_summary,
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
    message = f"Changed {places} of {data.page}: it is at version {data.version} now." if data.changed else None
    return ToolOutput(data, paragraphs(message, done.note))


def address(found: PageLookup) -> PageAddress:
    return PageAddress(type=found.type.lower(), slug=found.slug)


class AppendInput(KeyedInput):
    page: PageName
    text: str = Field(max_length=BODY.maximum, description="Markdown, appended as a paragraph.")
    section: str | None = Field(None, max_length=SLUG.maximum, description="Slug of the section; created if missing.")
    expected_version: ExpectedVersion = None
    edit_summary: EditSummary = None


async def append(caller: Caller, arguments: AppendInput) -> ToolOutput:
    found = await find_page(caller, arguments.page)
    done = await caller.write(
        lambda database, scope: append_to_page(
            database,
            scope,
            address(found),
            text=arguments.text,
            section_slug=arguments.section,
            expected_version=arguments.expected_version,
            summary=arguments.edit_summary,
        )
    )
    return write_output(found, done.saved)


class SupersedeInput(ToolInput):
    page: PageName
    fact: str = Field(max_length=CLAIM.maximum, description="Claim that no longer holds, as on the page.")
    replacement: str = Field(max_length=CLAIM.maximum, description="Claim that holds now.")
    section: str | None = Field(None, max_length=SLUG.maximum, description="Slug of the section to edit.")
    overridden_by: str | None = Field(
        None, max_length=REF.maximum + 20, description="Source of the new claim, as kind:ref."
    )
    superseded_on: str | None = Field(
        None, max_length=40, description="Time until which it held, such as 2026-03-02; defaults to now."
    )
    rewrite: bool = Field(True, description="False to only record the claim; it need not be on the page.")
    expected_version: ExpectedVersion = None


async def supersede(caller: Caller, arguments: SupersedeInput) -> ToolOutput:
    found = await find_page(caller, arguments.page)
    overriding, superseded_on = source_ref(arguments.overridden_by), parse_day(arguments.superseded_on)
    done = await caller.write(
        lambda database, scope: supersede_claim(
            database,
            scope,
            address(found),
            fact=arguments.fact,
            replacement=arguments.replacement,
            section_slug=arguments.section,
            overridden_by=overriding,
            superseded_on=superseded_on,
            mode=Mode.REPLACE if arguments.rewrite else Mode.NONE,
            expected_version=arguments.expected_version,
        )
    )
    return write_output(found, done.saved)


def source_ref(name: str | None) -> SourceRef | None:
    """Return the source that `kind:ref` names. Raises BadInput."""
    if name is None:
        return None
    kind, colon, ref = name.partition(":")
    if not colon or not ref:
        raise BadInput("Name a source as kind:ref, like daily_note:2026-03-02.", "overridden_by")
    return SourceRef(kind, ref)


def parse_day(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise BadInput("Write a day like 2026-03-02, or a moment like 2026-03-02T10:00:00Z.", "superseded_on") from None


class UpdateInput(ToolInput):
    page: PageName
    title: str | None = Field(None, max_length=TITLE.maximum, description="New title; the old one becomes an alias.")
    summary: str | None = Field(None, max_length=SUMMARY.maximum, description="One-line summary; empty for none.")
    tags: list[str] | None = Field(None, max_length=TAGS.maximum, description="All tags; others are removed.")
    aliases: list[str] | None = Field(
        None, max_length=ALIASES_PER_CALL.maximum, description="All aliases; others are removed."
    )
    related: list[PageName] | None = Field(
        None, max_length=50, description="All related pages beyond the text's links."
    )
    sensitivity: str | None = Field(None, description=f"One of {', '.join(LEVELS)}, up to what you can read.")
    stated_confidence: str | None = Field(None, description="low, medium or high; empty for none.")
    expires_at: str | None = Field(None, max_length=40, description="A day like 2027-03-02; empty for none.")
    owner_role: str | None = Field(None, max_length=ROLE_MAX, description="Responsible role; empty for none.")
    supersedes: list[PageName] | None = Field(None, max_length=50, description="All pages that it replaces.")
    contradicts: list[PageName] | None = Field(None, max_length=50, description="All pages that it contradicts.")
    expected_version: ExpectedVersion = None
    edit_summary: EditSummary = None


async def update(caller: Caller, arguments: UpdateInput) -> ToolOutput:
    changes = {name: getattr(arguments, name) for name in CHANGES if getattr(arguments, name) is not None}
    fields = {name: getattr(arguments, name) for name in NAMES if getattr(arguments, name) is not None}
    if not changes and not fields:
        raise BadInput(f"Give what is to change: {', '.join([*CHANGES, *NAMES])}. The text is changed by wiki_edit.")
    if "summary" in changes:
        changes["summary"] = changes["summary"] or None
    if "related" in changes:
        changes["related"] = list(map(resolver_name, changes["related"]))
    fields |= {name: list(map(resolver_name, fields[name])) for name in PAGE_REFERENCES if name in fields}
    found = await find_page(caller, arguments.page)
    saved = await caller.write(
        lambda database, scope: update_page(
            database,
            scope,
            UUID(found.id),
            **changes,
            fields=fields,
            expected_version=arguments.expected_version,
            edit_summary=arguments.edit_summary,
        )
    )
    return write_output(found, saved)


CHANGES = ("title", "summary", "tags", "aliases", "related")


def resolver_name(name: str) -> str:
    """Return the name of a page in the form that resolvers accept: `entity/austin`, or only the slug."""
    type, slug = split_name(name)
    return slug if type is None else f"{type.lower()}/{slug}"


def write_output(found: PageLookup, saved: Saved) -> ToolOutput:
    """Return the output of a write to an existing page."""
    data = Written(page=found.name, version=saved.version, changed=saved.changed)
    if data.changed:
        message = f"Changed {data.page}: it is at version {data.version} now."
    else:
        message = f"{data.page} says that already: nothing was written."
    return ToolOutput(data, message)


WIKI_CREATE = Tool(
    "wiki_create",
    "Create a page",
    (
        "Create a page. Search first: if there is a page about it, use wiki_edit. Fails if a page of "
        "the type has this title or alias."
    ),
    CreateInput,
    Written,
    create,
    writes=True,
    is_idempotent=False,
)
WIKI_EDIT = Tool(
    "wiki_edit",
    "Edit a page",
    (
        "Replace text on a page: quote the text to replace, and give its replacement. The rest is "
        "unchanged, and the history keeps the old version."
    ),
    EditInput,
    Edited,
    edit,
    writes=True,
    destroys=True,
    is_idempotent=False,
)
WIKI_SUPERSEDE = Tool(
    "wiki_supersede",
    "Supersede a claim",
    "Supersede a claim of a page: record that it no longer holds, and rewrite it. Readers see both.",
    SupersedeInput,
    Written,
    supersede,
    writes=True,
    destroys=True,
)
WIKI_APPEND = Tool(
    "wiki_append",
    "Append to a page",
    "Append text to a page or to one of its sections.",
    AppendInput,
    Written,
    append,
    writes=True,
    is_idempotent=False,
)
WIKI_UPDATE = Tool(
    "wiki_update",
    "Change what is known of a page",
    "Update a page's title, summary, tags, aliases, related pages or other fields. Omitted fields are unchanged.",
    UpdateInput,
    Written,
    update,
    writes=True,
    destroys=True,
)
