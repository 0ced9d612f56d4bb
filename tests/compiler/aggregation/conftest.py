"""Provides a wiki in which rollup sections grow."""

from tests.resolvers.conftest import wiki

__all__ = ["wiki"]
