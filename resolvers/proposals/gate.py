"""The write policy of a wiki, which is checked at the end of every write.

A write that has to be reviewed runs in its transaction like any other write, so that its input is validated and the
resulting page is known. Then the transaction is rolled back, and the operation is stored as a proposal.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from content.limits import EDIT_SUMMARY, REF
from content.sensitivity import find_levels, level_of
from content.templates import TEMPLATES
from db.scope import ActorKind, Role, Scope, Terms
from db.sql import statements

from .. import validation
from ..errors import BadInput, Forbidden
from ..subscriptions.changes import ChangeKind

if TYPE_CHECKING:
    from ..model.pages import Page
    from ..transactions.writer import Writer

PROPOSALS = statements("review/proposals")
OPEN_MAX = 1000  # open proposals of one author in one wiki
EVIDENCE_MAX = 50  # refs of one proposal
RULES_MAX = 100  # rules of one wiki


class Policy(StrEnum):
    """The policies, from the loosest to the strictest."""

    OPEN = "open"
    REVIEW = "review"
    CLOSED = "closed"


STRICTNESS = {policy: strictness for strictness, policy in enumerate(Policy)}


class WriterRole(StrEnum):
    """The writers that a rule applies to: credentials with a role, or the compiler."""

    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"
    COMPILER = "compiler"


class Significance(StrEnum):
    """The significance of a proposal. Less significant ones expire sooner."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


DAYS = {Significance.LOW: 7, Significance.MEDIUM: 30, Significance.HIGH: 90}


class PolicyRule(NamedTuple):
    """A rule of a write policy. A rule for one page type has precedence over a rule for all types."""

    role: WriterRole
    policy: Policy
    page_type: str | None = None


def checked_rules(rules: Sequence[PolicyRule]) -> list[dict[str, str | None]]:
    """Return the rules in the form in which a wiki stores them, in a fixed order. Raises BadInput."""
    validation.check_count(rules, RULES_MAX, "writePolicy")
    checked: dict[tuple[str, str], dict[str, str | None]] = {}
    for number, rule in enumerate(rules):
        if rule.page_type is not None:
            validation.one_of(rule.page_type, tuple(TEMPLATES), f"writePolicy.{number}.pageType")
        key = rule.role.value, rule.page_type or ""
        if key in checked:
            raise BadInput("There are two rules for this role and type. Give one.", f"writePolicy.{number}")
        checked[key] = {"role": rule.role.value, "page_type": rule.page_type, "policy": rule.policy.value}
    return [checked[key] for key in sorted(checked)]


def read_rule(text: str) -> PolicyRule:
    """Parse a rule such as `member=review` or `member/decision=closed`. Raises BadInput."""
    subject, _, policy = text.partition("=")
    role, _, page_type = subject.partition("/")
    try:
        return PolicyRule(WriterRole(role), Policy(policy), page_type or None)
    except ValueError:
        raise BadInput(
            f"A rule is ROLE=POLICY or ROLE/TYPE=POLICY, of the roles {', '.join(WriterRole)} and the policies "
            f"{', '.join(Policy)}.",
            "writePolicy",
        ) from None


def rules_of(stored: Iterable[dict[str, Any]]) -> list[PolicyRule]:
    """Return the rules of a wiki from their stored form."""
    return [PolicyRule(WriterRole(rule["role"]), Policy(rule["policy"]), rule["page_type"]) for rule in stored]


def role_of(scope: Scope) -> WriterRole | None:
    """Return the role whose rules apply to a scope, or None for readers, who cannot write."""
    if scope.actor.kind is ActorKind.COMPILER:
        return WriterRole.COMPILER
    return None if scope.role is Role.READER else WriterRole(scope.role.value)


def policy_for(rules: Collection[PolicyRule], scope: Scope, page_types: Collection[str] | None) -> Policy:
    """Return the strictest policy for pages of these types. None stands for all types, or for unknown ones."""
    by_type = {rule.page_type: rule.policy for rule in rules if rule.role is role_of(scope)}
    default = by_type.get(None, Policy.OPEN)
    applying = {default, *by_type.values()} if page_types is None else {by_type.get(t, default) for t in page_types}
    return max(applying, key=lambda policy: STRICTNESS[policy], default=Policy.OPEN)


