"""Ingests by processes that are killed again and again: nothing acknowledged is lost, and nothing is there by half."""


def ingests() -> None:
    """x"""
