"""A wiki for the compiler to work in."""

from tests.resolvers.conftest import wiki

__all__ = ["wiki"]
