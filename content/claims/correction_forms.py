"""Patterns of sentences which say that something changed, in each language of the planner.

The group `a` is what no longer holds, `b` what holds now. A text without any of STEMS is skipped before the patterns,
which are slow, are tried.
"""

import re

PART = r"[^,;:.!?()\n—–]"
A, B = rf"(?P<a>{PART}{{1,80}}?)", rf"(?P<b>{PART}{{1,80}}?)"
END = r"(?=[,;:.!?()\n—–]|$| (?:because|since|as of|after|so that|in order|last|this|yesterday|today|for good)\b)"
A_END, B_END = A + END, B + END
OBJECT = rf"(?:(?P<object>{PART}{{1,60}}?) )?"
CHANGED = (
    r"(?:switch|mov|migrat|relocat|convert|chang|shift|transfer|renam|push|postpon|reschedul|rais|lower|increas|reduc|"
    r"bump|upgrad|downgrad|cut|went|gone|revis|correct|updat|swap|transition)(?:e|ed|es|d|ped|ted)?(?: back| over)?"
)

# Changes from one thing to another.
FROM_TO = (
    rf"\b{CHANGED} {OBJECT}from {A} to {B_END}",
    rf"\b(?:replaced|replaces|substituted) {A} (?:with|by) {B_END}",
    rf"\b(?:swapped|traded|dropped|ditched|left|abandoned|retired|exchanged) {A} (?:for|in favou?r of) {B_END}",
    rf"\b(?P<b>{PART}{{1,60}}?) (?:has |have )?(?:replaced|replaces|supersedes|superseded|succeeded|took over from) {A}"
    rf"(?: as\b{PART}*)?{END}",
    rf"\b(?P<b>{PART}{{1,60}}?),? (?:instead of|rather than|in place of|in lieu of) {A_END}",
    rf"\bnot {A},? but {B_END}",
    rf"\b(?:is|are|was|were) (?P<b>{PART}{{1,40}}?), not {A_END}",
    rf"\bused to (?:be |use |live in |work (?:at|for) )?{A}(?: before)?,? "
    rf"(?:but|and) (?:is |are |it's |it is )?now {B_END}",
    rf"\bvon {A} (?:auf|zu|zum|zur|nach) {B} "
    r"(?:um\w+|ge(?:wechselt|zogen|gangen)|verschoben|geändert|migriert|verlegt)",
    rf"\b(?:wechsel\w+|zieh\w+|zog\w*|stell\w+) {OBJECT}von {A} (?:auf|zu|zum|zur|nach) {B_END}",
    rf"\b{A} (?:wurde |haben wir |hat )?durch {B} (?:ersetzt|abgelöst)",
    rf"\b(?P<b>{PART}{{1,60}}?) (?:statt|anstatt|anstelle von) {A_END}",
    rf"\b(?:pass|migr|chang|déménag|bascul|déplac|report)\w+ {OBJECT}(?:de|d'|du) ?{A} (?:à|au|vers|pour) {B_END}",
    rf"\b(?:remplac|substitu)\w+ {A} par {B_END}",
    rf"\b(?P<b>{PART}{{1,60}}?) (?:au lieu de|à la place de|plutôt que) {A_END}",
    rf"\b(?:cambi|migr|mud|pas|traslad|mov)\w+ {OBJECT}(?:de|del) {A} (?:a|al|para|para o|para a) {B_END}",
    rf"\b(?:troc|substitu)\w+ {A} por {B_END}",
    rf"\b(?:reemplaz|sustitu)\w+ {A} (?:por|con) {B_END}",
    rf"\b(?P<b>{PART}{{1,60}}?) (?:en lugar de|en vez de|em vez de|no lugar de|invece di|al posto di|"
    rf"in plaats van) {A_END}",
    rf"\b(?:pass|migr|cambi|trasfer|spost)\w+ {OBJECT}(?:da|dal|dalla) {A} (?:a|al|alla) {B_END}",
    rf"\bsostitui\w+ {A} con {B_END}",
    rf"\bvan {A} naar {B} (?:overgestapt|verhuisd|gegaan|verplaatst|overgegaan|verzet)",
    rf"\b{A} (?:is )?vervangen \w+ {B_END}",
    rf"\b(?:пере[а-яё]+|смени[а-яё]+|мигрир[а-яё]+) {OBJECT}(?:с|со|из) {A} (?:на|в) {B_END}",
    rf"\bзамени[а-яё]+ {A} на {B_END}",
    rf"\b(?P<b>{PART}{{1,60}}?) вместо {A_END}",
    rf"从{A}(?:改|换|換|搬|转|轉|切换|切換|迁移|遷移)(?:到|成|为|為|用|至)了?{B_END}",
    rf"把{A}(?:换|換|改|替换|替換)(?:成|为|為)了?{B_END}",
    r"(?P<a>[^、。「」]{1,40}?)から(?P<b>[^、。「」]{1,40}?)(?:に|へ)(?:変更|移行|引っ越|切り替え|変え|乗り換え)",
)
# Things that ended, with nothing named in their place.
ENDED = (
    rf"\b(?:no longer|not any ?more|nobody) {A_END}",
    rf"\b(?:don't|doesn't|do not|does not|isn't|aren't|is not|are not|won't|will not|can't) {A} "
    rf"(?:any ?more|any longer){END}",
    rf"\b(?:stopped|quit|ceased|discontinued|gave up on|gave up|abandoned|retired|dropped|cancell?ed|scrapped) "
    rf"(?:using |to use |doing )?{A_END}",
    r"\b(?:decided against|reversed|revoked|withdrew|took back|overturned|changed (?:our|my) minds? (?:about|on)) "
    rf"(?:(?:the|our) (?:decision|plan) (?:to|on|for|of) )?{A_END}",
    rf"\bnicht mehr {A_END}",
    rf"\bkeine?[nmrs]? {A} mehr{END}",
    rf"\bgegen {A} entschieden",
    rf"\b(?:n'|ne )(?P<a>{PART}{{1,60}}?) plus\b(?P<rest>{PART}{{0,40}}){END}",
    rf"\b(?:décidé|choisi) (?:contre|de ne pas) {A_END}",
    rf"\b(?:ya no|já não) {A_END}",
    rf"\bnão {A} mais{END}",
    rf"\bnon {A} più(?P<rest>{PART}{{0,40}}){END}",
    rf"\b(?:niet meer|niet langer) {A_END}",
    rf"\bgeen {A} meer{END}",
    rf"\bбольше не {A_END}",
    rf"不再{A_END}",
    r"もう(?P<a>[^、。「」]{1,40}?)(?:ない|ません)",
)
# New things. The slot tells what each of them replaces.
BECAME = (
    rf"\b(?:has |have |is being |was |were |been )*{CHANGED} {OBJECT}(?:to|into) {B_END}",
    rf"\b(?:is|are|will be|it's) now (?:at |in |on |based in |called )?{B_END}",
    rf"\bnow (?:\w+ ){{1,2}}?(?:in |at |on |for |with |by )?{B_END}",
    rf"\b(?:is|are|was|were) (?:actually|in fact|really) (?:at |in |on )?{B_END}",
    rf"\bas of (?:now|today|this \w+|last \w+|\w+ \d+),? {B_END}",
    rf"\b(?:wohn|leb)\w* jetzt in {B_END}",
    rf"\bist (?:\w+ ){{0,2}}nach {B} (?:um)?gezogen",
    rf"\ba déménagé à {B_END}",
    rf"\b(?:se mudó|se ha mudado) a {B_END}",
    rf"\bmudou-se para {B_END}",
    rf"\bsi è trasferit[ao] a {B_END}",
    rf"\bis naar {B} verhuisd",
    rf"\bпереехал[аи]? в {B_END}",
)
STEMS = (
    "switch", "moved", "moving", "migrat", "relocat", "convert", "chang", "shift", "transfer", "renam", "push",
    "postpon", "reschedul", "raised", "lowered", "increas", "reduc", "bump", "upgrad", "downgrad", "cut ", "went",
    "revis", "correct", "updat", "swap", "replac", "substitut", "traded", "dropped", "ditched", "left", "abandon",
    "retired", "exchang", "supersed", "succeed", "took over", "instead", "rather than", "in place of", " not ",
    "used to",
    "no longer", "any more", "anymore", "any longer", "stopped", "quit", "ceased", "discontinu", "gave up", "cancel",
    "scrapped", "against", "revers", "revok", "withdrew", "took back", "overturn", "our mind", "my mind", " now",
    "now ",
    "actually", "in fact", "as of", "gewechselt", "umge", "gezogen", "wechsel", "verschoben", "ersetzt", "statt",
    "nicht mehr", "mehr", "gegen", "geändert", "passé", "migré", "déménag", "remplac", "au lieu", "plus", "décidé",
    "cambi", "migr", "mud", "traslad", "reemplaz", "sustitu", "substitu", "troc", "en lugar", "en vez", "em vez",
    "ya no",
    "já não", "mais", "trasfer", "sostitu", "invece", "più", "van ", "vervangen", "niet meer", "geen", "plaats",
    "verhuisd", "пере", "замени", "вместо", "больше не", "从", "把", "不再", "から", "もう", "jetzt", "ended", "joined",
)  # fmt: skip
STEM = re.compile("|".join(map(re.escape, STEMS)))
# Questions, wishes, plans, denials and temporary things, which do not change anything.
OPEN = re.compile(
    r"[?？]\s*$|\b(?:might|(?-i:may)|could|would|should|if|whether|unless|maybe|perhaps|possibly|probably|consider\w*|thinking|"
    r"think|plan|plans|planned|planning|want|wants|wanted|wish|wishes|hope|hopes|hoping|propos\w+|suggest\w*|discuss\w*|"
    r"debat\w+|almost|nearly|rumou?r\w*|supposedly|allegedly|going to|tempted|temporar\w+|for (?:a|one|two|three|the) "
    r"(?:day|week|weekend|month|night|few|couple|summer|winter)\w*|visit\w*|vorübergehend|vielleicht|überleg\w+|könnte\w*|"
    r"würde\w*|peut-être|envisag\w+|pourrai\w*|quizás|talvez|poderia|forse|misschien|может|возможно)\b"
    r"|也许|可能|かもしれ"
    r"|\b(?:did not|didn't|never|haven't|hasn't|has not|have not|not yet|won't be|refused to|decided not to) "
    r"(?:\w+ ){0,2}"
    r"(?:switch|mov|migrat|relocat|chang|replac|drop|leav|stop|cancel)\w*",
    re.IGNORECASE,
)
# Words of sentences about the past, which need not be superseded.
PAST = re.compile(
    r"\b(?:used to|no longer|formerly|previously|until (?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|last)|was "
    r"replaced|any ?more|nicht mehr|früher|autrefois|antes|ya no|já não|vroeger|раньше)\b",
    re.IGNORECASE,
)
ADDING = re.compile(
    r"\b(?:also|too|as well|in addition|besides|another|additionally|alongside|both|second|extra|auch|außerdem|aussi|"
    r"également|también|também|anche|ook|также)\b",
    re.IGNORECASE,
)

