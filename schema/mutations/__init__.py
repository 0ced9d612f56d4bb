"""Everything that can be changed: one file per noun, each mutation one transaction of resolvers/."""

import strawberry

from .aliases import AliasMutations
from .batches import BatchMutations
from .compiling import CompilingMutations
from .edits import EditMutations
from .languages import LanguageMutations
from .link_kinds import LinkKindMutations
from .links import LinkMutations
from .mentions import MentionMutations
from .names import NameMutations
from .onboarding import OnboardingMutations
from .pages import PageMutations
from .promotions import PromotionMutations
from .sections import SectionMutations
from .sources import SourceMutations
from .upkeep import UpkeepMutations


@strawberry.type(description="Everything that can be changed. Each mutation is done whole, or not at all.")
class Mutation(
    PageMutations,
    EditMutations,
    NameMutations,
    BatchMutations,
    SectionMutations,
    PromotionMutations,
    AliasMutations,
    LinkMutations,
    LinkKindMutations,
    SourceMutations,
    MentionMutations,
    CompilingMutations,
    UpkeepMutations,
    LanguageMutations,
    OnboardingMutations,
):
    pass


__all__ = ["Mutation"]
