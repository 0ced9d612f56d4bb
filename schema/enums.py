"""The closed sets of the contract. Stored in small letters, shown in capitals."""

from enum import Enum, StrEnum

import strawberry

from selection import Choice


@strawberry.enum(description="What a page is about; it never changes.")
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


@strawberry.enum(description="Archived pages are kept whole, but search, lists, graph and hierarchy leave them out.")
class WikiPageStatus(StrEnum):
    ACTIVE = "active"
    ARCHIVED = "archived"


@strawberry.enum(description="What kind of thing happened in a wiki, in the order in which a diary tells it.")
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


@strawberry.enum(description="What a directed link says.")
class WikiLinkKind(StrEnum):
    REFERENCE = "reference"
    PARENT_OF = "parent_of"
    CHILD_OF = "child_of"


@strawberry.enum(description="Which way links are followed from a page.")
class WikiLinkDirection(Choice):
    OUTGOING = "outgoing"
    INCOMING = "incoming"
    BOTH = "both"


@strawberry.enum(description="Where an alias came from.")
class WikiAliasSource(StrEnum):
    COMPILER = "compiler"
    MANUAL = "manual"
    IMPORT = "import"


@strawberry.enum(description="What kind of name a page answers to.")
class WikiNameKind(StrEnum):
    TITLE = "title"
    ALIAS = "alias"
    SLUG = "slug"
    OLD_SLUG = "old_slug"


@strawberry.enum(description="Held until it earns a page, grown into one, or not wanted.")
class WikiMentionStatus(StrEnum):
    OPEN = "open"
    PROMOTED = "promoted"
    IGNORED = "ignored"


@strawberry.enum(description="What a search looks through.")
class WikiSearchKind(StrEnum):
    PAGES = "pages"
    SOURCES = "sources"


@strawberry.enum(description="Why a piece is in a context pack.")
class WikiContextItemKind(Enum):
    CONTEXT = strawberry.enum_value("context", description="A section of a CONTEXT page: these are always loaded.")
    STANDARD = strawberry.enum_value(
        "standard", description="A section of a STANDARD page that is for the role, or that names none."
    )
    NAMED = strawberry.enum_value(
        "named", description="A section of a PRODUCT, ENTITY or CONCEPT page that the task names."
    )
    SECTION = strawberry.enum_value("section", description="The section of a found page that answers best.")
    PASSAGE = strawberry.enum_value("passage", description="Evidence that says more or newer things than the sections.")


@strawberry.enum(
    description="What kind of evidence a source is. What is compiled from the notes of a RUN of an agent is proposed."
)
class WikiSourceKind(StrEnum):
    MEMORY_UNIT = "memory_unit"
    DAILY_NOTE = "daily_note"
    DOCUMENT = "document"
    ARTIFACT = "artifact"
    JOURNAL_IDEA = "journal_idea"
    URL = "url"
    RUN = "run"


@strawberry.enum(description="Whose wiki it is.")
class WikiOwnerKind(StrEnum):
    AGENT = "agent"
    USER = "user"
    SHARED = "shared"


@strawberry.enum(description="Who wrote.")
class WikiAuthorKind(StrEnum):
    AGENT = "agent"
    USER = "user"
    COMPILER = "compiler"
    SERVICE = "service"


@strawberry.enum(description="What a caller is in a wiki.")
class WikiRole(StrEnum):
    READER = "reader"
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"


@strawberry.enum(description="What a grant lets an owner do in another's wiki, as far as its credential goes.")
class WikiGrantRole(Enum):
    READER = strawberry.enum_value("reader", description="Read.")
    MEMBER = strawberry.enum_value("member", description="Read and write.")
    ADMIN = strawberry.enum_value("admin", description="Read, write and manage.")


@strawberry.enum(description="Whether an API key is accepted.")
class WikiApiKeyState(Enum):
    ACTIVE = strawberry.enum_value("active", description="It is accepted.")
    EXPIRED = strawberry.enum_value("expired", description="Its time is over.")
    REVOKED = strawberry.enum_value("revoked", description="Somebody ended it.")


@strawberry.enum(description="How a webhook does.")
class WebhookState(Enum):
    ACTIVE = strawberry.enum_value("active", description="It takes what it is sent.")
    FAILING = strawberry.enum_value("failing", description="It did not take what it was sent last.")
    DISABLED = strawberry.enum_value(
        "disabled", description="Nothing is queued for it: somebody ended it, or it failed for five days."
    )