# Phrases that take something back. A sentence with one need not repeat what no longer holds.
ANNOUNCED = (
    r"correction|corrected|(?:was|were|am|are) (?:\w+ )?(?:wrong|mistaken)|my (?:mistake|bad|error|fault)|"
    r"mix(?:ed)?[- ]up|misspoke|turn(?:s|ed) out|chang(?:e|ed|ing) (?:my|our|his|her|their|your) minds?|"
    r"changes? of heart|"
    r"(?:scrap|strike|scratch|forget|ignore|disregard|never ?mind) "
    r"(?:what|that|the|my|our|all|everything|(?-i:[A-Z\d])\w*)|"
    r"update on|update:|from now on|these days|nowadays|no longer|any ?more|any longer|"
    r"as of (?:now|today|this|next|last)|"
    r"old news|outdated|out of date|obsolete|(?:has|have) been (?:chang|mov|replac|revis)ed (?:to|by|with)|changed to|"
    r"(?:has|have) become|"
    r"became|(?:is|are|it's|that's|they're|we're|he's|she's) now|now (?:has|have|is|are|it)|it's now|"
    r"should (?:read|be|have been)|revers(?:ed|al)|overturned|went back on|took over",
    r"korrektur|korrigier\w+|berichtigung|(?:habe|haben|hatte|hatten) (?:mich|uns) (?:geirrt|vertan|getäuscht)|"
    r"mein fehler|vergiss|vergesst|vergessen sie|nicht mehr|ab (?:jetzt|sofort|heute|nun)|von nun an|neuerdings|"
    r"mittlerweile|inzwischen|überholt|veraltet|(?:anders|um)entschieden|doch nicht",
    r"rectification|correction|corrig\w+|(?:me|m'|nous) (?:étais|suis|sommes) tromp\w+|trompée?s?|mon erreur|"
    r"oublie[rz]? (?:ce que|mon|ma|le|la)|désormais|dorénavant|à partir de maintenant|n'est plus|ne sont plus|"
    r"chang\w+ d'avis|finalement|n'est plus d'actualité|périmée?s?",
    r"corrección|corrijo|rectific\w+|me equivoqu\w+|estaba equivocad[oa]|mi error|olvid[ae] lo que|ya no|"
    r"a partir de ahora|de ahora en adelante|cambi\w+ de (?:opinión|idea)|al final|anticuad[oa]|"
    r"correção|corrijo|me enganei|estava enganad[oa]|meu erro|esqueça o que|já não|a partir de agora|mud\w+ de ideia|"
    r"afinal|desatualizad[oa]",
    r"correzione|correggo|mi (?:sono|ero) sbagliat[oa]|errore mio|dimentica (?:quello|ciò)|d'ora in poi|non più|"
    r"cambiato idea|alla fine|superat[oa]|correctie|rectificatie|ik had het mis|vergiste me|mijn fout|vergeet wat|"
    r"vanaf nu|niet meer|niet langer|van gedachten veranderd|toch niet|verouderd",
    r"поправка|исправлени[ея]|я ошиб(?:ся|лась)|моя ошибка|забудь(?:те)?|отныне|больше не|с этого момента|"
    r"передумал[аи]?|оказалось|устарел[аои]?",
)
ANNOUNCED_BARE = (
    r"更正|纠正|糾正|我搞错|我錯|弄错|忘了我说|从现在起|從現在起|已改为|已改為|不再|"
    r"訂正|間違(?:って|い)|もう.{0,20}(?:ない|ません)|今後は"
)
# Words of change. A sentence with one that repeats most of an older sentence restates it.
CHANGED_WORDS = (
    r"instead|rather than|in place of|in favou?r of|used to|until (?:last|recently|now|then)|replac\w+|switch\w+|"
    r"swapped|traded|exchanged|gave up|given up|dropped|ditched|abandon\w+|revok\w+|settled (?:on|for)|supersed\w+|"
    r"no more|done with|"
    r"gone over|didn't work out|bye|goodbye|farewell|decided (?:on|against|for)|"
    r"mov(?:ed|ing) (?:on )?(?:from|to)|after all|actually|in fact|"
    r"(?:is|are|was|were) (?:over|out)|(?:scrap|strike|scratch|cancel)\w*|now|since|stopped|quit|ended|"
    r"from \w+ on(?:wards?)?|,? (?:and |but )?not|but",
    r"statt(?:dessen)?|anstatt|anstelle|ersetzt|gewechselt|umgestellt|umgezogen|früher|bisher|seit|jetzt|nun|sondern|"
    r"tatsächlich|aufgegeben|aufgehört|abgelöst|verschoben|geändert",
    r"au lieu|à la place|plutôt que|remplac\w+|autrefois|maintenant|depuis|en fait|abandonn\w+|pas|mais|"
    r"en lugar de|en vez de|reemplaz\w+|sustitu\w+|ahora|desde|antes|en realidad|sino|dejó|"
    r"em vez de|no lugar de|substitu\w+|agora|na verdade|mas|deixou",
    r"invece|al posto di|sostitui\w+|adesso|ora|prima|in realtà|bensì|ma|smesso|in plaats van|vervangen|vroeger|nu|"
    r"sinds|eigenlijk|maar|gestopt|вместо|замен\w+|теперь|раньше|с тех пор|на самом деле|а не|но|перестал[аи]?",
)
CHANGED_BARE = r"现在|現在|改(?:成|为|為|用|到|在)|换成|換成|而不是|代替|今は|変更|代わりに|ではなく"

