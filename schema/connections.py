"""Relay's connection types."""

from typing import Generic, TypeVar

import strawberry

from .fields import part

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
