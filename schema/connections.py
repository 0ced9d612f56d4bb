"""Connections and nodes as Relay has them."""

from typing import Generic, TypeVar

import strawberry

from db import relations
from db.access import BY_ID

from .fields import column, part, source

T = TypeVar("T")


@strawberry.type(description="Where a page of a list lies in it.")
class PageInfo:
    has_next_page: bool = part("Is there more after this page?")
    has_previous_page: bool = part("Is there more before this page?")
    start_cursor: str | None = part("The cursor of the first item.")
    end_cursor: str | None = part("The cursor of the last item: `after` it comes the next page.")


@strawberry.type(description="An item of a list, and its place.")
class Edge(Generic[T]):
    cursor: str = part("The place of the item in this list and order.")
    node: T = part("The item.")


@strawberry.type(description="A page of a list, by keyset: it stays right while the list changes.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = part("The items with their cursors.")
    nodes: list[T] = part("The items alone.")
    page_info: PageInfo = part("Where this page lies.")
    total_count: int = part("How many items the whole list has; counted only when asked for.")


@strawberry.interface(name="Node", description="Whatever has an id.")
class Node:
    id: strawberry.ID = column("Of the thing, in the whole tenant: a UUID of version 7.")


@strawberry.type
class NodeQueries:
    @source(relations.pages.one, "The thing of that id, or null.", access=BY_ID, variants=relations.pages.VARIANTS)
    def node(id: strawberry.ID) -> Node | None: ...

    @source(
        relations.pages.many,
        "The things of those ids in that order, null where there is none; 100 at most.",
        access=BY_ID,
        variants=relations.pages.VARIANTS,
        limit=100,
    )
    def nodes(ids: list[strawberry.ID]) -> list[Node | None]: ...