# Phrases that state what is the case, after something was taken back: `the owner is Mara`, `should read Kafka`.
STATED = (
    r"is|are|it's|they're|he's|she's|becomes?|became|remains?|should (?:read|be|have been)|"
    r"(?:has|have) been \w+ed (?:to|by|with)|(?:has|have) become|changed to|makes? it",
    r"ist|sind|heißt|lautet|wird|wurde|est|sont|devient|c'est|es|son|está|están|será|passa a|é|são|è|sono|diventa|"
    r"zijn|wordt|heet|это|теперь|стал[аои]?",
)
STATED_BARE = r"是|为|為|です|になりました|に変更"


def whole_word_pattern(parts: tuple[str, ...], bare: str) -> re.Pattern[str]:
    """Return a pattern of any of the parts as whole words, or of `bare`, for languages without spaces between words.

    Each part begins with a letter, a space or a comma. The pattern checks this first, which skips most positions.
    """
    return re.compile(rf"(?<!\w)(?=[\w ,])(?:{'|'.join(parts)})(?!\w)|{bare}", re.IGNORECASE)


# Questions and conditions, which do not state anything.
CONDITIONAL = re.compile(
    r"[?？؟][\"'”’)]*\s*$|(?<!\w)(?:if|whether|unless|wenn|falls|si|caso|indien|если)(?!\w)", re.IGNORECASE
)
TAKES_BACK = whole_word_pattern(ANNOUNCED, ANNOUNCED_BARE)
SAYS_CHANGE = whole_word_pattern(CHANGED_WORDS, CHANGED_BARE)
HOLDS_NOW = whole_word_pattern(STATED, STATED_BARE)


# The phrases between the former name of a thing and its present name.
RENAMED = (
    " is now called ", " is now named ", " is now known as ", " was renamed to ", " was renamed ",
    " has been renamed to ", " has been renamed ", " changed its name to ", " changed her name to ",
    " changed his name to ", " heißt jetzt ", " heißt nun ", " wurde umbenannt in ", " s'appelle maintenant ",
    " s'appelle désormais ", " a été renommé ", " a été renommée ", " ahora se llama ", " pasó a llamarse ",
    " agora se chama ", " passou a chamar-se ", " passou a se chamar ", " ora si chiama ", " adesso si chiama ",
    " è stato rinominato ", " heet nu ", " werd hernoemd naar ", " теперь называется ", " переименован в ",
    " переименована в ", "改名为", "改名為", "更名为", "更名為",
)  # fmt: skip


def compile_patterns(forms: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


FROM_TO_FORMS, ENDED_FORMS, BECAME_FORMS = map(compile_patterns, (FROM_TO, ENDED, BECAME))