@strawberry.enum(description="What became of a delivery: it waits or is tried again, has arrived, or is tried no more.")
class WebhookDeliveryStatus(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"


@strawberry.enum(description="What became of an attempt that the audit log knows.")
class AuditOutcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"


@strawberry.enum(description="What became of a page by its last change.")
class WikiPageState(Enum):
    ACTIVE = strawberry.enum_value("active", description="It is there.")
    ARCHIVED = strawberry.enum_value("archived", description="Archived: hidden from lists and search.")
    DELETED = strawberry.enum_value("deleted", description="It is gone for good.")


@strawberry.enum(description="Where a compile job stands.")
class WikiJobStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


@strawberry.enum(description="What happened. Where several things did before they could be told, the greatest of them.")
class WikiChangeKind(Enum):
    EVIDENCE = strawberry.enum_value(
        "evidence", description="A source or a mention came in; no page of the wiki changed by it."
    )
    UPDATED = strawberry.enum_value("updated", description="Its content, names, links or evidence.")
    MOVED = strawberry.enum_value("moved", description="It hangs under another page, or under none.")
    RENAMED = strawberry.enum_value("renamed", description="It has another title or slug.")
    ARCHIVED = strawberry.enum_value("archived", description="Without pageId: every page of the wiki was.")
    RESTORED = strawberry.enum_value("restored", description="It is active again.")
    CREATED = strawberry.enum_value("created", description="It is new.")
    DELETED = strawberry.enum_value("deleted", description="It is gone for good.")
    RESYNC = strawberry.enum_value(
        "resync", description="Changes may have been missed, or were too many to tell: read anew what you show."
    )


@strawberry.enum(description="The orders of a list of pages. TITLE pays no heed to case.")
class WikiPageOrder(Choice):
    TITLE = "title"
    UPDATED = "updated"
    CREATED = "created"
    HUBNESS = "hubness"


@strawberry.enum(description="How the old text of an edit was found, the strictest way first.")
class WikiEditPass(StrEnum):
    EXACT = "exact"
    LINES = "lines"
    WHITESPACE = "whitespace"
    INDENTATION = "indentation"
    BLOCK = "block"


@strawberry.enum(description="How the text is rewritten when a claim in it is superseded.")
class WikiSupersessionMode(Enum):
    REPLACE = strawberry.enum_value("replace", description="The replacement comes where the fact stands.")
    MERGE = strawberry.enum_value(
        "merge", description="The same; if the text says the replacement elsewhere already, the fact alone goes."
    )
    APPEND = strawberry.enum_value("append", description="The replacement comes behind the text, which stays.")
    NONE = strawberry.enum_value("none", description="The text stays as it is: only the claim is recorded.")


@strawberry.enum(description="How many sources a page rests on that agree.")
class WikiConfidence(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@strawberry.enum(description="Open, resolved when one claim superseded the other, or dismissed when both hold.")
class WikiContradictionStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


@strawberry.enum(description="How a contradiction is decided.")
class WikiContradictionResolution(Enum):
    KEEP_NEWER = strawberry.enum_value("keep_newer", description="The older claim is superseded by the newer one.")
    KEEP_OLDER = strawberry.enum_value("keep_older", description="The newer claim is superseded by the older one.")
    BOTH_HOLD = strawberry.enum_value("both_hold", description="Both claims stay: they do not contradict each other.")


@strawberry.enum(description="Whether a line of a comparison stayed, went, or came.")
class WikiDiffLineKind(StrEnum):
    CONTEXT = "context"
    REMOVED = "removed"
    ADDED = "added"


@strawberry.enum(description="How bad it is that a check found something.")
class WikiLintSeverity(Enum):
    ERROR = strawberry.enum_value("error", description="It is wrong.")
    WARNING = strawberry.enum_value("warning", description="It misleads readers.")
    INFO = strawberry.enum_value("info", description="It is untidy.")


@strawberry.enum(description="What becomes of writes in a wiki.")
class WikiWritePolicy(Enum):
    OPEN = strawberry.enum_value("open", description="They are written.")
    REVIEW = strawberry.enum_value("review", description="They become proposals.")
    CLOSED = strawberry.enum_value("closed", description="They are refused.")


@strawberry.enum(description="Whether a question still waits for its decision.")
class WikiDecisionStatus(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    WITHDRAWN = "withdrawn"


@strawberry.enum(description="How sensitive a page, a section or a source is, from the least to the most.")
class WikiSensitivity(StrEnum):
    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"  # noqa: S105  a level


@strawberry.enum(description="Whose writes a rule is about: those of credentials with this role, or the compiler's.")
class WikiWriterRole(StrEnum):
    MEMBER = "member"
    SERVICE = "service"
    ADMIN = "admin"
    COMPILER = "compiler"


@strawberry.enum(description="How much depends on a proposal; it ends by itself after 7, 30 or 90 days.")
class WikiSignificance(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@strawberry.enum(description="Where a proposal stands. Only an open one can be decided.")
class WikiProposalStatus(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@strawberry.enum(description="A decision of a proposal.")
class WikiProposalDecision(Enum):
    ACCEPT = strawberry.enum_value("accept", description="Do what is proposed.")
    DECLINE = strawberry.enum_value("decline", description="Let it end without being done; a reason is needed.")
    WITHDRAW = strawberry.enum_value("withdraw", description="Take back one's own.")
