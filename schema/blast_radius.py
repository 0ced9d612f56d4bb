"""What depends on a source: what is to be written anew if it is wrong, or forgotten."""

from typing import TYPE_CHECKING, Annotated

import strawberry

from db import relations
from db.access import BY_ID

from .connections import Connection
from .fields import relation, source
from .pages import WikiPage
from .sections import WikiSection

if TYPE_CHECKING:
    from .mentions import WikiMention

sources = relations.sources


@strawberry.type(description="What depends on a source, on any of its versions. Each list says how much there is.")
class WikiBlastRadius:
    sections: Connection[WikiSection] = relation(sources.resting_sections, "The sections that cite it.")
    sole_sections: Connection[WikiSection] = relation(
        sources.resting_on_it_alone, "Those of them that cite nothing else: without it they have nothing to say."
    )
    pages: Connection[WikiPage] = relation(sources.resting_pages, "The pages of these sections, by title.")
    shown_on: Connection[WikiPage] = relation(
        sources.showing_pages, "Other pages that link those, or list them, by title."
    )
    names: Connection[Annotated["WikiMention", strawberry.lazy(".mentions")]] = relation(
        sources.naming_mentions, "The names that it was seen to use, last seen first."
    )


@strawberry.type
class BlastRadiusQueries:
    @source(sources.by_id, "What depends on a source.", access=BY_ID)
    def wiki_source_blast_radius(source_id: strawberry.ID) -> WikiBlastRadius | None: ...
