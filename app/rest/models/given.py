"""What is common to all that is sent."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from content.limits import BODY, EDIT_SUMMARY

VERSION_MAX = 2**31 - 1
MEMBERS_MAX = 50  # of a body
Text = Annotated[str, Field(max_length=BODY.most)]
EditSummary = Annotated[
    str | None, Field(max_length=EDIT_SUMMARY.most, description="What to say of it in the history.")
]
ExpectedVersion = Annotated[
    int | None, Field(ge=1, le=VERSION_MAX, description="Refuse with 409 if it has another; If-Match says the same.")
]


class Given(BaseModel):
    """Something that is sent: types are exact, and what has no place here is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def few_members(cls, given: Any) -> Any:
        """Each one that has no place here is a fault to be told: of a hundred thousand that would take a second."""
        if isinstance(given, dict) and len(given) > MEMBERS_MAX:
            raise ValueError("this has far more members than are known")
        return given
