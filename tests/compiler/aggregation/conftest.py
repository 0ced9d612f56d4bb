"""A wiki for lists to grow in."""

from tests.resolvers.conftest import wiki

__all__ = ["wiki"]
