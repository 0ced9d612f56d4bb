"""The enums of the schema. Their members are stored in small letters and shown in capitals."""

from enum import Enum, StrEnum

import strawberry

from selection import Choice


@strawberry.enum(description="Type of a page. It cannot be changed later.")
class WikiPageType(StrEnum):
    ENTITY = "entity"
    TOPIC = "topic"
    DECISION = "decision"
    CONCEPT = "concept"
    PROJECT = "project"
    REFERENCE = "reference"
    THEME = "theme"
    CONTEXT = "context"
    STANDARD = "standard"
    PRODUCT = "product"
    SOURCE = "source"


@strawberry.enum(
    description="Status of a page. Archived pages keep their content, but search, lists, graph and hierarchy omit them."
)
class WikiPageStatus(StrEnum):
    ACTIVE = "active"
    ARCHIVED = "archived"


@strawberry.enum(description="Topics of a diary, in their order.")
class WikiDiaryTopic(StrEnum):
    SYNTHESIZED = "synthesized"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    PROPOSED = "proposed"
    DECIDED = "decided"
    FORGOTTEN = "forgotten"
    WRITTEN = "written"
    LEARNED = "learned"
    MAINTAINED = "maintained"


@strawberry.enum(description="Kind of a link.")
class WikiLinkKind(StrEnum):
    REFERENCE = "reference"
    PARENT_OF = "parent_of"
    CHILD_OF = "child_of"


@strawberry.enum(description="Direction in which links of a page are followed.")
class WikiLinkDirection(Choice):
    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


@strawberry.enum(description="Origin of an alias.")
class WikiAliasSource(StrEnum):
    COMPILER = "compiler"
    MANUAL = "manual"
    IMPORT = "import"


@strawberry.enum(description="Kind of name of a page.")
class WikiNameKind(StrEnum):
    TITLE = "title"
    ALIAS = "alias"
    SLUG = "slug"
    OLD_SLUG = "old_slug"


@strawberry.enum(description="Status of a mention: open, promoted to a page, or ignored.")
class WikiMentionStatus(StrEnum):
    OPEN = "open"
    PROMOTED = "promoted"
    IGNORED = "ignored"


@strawberry.enum(description="Kind of documents to search.")
class WikiSearchKind(StrEnum):
    PAGES = "pages"
    SOURCES = "sources"


@strawberry.enum(description="Reason why an item is in a context pack.")
class WikiContextItemKind(Enum):
    CONTEXT = strawberry.enum_value("context", description="A section of a CONTEXT page, which is always included.")
    STANDARD = strawberry.enum_value(
        "standard", description="A section of a STANDARD page for the role, or for all roles."
    )
    NAMED = strawberry.enum_value(
        "named", description="A section of a PRODUCT, ENTITY or CONCEPT page that the task names."
    )
    SECTION = strawberry.enum_value("section", description="The most relevant section of a search hit.")
    PASSAGE = strawberry.enum_value(
        "passage", description="A passage of a source with more or newer facts than the sections."
    )


@strawberry.enum(description="Kind of a source. Pages compiled from notes of a RUN of an agent become proposals.")
class WikiSourceKind(StrEnum):
    MEMORY_UNIT = "memory_unit"
    DAILY_NOTE = "daily_note"
    DOCUMENT = "document"
    ARTIFACT = "artifact"
    JOURNAL_IDEA = "journal_idea"
    URL = "url"
    RUN = "run"


@strawberry.enum(description="Kind of owner.")
class WikiOwnerKind(StrEnum):
    AGENT = "agent"
    USER = "user"
    SHARED = "shared"


@strawberry.enum(description="Kind of author.")
class WikiAuthorKind(StrEnum):
    AGENT = "agent"
    USER = "user"
    COMPILER = "compiler"
    SERVICE = "service"


@strawberry.enum(description="Role of a caller in a wiki.")
class WikiRole(StrEnum):
    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"


@strawberry.enum(description="Role of a grant. The role of the credential limits it further.")
class WikiGrantRole(Enum):
    READER = strawberry.enum_value("reader", description="Read.")
    MEMBER = strawberry.enum_value("member", description="Read and write.")
    ADMIN = strawberry.enum_value("admin", description="Read, write and manage.")


@strawberry.enum(description="State of an API key.")
class WikiApiKeyState(Enum):
    ACTIVE = strawberry.enum_value("active", description="The key is accepted.")
    EXPIRED = strawberry.enum_value("expired", description="The key has expired.")
    REVOKED = strawberry.enum_value("revoked", description="The key was revoked.")


@strawberry.enum(description="State of a webhook.")
class WebhookState(Enum):
    ACTIVE = strawberry.enum_value("active", description="Deliveries succeed.")
    FAILING = strawberry.enum_value("failing", description="The last delivery failed.")
    DISABLED = strawberry.enum_value(
        "disabled", description="No events are queued: it was disabled, or it has failed for five days."
    )


