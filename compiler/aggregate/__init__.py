"""Aggregation, without a model: topics list the pages that belong to them, and large lists become topics of their
own."""
