"""Find sentences that are addressed to agents. They are shown to reviewers, never followed, and left out of pages.

The rules match what is usual in prompt injection, in its most frequent languages. They miss some sentences, and flag
harmless ones, such as those of a manual. A flag only asks a person to look at the sentence.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

FLAGS_MAX = 50  # flags of one source
SENTENCE_MAX = 300  # characters of a sentence that are shown
READ_MAX = 2_000  # characters of a sentence that are read
SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]*")
MARKS = re.compile(r"^[\s>#*+\-\d.)\]\[|_`~\"'“”„«»(]+")
INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
AGENT = r"(?:assistants?|ai|a\.i\.|chatbots?|agents?|(?:large )?language models?|llms?|copilot|gpt|claude|gemini)"
OLDER = r"(?:previous|prior|above|earlier|preceding|foregoing|former|existing|other|system|your|all|any|these|those)"
RULES = r"(?:instructions?|prompts?|rules?|guidelines?|directions?|commands?|context|messages?|guardrails?)"
ANYWHERE = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|discard|neglect)\b.{{0,40}}\b{OLDER}\b.{{0,40}}\b{RULES}\b"
    rf"|\b(?:you|{AGENT})\s+(?:must|should|shall|need to|have to|has to|are to|ought to|will now|can now)\b"
    rf"|\b(?:you are|you're|act as|behave as|pretend to be|pose as)\s+(?:now\s+)?(?:an?\s+|the\s+)?{AGENT}\b"
    r"|\byou are (?:now|no longer)\b|\bsystem prompt\b|\bdeveloper mode\b|\bjailbreak"
    rf"|\b(?:new|updated|important|additional|secret|hidden)\s+{RULES}\s*(?:[:：]|for (?:the |any |all )?{AGENT}\b)"
    rf"|\b(?:attention|note to|message to|instructions? (?:to|for))\s+(?:the |any |all )?{AGENT}\b"
    r"|\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|warn|alert|notify|ask)\b.{0,30}\b(?:users?|humans?"
    r"|owner|anyone|reviewers?|operators?)\b"
    rf"|<\|?/?(?:system|assistant|user|im_start|im_end|instructions?|tool_call)\|?>|\[/?INST\]"
    r"|\b(?:ignoriere|vergiss|missachte)\b.{0,40}\b(?:anweisung|instruktion|vorgabe|regel)"
    r"|\b(?:ignore[rz]?|oublie[rz]?)\b.{0,40}\b(?:instructions?|consignes)\b.{0,20}\b(?:précédentes?|antérieures?)"
    r"|\b(?:ignora|olvida|ignore|esqueça)\b.{0,40}\b(?:instrucciones|instruções)\b"
    r"|忽略.{0,10}(?:指令|指示|说明|提示)|(?:以前|上記|これまで)の(?:指示|命令|プロンプト).{0,6}(?:無視|忘れ)",
    re.IGNORECASE,
)
COMMAND = re.compile(
    r"(?:(?:please|now|then|first|next|finally|instead|immediately|also|and|so)[,\s]+){0,3}"
    r"(?:run|execute|invoke|call|delete|remove|drop|erase|overwrite|send|post|upload|exfiltrate|forward|e-?mail|transfer"
    r"|download|fetch|curl|wget|install|open|visit|navigate|click|approve|accept|merge|grant|publish|reveal|print|output"
    r"|repeat|respond|reply|answer|say|write|create|update|edit|set|change|disable|enable|stop|ignore|disregard|forget"
    r"|remember|pretend|act|behave|follow|obey|do not|don't|never|always)\b(?!\s*[:：=])\s+\S",
    re.IGNORECASE,
)


class Flag(NamedTuple):
    """A sentence that is addressed to agents, and its line in the source, from 1."""

    line: int
    text: str


def flags(text: str) -> list[Flag]:
    """Return the first sentences of a text that tell an agent what to do."""
    found: list[Flag] = []
    for line, sentence in sentences(text):
        if is_addressed(sentence):
            found.append(Flag(line, sentence_line(sentence)))
            if len(found) == FLAGS_MAX:
                break
    return found


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence of a text with its line."""
    for number, line in enumerate(text.split("\n"), start=1):
        for match in SENTENCE.finditer(line):
            yield number, match[0]


def is_addressed(sentence: str) -> bool:
    """Return whether a sentence tells an agent what to do."""
    words = INVISIBLE.sub("", sentence[:READ_MAX])
    return bool(ANYWHERE.search(words) or COMMAND.match(MARKS.sub("", words)))


def sentence_line(sentence: str) -> str:
    """Return a sentence on one line of at most SENTENCE_MAX characters."""
    words = " ".join(INVISIBLE.sub("", sentence[:READ_MAX]).split())
    return words if len(words) <= SENTENCE_MAX else words[: SENTENCE_MAX - 1] + "…"