@strawberry.enum(description="Status of a delivery: pending, delivered, or dead after the last attempt.")
class WebhookDeliveryStatus(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@strawberry.enum(description="Outcome of an action in the audit log.")
class AuditOutcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"


@strawberry.enum(description="State of a page after its last change.")
class WikiPageState(Enum):
    ACTIVE = strawberry.enum_value("active", description="The page is active.")
    ARCHIVED = strawberry.enum_value("archived", description="Archived: hidden from lists and search.")
    DELETED = strawberry.enum_value(
        "deleted", description="The page was deleted permanently, or became too sensitive for the caller."
    )


@strawberry.enum(description="Status of a compile job.")
class WikiJobStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@strawberry.enum(description="Kind of a change. If several changes are reported as one, the most important of them.")
class WikiChangeKind(Enum):
    EVIDENCE = strawberry.enum_value("evidence", description="A source or a mention was added. No page was changed.")
    UPDATED = strawberry.enum_value("updated", description="Content, aliases, links or citations were changed.")
    MOVED = strawberry.enum_value("moved", description="The parent of the page was changed.")
    RENAMED = strawberry.enum_value("renamed", description="The title or the slug was changed.")
    ARCHIVED = strawberry.enum_value(
        "archived", description="The page was archived, or without pageId all pages of the wiki."
    )
    RESTORED = strawberry.enum_value("restored", description="The page was unarchived.")
    CREATED = strawberry.enum_value("created", description="The page was created.")
    DELETED = strawberry.enum_value("deleted", description="The page was deleted permanently.")
    RESYNC = strawberry.enum_value(
        "resync",
        description="Changes may have been missed, or were too many to report. Read again whatever you have cached.",
    )


@strawberry.enum(description="Order of a list of pages. TITLE ignores case.")
class WikiPageOrder(Choice):
    TITLE = "title"
    UPDATED = "updated"
    CREATED = "created"
    HUBNESS = "hubness"


@strawberry.enum(description="Strategies for finding the old text of an edit, strictest first.")
class WikiEditPass(StrEnum):
    EXACT = "exact"
    LINES = "lines"
    WHITESPACE = "whitespace"
    INDENTATION = "indentation"
    BLOCK = "block"


@strawberry.enum(description="Modes of changing the text when a claim is superseded.")
class WikiSupersessionMode(Enum):
    REPLACE = strawberry.enum_value("replace", description="The claim is replaced.")
    MERGE = strawberry.enum_value(
        "merge", description="The claim is replaced, or only removed if the text contains the replacement elsewhere."
    )
    APPEND = strawberry.enum_value("append", description="The replacement is appended, and the text is kept.")
    NONE = strawberry.enum_value("none", description="The text is unchanged, and only the claim is recorded.")


@strawberry.enum(description="Confidence in a page, by the number of sources that agree.")
class WikiConfidence(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@strawberry.enum(description="Open, resolved when one claim superseded the other, or dismissed when both hold.")
class WikiContradictionStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


@strawberry.enum(description="Resolution of a contradiction.")
class WikiContradictionResolution(Enum):
    KEEP_NEWER = strawberry.enum_value("keep_newer", description="The older claim is superseded by the newer one.")
    KEEP_OLDER = strawberry.enum_value("keep_older", description="The newer claim is superseded by the older one.")
    BOTH_HOLD = strawberry.enum_value("both_hold", description="Both claims stay: they do not contradict each other.")


@strawberry.enum(description="Kind of line in a diff: unchanged, removed or added.")
class WikiDiffLineKind(StrEnum):
    CONTEXT = "context"
    REMOVED = "removed"
    ADDED = "added"


@strawberry.enum(description="Severity of a check.")
class WikiLintSeverity(Enum):
    ERROR = strawberry.enum_value("error", description="Something is wrong.")
    WARNING = strawberry.enum_value("warning", description="Something misleads readers.")
    INFO = strawberry.enum_value("info", description="Something could be tidier.")


@strawberry.enum(description="Policy for writes.")
class WikiWritePolicy(Enum):
    OPEN = strawberry.enum_value("open", description="Writes are applied.")
    REVIEW = strawberry.enum_value("review", description="Writes become proposals.")
    CLOSED = strawberry.enum_value("closed", description="Writes are refused.")


@strawberry.enum(description="Status of a question.")
class WikiDecisionStatus(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    WITHDRAWN = "withdrawn"


@strawberry.enum(description="Sensitivity of a page, a section or a source, in ascending order.")
class WikiSensitivity(StrEnum):
    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"  # noqa: S105  a level


@strawberry.enum(description="Role of the writer: that of a credential, or the compiler.")
class WikiWriterRole(StrEnum):
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"
    COMPILER = "compiler"


@strawberry.enum(description="Significance of a proposal. It expires after 7, 30 or 90 days.")
class WikiSignificance(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@strawberry.enum(description="Status of a proposal. Only open proposals can be decided.")
class WikiProposalStatus(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@strawberry.enum(description="Decision about a proposal.")
class WikiProposalDecision(Enum):
    ACCEPT = strawberry.enum_value("accept", description="Apply the proposal.")
    DECLINE = strawberry.enum_value("decline", description="Reject the proposal. A reason is required.")
    WITHDRAW = strawberry.enum_value("withdraw", description="Withdraw one's own proposal.")
