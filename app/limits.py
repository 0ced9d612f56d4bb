"""What documents are limited to, by the settings."""

from selection import Limits

from .settings import Settings


def document_limits(settings: Settings) -> Limits:
    return Limits(
        tokens=settings.max_tokens,
        depth=settings.max_depth,
        fields=settings.max_fields,
        aliases=settings.max_aliases,
        answer_errors=settings.max_errors,
        variable_values=settings.max_variables,
        suggestions=settings.introspection == "everyone",
    )