class ReviewRequired(BadInput):
    """The write has to be reviewed, so nothing was written. It waits as the proposal `proposal_id`, if there is one.

    It is a BadInput, so that a client that does not know proposals sees that nothing was written.
    """

    code = "REVIEW_REQUIRED"

    def __init__(self, message: str, proposal_id: UUID | None = None, *, is_new: bool = True) -> None:
        super().__init__(message)
        self.proposal_id, self.is_new = proposal_id, is_new

    @property
    def extensions(self) -> dict[str, Any]:
        return {"code": self.code, "proposalId": None if self.proposal_id is None else str(self.proposal_id)}


class HeldForReview(ReviewRequired):
    """Raised at the end of a write that has to be reviewed, to roll it back. `proposable` turns it into a proposal."""

    def __init__(
        self,
        scope: Scope,
        page_id: UUID | None,
        states: "tuple[Page | None, Page] | None",
        page_ids: Collection[UUID] = (),
        levels: Collection[str] = (),
    ) -> None:
        super().__init__(
            "Writes of this role are reviewed in this wiki, and this one cannot be proposed. Nothing was written."
        )
        self.scope, self.page_id, self.states = scope, page_id, states
        self.page_ids = page_ids
        """The pages that the write would change."""
        self.levels = levels
        """The sensitivity levels of the changed pages whose states are known, before and after the write."""


async def check_write_policy(writer: "Writer", rules: Sequence[dict[str, Any]]) -> None:
    """Check a write against the stored rules of its wiki.

    Raises HeldForReview if it has to be reviewed or was meant as a proposal, and Forbidden if the policy is CLOSED. The
    accepted write of a reviewer passes.
    """
    scope, found = writer.scope, writer.changes.found
    terms = scope.review and scope.review.terms
    if (scope.review and scope.review.reviewer) or not (rules or terms):
        return
    page_ids = {*filter(None, found), *writer.touched}
    is_whole = None in found and found[None].kind is ChangeKind.ARCHIVED
    if not (page_ids or is_whole):
        return
    policy = Policy.OPEN
    if rules:
        types = None if is_whole else await types_of(writer, page_ids)
        policy = policy_for(rules_of(rules), scope, types)
    if policy is Policy.CLOSED:
        raise Forbidden("This wiki is closed to writes of this role. An admin of it may change its write policy.")
    if policy is Policy.REVIEW or terms:
        written = (line.page_id for line in writer.lines if line.page_id and not line.is_consequence)
        main = next(written, next(iter(page_ids), None))
        states = [page for pair in writer.states.values() for page in pair if page]
        levels = {level for page in (*states, *writer.removed.values()) for level in levels_of(page)}
        raise HeldForReview(scope, main, None if main is None else writer.states.get(main), page_ids, levels)


def levels_of(page: "Page") -> Iterator[str]:
    """Yield the sensitivity levels of a page and of its sections."""
    yield level_of(page.metadata)
    for section in page.sections:
        yield from find_levels(section.heading)


async def types_of(writer: "Writer", page_ids: Collection[UUID]) -> Collection[str] | None:
    """Return the types of the pages that a write has changed, or None if the type of a deleted page is unknown."""
    types = {id: writer.states[id][1].type for id in page_ids if id in writer.states}
    if unknown := [id for id in page_ids if id not in types]:
        rows = await writer.all(PROPOSALS["find_types"], ids=unknown)
        types |= {row["id"]: row["type"] for row in rows}
    return set(types.values()) if len(types) == len(page_ids) else None


def checked_terms(terms: Terms, now: datetime) -> Terms:
    """Return the cleaned terms of a proposal that a caller makes on request. Raises BadInput."""
    why = validation.text(terms.why, "why", EDIT_SUMMARY.maximum).strip()
    if not why:
        raise BadInput("Give a reason for the reviewer.", "why")
    expires_at = terms.expires_at
    if expires_at is not None:
        expires_at = validation.timestamp(expires_at, "expiresAt")
        if not now < expires_at <= now + timedelta(days=366):
            raise BadInput("This must be a time in the future, within a year.", "expiresAt")
    evidence = validation.check_count(terms.evidence, EVIDENCE_MAX, "evidence")
    refs = [validation.line(ref, f"evidence.{n}", REF.maximum + 20) for n, ref in enumerate(evidence)]
    return Terms(why, tuple(refs), Significance(terms.significance).value, expires_at)
