"""The answer of a section writer must be a text, and a fence around the whole of it is removed."""

from types import SimpleNamespace
from typing import Any

import pytest

from compiler.authors import BadAnswer, section_text, unwrap_fence

TASK: Any = SimpleNamespace(slug="notes", page_title="Austin")


class Answering:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def write(self, task: Any) -> Any:
        return self.answer


@pytest.mark.parametrize("info", ["", "markdown", " Markdown", "md"])
@pytest.mark.parametrize("marks", ["```", "~~~~"])
async def test_a_fence_around_the_whole_answer_is_removed(marks: str, info: str) -> None:
    answer = f"\n{marks}{info}\n- One.\n\n- Two.\n{marks}\n"
    assert await section_text(Answering(answer), TASK) == "- One.\n\n- Two."


def test_code_in_a_fenced_answer_stays() -> None:
    code = "Run it:\n\n```sh\nmake\n```\n\nThen look."
    assert unwrap_fence(f"```markdown\n{code}\n```") == code
    assert unwrap_fence(f"````\n{code}\n````") == code


@pytest.mark.parametrize(
    "answer",
    [
        "Text.",
        "",
        "```python\nprint()\n```",
        "```\na\n```\n\nand\n\n```\nb\n```",
        "```\na\n```\nText.",
        "Text.\n```\na\n```",
        "```",
        "```\nleft open",
        "```\na\n~~~",
        "`a`",
    ],
)
def test_other_answers_are_unchanged(answer: str) -> None:
    assert unwrap_fence(answer) == answer


@pytest.mark.parametrize("answer", [None, 3, b"text", ["text"]])
async def test_answers_that_are_no_text_raise_an_error_naming_the_section(answer: Any) -> None:
    with pytest.raises(BadAnswer, match=f'answered {type(answer).__name__} for the section "notes" of "Austin"'):
        await section_text(Answering(answer), TASK)
