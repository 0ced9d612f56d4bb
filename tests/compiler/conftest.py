"""Provides a wiki for the compiler."""

from tests.resolvers.conftest import wiki

__all__ = ["wiki"]
