"""The other names of a page."""

from datetime import datetime

import strawberry

from db import relations

from .enums import WikiAliasSource
from .fields import column, relation
from .nodes import Node
from .pages import WikiPage


@strawberry.type(description="A normalised other name of a page.")
class WikiAlias(Node):
    alias: str = column("Normalised: what is compared.")
    name: str = column("As it was written.")
    source: WikiAliasSource = column("Where it came from.")
    created_at: datetime = column("Since when it is one.")
    page: WikiPage = relation(relations.aliases.page, "The page it names.")
