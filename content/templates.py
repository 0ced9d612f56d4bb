"""The sections that a new page of each type has."""

from collections.abc import Mapping

SUMMARY, NOTES, RELATED = ("summary", "Summary"), ("notes", "Notes"), ("related", "Related")
OVERVIEW, CONTEXT = ("overview", "Overview"), ("context", "Context")

TEMPLATES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "entity": (OVERVIEW, NOTES, ("visits", "Visits"), RELATED),
    "topic": (SUMMARY, ("highlights", "Highlights"), ("related_entities", "Related entities"), ("recent", "Recent")),
    "decision": (
        CONTEXT,
        ("decision", "Decision"),
        ("rationale", "Rationale"),
        ("consequences", "Consequences"),
        ("options_considered", "Options considered"),
    ),
    "concept": (SUMMARY, ("why", "Why"), ("how_to_apply", "How to apply"), RELATED),
    "project": (
        OVERVIEW,
        ("goals", "Goals"),
        ("why", "Why"),
        ("how_to_apply", "How to apply"),
        ("status", "Status"),
        ("timeline", "Timeline"),
    ),
    "reference": (SUMMARY, ("details", "Details"), ("where_to_find_it", "Where to find it"), RELATED),
    "theme": (SUMMARY, ("pattern", "Pattern"), ("evidence", "Evidence"), RELATED),
    "context": (OVERVIEW, ("goals", "Goals"), ("non_goals", "Non-goals"), RELATED),
    "standard": (SUMMARY, ("rules", "Rules"), ("rationale", "Rationale"), ("exceptions", "Exceptions")),
    "product": (OVERVIEW, ("behaviour", "Behaviour"), ("edge_cases", "Edge cases"), RELATED),
    "source": (SUMMARY, ("key_points", "Key points"), ("quotes", "Quotes"), RELATED),
}
"""Page type → (section slug, heading), in order. A page may have other sections too."""

REQUIRED: Mapping[str, tuple[str, ...]] = {"concept": ("why", "how_to_apply")}
"""Page type → slugs of the sections that even a stub must fill, because nobody follows a rule without its reason."""
