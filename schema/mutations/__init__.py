"""The mutations, with one module per noun. Each mutation is one transaction of resolvers/."""

import strawberry

from .claims import ClaimMutations
from .compiling import CompilingMutations
from .decisions import DecisionMutations
from .edits import BatchMutations, EditMutations
from .links import LinkKindMutations, LinkMutations
from .lint import LintMutations
from .mentions import MentionMutations, PromotionMutations
from .names import AliasMutations, NameMutations
from .onboarding import OnboardingMutations, ProgramMutations
from .pages import PageMutations
from .proposals import ProposalMutations
from .sections import SectionMutations
from .share_links import ShareLinkMutations
from .sources import SourceMutations
from .upkeep import UpkeepMutations
from .webhooks import WebhookMutations
from .wiki_settings import WikiSettingMutations


@strawberry.type(description="All mutations. Each one is applied completely or not at all.")
class Mutation(
    PageMutations,
    EditMutations,
    NameMutations,
    BatchMutations,
    ClaimMutations,
    DecisionMutations,
    ProposalMutations,
    ShareLinkMutations,
    SectionMutations,
    PromotionMutations,
    AliasMutations,
    LinkMutations,
    LinkKindMutations,
    SourceMutations,
    MentionMutations,
    CompilingMutations,
    UpkeepMutations,
    LintMutations,
    WikiSettingMutations,
    OnboardingMutations,
    ProgramMutations,
    WebhookMutations,
):
    pass


__all__ = ["Mutation"]
