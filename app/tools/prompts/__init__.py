"""Prompts that a person may begin with: the text of each is a file beside this one."""

from importlib.resources import files

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

WRITING = Prompt(
    name="wiki-writing",
    title="Write in the wiki",
    description="How pages of this wiki are written: which type, which sections, how to link, how to change.",
    arguments=[PromptArgument(name="subject", description="What to write about.", required=False)],
)
SUBJECT_MAX = 2_000


async def list_prompts() -> ListPromptsResult:
    return ListPromptsResult(prompts=[WRITING])


async def get_prompt(name: str, arguments: dict[str, str]) -> GetPromptResult:
    """Raises MCPError for an unknown one."""
    if name != WRITING.name:
        raise MCPError(INVALID_PARAMS, f"There is one prompt: {WRITING.name}.")
    text = files("app.tools.prompts").joinpath("wiki-writing.md").read_text(encoding="utf-8")
    if subject := arguments.get("subject", "").strip()[:SUBJECT_MAX]:
        text += f"\n## Now\n\nWrite, or bring up to date, what the wiki says about this: {subject}\n"
    return GetPromptResult(
        description=WRITING.description, messages=[PromptMessage(role="user", content=TextContent(text=text))]
    )
