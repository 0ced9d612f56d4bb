"""The models of the compiler as the settings have them. Their library is only loaded where one is set."""

from typing import TYPE_CHECKING

from compiler.planner import Planner, SectionWriter
from resolvers.errors import Unavailable

from .settings import PRICE, Settings

if TYPE_CHECKING:
    from compiler.models.models import Models, Terms

LACKING = "CAIRN_MODEL needs a library that is not installed: pip install 'cairn-wiki[models]'. It lacks {name}."


def models_of(settings: Settings, planner: Planner, writer: SectionWriter) -> "Models | None":
    """None where no model is set. Raises Unavailable, which says what to install or to set."""
    if not settings.model and not settings.models:
        return None
    try:
        from compiler.models.models import Models
    except ModuleNotFoundError as error:
        raise Unavailable(LACKING.format(name=error.name)) from None
    return Models(settings.model, settings.models or (), planner, writer, terms_of(settings))


def terms_of(settings: Settings) -> "Terms":
    from compiler.models.meter import Budget
    from compiler.models.models import Terms
    from compiler.models.usage import Price

    found = [match.groups() for price in settings.model_prices or () if (match := PRICE.fullmatch(price))]
    return Terms(
        timeout=settings.model_timeout,
        requests=settings.model_requests,
        budget=Budget(
            job_tokens=settings.model_job_tokens,
            job_cost=settings.model_job_cost,
            day_tokens=settings.model_day_tokens,
            day_cost=settings.model_day_cost,
        ),
        prices={name: Price(float(of_input), float(of_output)) for name, of_input, of_output in found},
    )
