"""Sentences that state decisions: the phrases of eleven languages, and their position in the sentence.

Reported speech, questions, conditions, habits and opinions state no decision.
"""

import re

from content.search.words import SPACELESS

from . import spaceless
from .lists import any_of
from .motions import FORMAL
from .stated import Stated

SENTENCE_MAX = 400  # characters

BEGINS = r"(?:^|(?<=[:→] )|(?<=-> ))"  # the beginning of a sentence or of an item of minutes
# Participles with which minutes begin an item: `Decided the ramp goes to the back`. The title leaves them out.
TAKEN_ITEM = any_of(
    """
    décidé, convenu, acté, beschlossen, entschieden, vereinbart, festgelegt, abgemacht, ausgemacht, deciso, stabilito,
    concordato, decidido, acordado, combinado
    """
)
# Participles of choosing with which minutes begin an item: `Scelta la cascina Bellaria`. The title includes them.
CHOSEN_ITEM = any_of("choisie?s?, scelt[oaie], elegid[oa]s?, escolhid[oa]s?")
NO_OBJECT = any_of("with, by, it, he, she, they, in, yet, at, was, is, so, and, upon, already")
TAKEN = re.compile(
    r"\b(?:we|i)(?:['’]ve| have)? (?:(?:now |finally |all |both |then |also |just |jointly |mutually ){0,2})"
    r"(?:decided|chose|chosen|opted|agreed|resolved|settled) "
    r"(?:(?:earlier|late|early|back) (?:this|last|in) \w+ |(?:this|last) \w+ |yesterday |today |tonight "
    r"|on \w+day (?=that|to) )?(?:(?:to|on"
    r"|for|that|against|not)\b|in favou?r)?"
    r"|\b(?:and i|and me|[A-Z]\w+ and i) (?:decided|chose|agreed)\b(?: to| on| that)?"
    r"|\b(?:we|i) (?:chose|picked)\b(?=.{3,60}\b(?:over|instead|rather|because|since)\b)|\bwe chose\b"
    r"|^(?:decided|agreed|chose|opted|resolved|settled) (?:(?:to|on|for|that|against|not)\b|in favou?r)"
    r"|\bdecision:|\bdecided:|\bentscheidung:|\bbeschluss:|\bdécision ?:|\bdecisão:|\bdecisión:"
    r"|\b(?:agreed|decided|outcome|entschieden|beschlossen|vereinbart|einigung|décidé|convenu|decidido|decido|acordado"
    r"|se votó|deciso|voted?|vote|abstimmung|adoptée?s?|approuvée?s?|house rule)\b"
    r"[^.:;]{0,40}:(?= )"
    rf"|{BEGINS}(?:decided|agreed)\b(?= (?!{NO_OBJECT}\b)\w)"
    r"|(?:^|(?<=[:.→–—-] ))(?-i:RESOLVED|AGREED|DECIDED)\b(?= \w)"
    rf"|{BEGINS}{TAKEN_ITEM}\b(?: que| che| dass| de| di| d['’]| pour| per| por|)(?= \w|(?<=['’]))"
    rf"|{BEGINS}(?={CHOSEN_ITEM} \w)"
    r"|\ball agreed(?: in the end)? (?:that|to)\b|\baccord pour\b|\bconvenu [^.:;]{0,40}\bque\b"
    r"|\bantrag [^.:;]{0,30}\bangenommen\b,?"
    r"|\bwe(?:'ll| will) (?:not use|go with|never use|no longer)\b|\bwe(?:['’]re| are)? (?:go|going) with\b"
    r"|\b(?:decidimos|resolvemos|optámos|optamos|escolhemos|combinámos|hemos decidido|elegimos|"
    r"acordamos)\b(?: que| por| não)?"
    r"|\b(?:nous avons|on a|j['’]ai|nous) (?:finalement |enfin |donc |tous )?(?:décidé|choisi|opté|"
    r"convenu|décidons)\b(?: de| pour| que|)"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?:beschlossen|entschieden|geeinigt|vereinbart)\b"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?=.{0,120}\b(?:entschieden|beschlossen|geeinigt|vereinbart))"
    r"|\b(?:wir|ich) (?:entscheiden|entschieden|beschlossen|einigten|beschließen|vereinbarten)\b(?: uns| mich)?"
    r"|\b(?:abbiamo|ho|si è) (?:deciso|scelto|optato|stabilito|concordato)\b(?: di| che| per|)"
    r"|\b(?:il a été|il est|c['’]est) (?:décidé|convenu|acté)\b(?: de| que| pour|)|\bse (?:decidió|acordó"
    r"|aprobó)\b(?: que|)"
    r"|\b(?:decidiu-se|ficou (?:decidido|combinado|acordado))\b(?: que|)|\b(?:he|hemos) (?:elegido|acordado"
    r"|quedado en)\b"
    r"|\bit (?:was|has been) (?:decided|agreed|resolved) (?:that|to)\b|\b(?:мы|я) (?:решили?|выбрали?)\b",
    re.IGNORECASE,
)
# Committees and meetings that decide, in their minutes.
BODY = re.compile(
    r"\b(?:(?:the )?(?:committee|board|council|members|meeting|trustees|team|group|panel|directors|assembly|attendees"
    r"|all present|everyone|everybody) (?:have |has |then |all |both |unanimously )?(?:(?:agreed|decided|resolved"
    r"|approved"
    r"|elected)\b(?: unanimously)?(?: to| that| on|)|voted (?:unanimously )?(?:to|that|for|against))(?= (?!with\b|by\b"
    r"|and\b|as\b|in\b)[\w£$€])"
    r"|(?:der (?:vorstand|ausschuss|verein|beirat)|die (?:versammlung|mitglieder(?:versammlung)?|gruppe|anwesenden"
    r"|runde)"
    r"|das (?:plenum|team|gremium)|man|es) (?:wird |wurde |hat |haben )?(?:daher |sich |dann ){0,2}(?:einstimmig "
    r"|mehrheitlich )?"
    r"(?:beschließt|beschließen|beschlossen|entscheidet|entschieden|vereinbart|einigt|einigte|einigten|verständigt)\b"
    r"(?: sich)?(?: einstimmig| mehrheitlich)?(?:,? dass| auf|,|)(?= \w)"
    r"|(?:le (?:bureau|conseil|comité|ca)|l['’](?:assemblée|équipe|association)|on|tout le monde|les membres) "
    r"(?:a |ont )?(?:décide(?:nt)?|décidé|vote(?:nt)?|voté|adopte(?:nt)?|approuve(?:nt)?"
    r"|valide(?:nt)?)\b(?: à l['’]unanimité)?"
    r"(?: de| que| pour|)(?= (?!pas\b|toujours|trop|si\b|quand|dans\b|en\b|ensemble)\w| d['’])"
    r"|se (?:acuerda|decide|aprueba|resuelve)\b(?: que|)(?= (?!en\b|por\b|si\b|cuando\b|hoy\b|mañana\b)\w)"
    r"|(?:la (?:junta|asamblea|comisión|directiva)|el (?:comité|consejo"
    r"|equipo)|los (?:socios|vecinos|miembros)) (?:acuerdan?|deciden?|aprueban?|acordó|decidió|aprobó|votan?)\b(?: que"
    r"|)(?= \w)"
    r"|(?:fica|foi) (?:decidido|aprovado|acordado)\b(?: que|)(?= \w)|decide-se\b(?: que|)"
    r"|(?:a (?:direção|assembleia|diretoria)|o (?:conselho|comité)) (?:decide|decidiu|aprova|aprovou)\b(?: que|)(?= \w)"
    r"|si (?:decide|delibera|stabilisce|approva)\b(?: di| che|)(?= \w)|(?:l['’]assemblea|il (?:consiglio|direttivo"
    r"|comitato)) "
    r"(?:decide|delibera|approva|ha (?:deciso|deliberato|approvato))\b(?: di| che|)(?= \w))"
    r"|(?:^|(?<=[:→.–—-] ))(?:решили|решено|договорились|постановили)\b(?=,? \w)",
    re.IGNORECASE,
)
# Words before a colon that announce a decision.
ANNOUNCED = re.compile(
    r"(?:^|(?<=[.!,;–—(] ))(?:(?:so |ok |okay |right |well |alors |also |gut |vale ){0,2},?"
    r"(?:it['’]s (?:settled|decided|official)|that['’]s (?:settled|decided)|change of plans?|new (?:plan|rule)"
    r"|final (?:call|choice)"
    r"|neue regel|planänderung|es steht fest|nouvelle règle|changement de (?:plan|programme)|c['’]est décidé"
    r"|cambio de planes?"
    r"|nueva regla|decidido|está decidido|mudança de planos?|nova regra|cambio di programma|nuova regola|è deciso"
    r"|решено|новое правило)) ?[:,–—-] (?=\w)"
    r"|(?:^|(?<=[。！，]))(?:新规矩|新规定|计划有变|計劃有變|改计划了?|新ルール|予定変更|方針変更|새 규칙)[:：]",
    re.IGNORECASE,
)
INSTEAD = r"\b(?:instead of|rather than|(?:an)?statt\b|anstelle\b|au lieu d|plutôt qu|en vez de|em vez de|invece d)"
# Verbs of such decisions after `wir`, after `on` and `nous`, and in languages that leave the pronoun out.
WIR = any_of(
    """
    beauftragen, verwenden, nutzen, wechseln, ersetzen, kündigen, behalten, stellen, führen, nehmen, werden, bestellen,
    kaufen, verkaufen, bauen, streichen, mieten, wählen, verzichten, setzen, verschieben, bleiben, gehen auf, vergeben,
    lassen, legen, erhöhen, senken, schließen, sperren, tauschen, pachten, trennen uns, verlegen, übernehmen
    """
)
NOUS = any_of(
    """
    prend, prenons, achète, achetons, garde, gardons, quitte, quittons, passe, passons, arrête, arrêtons, change,
    changeons, remplace, remplaçons, choisit, choisissons, commande, commandons, vend, vendons, loue, louons, reporte,
    reportons, bloque, bloquons, ferme, fermons, limite, limitons, supprime, supprimons, interdit, interdisons, fera,
    ferons, prendra, prendrons, gardera, garderons, passera, passerons, renouvelle, renouvelons, maintient, maintenons
    """
)
WITHOUT_PRONOUN = any_of(
    """
    [Tt]eniamo, [Cc]ompriamo, [Cc]ambiamo, [Uu]siamo, [Aa]nnulliamo, [Pp]assiamo a, [Rr]inviamo, [Ss]ostituiamo,
    [Ss]i fa, [Ss]i passa, [Ss]i usa, [Ss]i compra, [Ss]i tiene, [Ss]i cambia, [Cc]ambiamos, [Uu]saremos, [Cc]ompramos,
    [Mm]antenemos, [Ss]eguimos con, [Dd]ejamos de, [Pp]asamos a, [Aa]plazamos, [Cc]ancelamos, [Pp]assamos a,
    [Mm]antemos, [Tt]rocamos, [Mm]udamos, [Aa]diamos, [Aa]lugamos
    """
)
# Things that a team did or does from now on. These are decisions only with a reason and a name or a contrast.
DONE = re.compile(
    r"\b[Ww]e(?: have|['’]ve| then| finally| therefore| now)? (?=(?:adopt|dropp|mov|migrat|switch|replac|retir|remov"
    r"|deprecat|standardi[sz]|order|cancell?|postpon|rais|lower|limit)ed\b"
    r"|(?:rewrote|keep|cut|buy|sell|order|stay with)\b)"
    r"|\b[Ww]e(?: will|['’]ll) (?!(?:see|be|have|know|miss|need|ask|try|check|look|talk|discuss|decide|think|wait|find"
    r"|meet|visit|go|come|call|get|probably|never)\b)"
    # `I'm moving the queue to Postgres`, `5 June: rewriting the admin`
    r"|(?:(?:\b[Ww]e(?:['’]re| are)|\bI(?:['’]m| am))(?: now)? |^|: )(?=(?:[Uu]s|[Ss]witch|[Mm]ov|[Mm]igrat|[Rr]eplac"
    r"|[Dd]ropp|[Kk]eep|[Cc]utt|[Bb]uy|[Ss]ell|[Oo]rder|[Rr]ais|[Ll]ower|[Pp]ostpon|[Rr]ewrit|[Cc]los|do|rent"
    r"|build)ing\b)"
    rf"|\b[Ww]ir (?={WIR}\b)|\b(?:[Oo]n|[Nn]ous) (?={NOUS}\b)|\b(?={WITHOUT_PRONOUN}\b)"
    rf"|\b(?:[Ww]e|I|[Ww]ir|[Ii]ch|[Oo]n|[Nn]ous) (?=[^.;]{{3,80}}{INSTEAD})"
)
# Verbs of the passive voice, and words after them that make the sentence no decision.
BEING = any_of(
    """
    is, are, has been, have been, wird, werden, wurde, wurden, est, sont, a été, ont été, sera, seront, è, sono, viene,
    vengono, es, son, fue, ha sido, foi, é, são
    """
)
NOT = any_of("not, nicht, pas, never, nie, to, zu, often, usually, always, oft, immer, non, no, não")
CANCELLED = any_of("called off, cancelled, abgesagt, annulée?s?, annullat[oaie], cancelad[oa]s?")
GIVEN_UP = any_of(
    """
    replaced, retired, dropped, ersetzt, abgeschafft, verschrottet, remplacée?s?, sostituit[oaie], abolit[oaie],
    sustituid[oa]s?, substituíd[oa]s?, suprimid[oa]s?
    """
)
# Verbs of a clause, without which `June supper club called off` says the same as with `is`.
VERBS = any_of(
    "be, been, is, are, was, were, will, has, had, wird, wurde, hat, est, sont, a, sera, è, viene, es, fue, foi"
)
# Things that are replaced or given up.
CHANGED = re.compile(
    rf"\b{BEING} (?:(?!{NOT}\b)\w+ ){{0,2}}?(?:{CANCELLED}|{GIVEN_UP})\b"
    r"|(?:^|: )(?!(?:wenn|when|if|si|se)\b)"
    rf"(?:(?!{VERBS}\b)[^\W\d_][\w'’-]* ){{1,6}}{CANCELLED}\b(?=[.!]*$|,| \()",
    re.IGNORECASE,
)
ALTERED = any_of(
    """
    moved, renewed, sold, closed, postponed, raised, lowered, gestrichen, verlegt, verschoben, geschlossen, verkauft,
    gekündigt, eingestellt, erhöht, gesenkt, umgestellt, verlängert, gekürzt, supprimée?s?, reportée?s?, déplacée?s?,
    vendue?s?, prolongée?s?, rinviat[oaie], spostat[oaie], vendut[oaie], chius[oaie], aplazad[oa]s?, trasladad[oa]s?,
    vendid[oa]s?, cerrad[oa]s?, adiad[oa]s?, mudad[oa]s?, fechad[oa]s?
    """
)
# Other changes. These are decisions only with a reason and a name or a contrast.
ARRANGED = re.compile(
    rf"\b(?:{BEING}|gets?|se) (?:(?!{NOT}\b)[\w.]+ ){{0,4}}?{ALTERED}\b"
    r"|\b(?:künftig|going forward|désormais|dorénavant)\b",
    re.IGNORECASE,
)
# New rules of the writer or a team, unlike those of a manual for its reader.
READER = any_of("you, your, vous, votre, du, dir, Ihnen, tu, você")
FUTURE = any_of(
    """
    ab sofort, ab jetzt, von jetzt an, from now on, à partir de maintenant, d['’]ora in poi, da oggi,
    de ahora en adelante, a partir de ahora, a partir de hoy, a partir de agora, a partir de hoje, daqui em diante
    """
)
FROM_NOW = re.compile(rf"^(?!.*\b{READER}\b).*?\b{FUTURE}\b", re.IGNORECASE)
# Alternatives that were not chosen, which count like a name.
CONTRAST = re.compile(rf"{INSTEAD}|, not \w|\bfrom .{{2,40}} to\b|\bvon .{{2,40}} (?:auf|zu)\b|{spaceless.CONTRAST}")
# Under such a heading, every sentence in which the team does something is a decision.
STATED = re.compile(
    r"\b(?:we|wir|nous|on|nós|nosotros)\b|我们|我們|мы\b|^(?:use|adopt|keep|move|switch|replace|drop)\b",
    re.IGNORECASE,
)
# What TAKEN, ANNOUNCED, BODY, DONE, CHANGED, ARRANGED or FROM_NOW find has a word that begins with one of these stems.
# They are searched first, to save time. `_` stands for a space.
STEMS = any_of(
    """
    acuerda, adopt, approv, aprov, aprueba, beschließ, cambio_d, change_of, changement_d, delibera, elected,
    es_steht_fest, final_call, final_choice, новое_правило, реш,
    it['’]s_o, mudança_d, neue_regel, new_plan, new_rule, nouvelle_r, nova_r, nueva_r,
    nuova_r, planänderung, resuelve, stabilisce, valide, verständigt, votan, voté, договорились, постановили,
    a_partir_de, ab_heute, ab_jetzt, ab_sofort, abgemacht, abgesagt, abgeschafft, abolit, abstimmung, accord_pour,
    acord, acté, adiad, adiamos, adopté, agreed, all_agreed, alugamos, angenommen, annullat, annulliamo, annulé,
    anstatt, anstelle, aplazad, aplazamos, approuvé, aprob, au_lieu_d, ausgemacht, beschl, building, buying, called_off,
    cambiamo, cancelad, cancelamos, cancell, cerrad, chius, choisi, chose, clos, combin, compramos, compriamo,
    concordat, convenu, cutting, d['’]ora_in_poi, da_oggi, daqui_em_diante, de_ahora_en_adelante, decid, decis,
    dejamos_de, doing, dorénavant, dropp, décid, décis, déplacé, désormais, eingestellt, einigt, einigung, elegid,
    elegim, em_vez_de, en_vez_de, entsch, erhöht, ersetzt, escolh, fechad, festgelegt, from_now_on, geeinigt,
    gekündigt, gekürzt, geschlossen, gesenkt, gestrichen, go_with, going_forward, going_with, house_rule, i['’]m,
    i_am, instead_of, invece_d, keeping, künftig, lower, mantemos, mantenemos, migrating, mov, mudad, mudamos,
    never_use, no_longer, not_use, nous_, on_ach, on_arr, on_blo, on_chang, on_comm, on_fer, on_gard,
    on_interdi, on_limit, on_lou, on_maint, on_pass, on_pr, on_quitt, on_rempl, on_renouv, on_report, on_suppr,
    on_vend, optam, optat, opted, optá, opté, ordering, outcome, pasamos_a, passamos_a, passiamo_a, picked,
    plutôt_qu, postpon, prolongé, quedado_en, rais, rather_than, remplacé, renewed, renting, replac, reporté,
    resolv, retired, rewriting, rinviamo, rinviat, scelt, se_votó, seguimos_con, selling, settled, si_cambia,
    si_compra, si_fa, si_passa, si_tiene, si_usa, sold, sostituiamo, sostituit, spostat, stabilit, statt,
    substituíd, supprimé, suprimid, sustituid, switching, teniamo, trasladad, trocamos, umgestellt, usaremos,
    usiamo, using, vendid, vendu, vereinbar, verkauft, verlegt, verlängert, verschoben, verschrottet, von_jetzt_an,
    vote, we['’]ll_, we['’]re, we['’]ve_, we_, wir_, à_partir_de_maintenant, выбрал, решил
    """
).replace("_", " ")
STEM = re.compile(rf"\b{STEMS}")
SPACELESS_STEM = re.compile(rf"{spaceless.STEM}|新规|计划有变|計劃有變|改计划|新ルール|予定変更|方針変更|새 규칙")
OPEN = re.compile(
    r"[?？][\"”’»」』]?\s*$|\b(?:not|never|n't|haven't|yet to|if|should|whether|until|before|jamais|pas encore|nicht|"
    r"noch nicht|não|no|ainda não|still) (?:\w+ ){0,2}"
    r"(?:decided|chose|décidé|entschieden|decidimos|decidido|resolvemos)|\b(?:noch|ainda|"
    r"encore)\b.{0,30}(?:nicht|não|pas).{0,60}(?:entschieden|decidi|décidé)"
    r"|\bnicht (?:\w+ )?(?:entschieden|beschlossen),? (?:ob|wer|wann|wie|was|wo)\b"
    r"|(?:还没|還沒|没有|沒有|尚未|如果|要不要).{0,8}(?:决定|決定)|(?:かどうか|まだ).{0,20}決め"
    r"|결정(?:했|한)다면|하기로 했다면|\b(?:to be decided|tbd|not accepted|postponed|undecided)\b",
    re.IGNORECASE,
)
# Before a decision: reported speech (SAID), conditions and habits (SUPPOSED).
SAID = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\band i )\b(?:says?|said|saying|tells?|told|asks?|asked|writes?|wrote|claims?|claimed|"
    r"thinks?|thought|believes?|announced|explained|replied|quotes?|sagt|sagte|meint|meinte|erzählt|erzählte|schrieb"
    r"|fragt|"
    r"fragte|dit|disait|raconte|écrit|diz|disse|contou|dice|dijo|cuenta|ha detto|сказал[аи]?)\b[^.!?]{0,60}$"
    r"|(?:说|說|表示|宣布|告诉我们|告訴我們|认为|言った|言って)[^。]{0,10}$",
    re.IGNORECASE,
)
SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|suppose|imagine|wish|wenn|falls|ob|si|se|caso|every time|each time|whenever|usually|"
    r"always|often|sometimes|immer wenn|jedes mal|manchmal|meistens|chaque fois|toujours|sempre|às vezes|siempre)\b"
    r"[^,;]{0,50}$"
    r"|(?:如果|假如|要是|每次|いつも|もし)[^，,。]{0,12}$",
    re.IGNORECASE,
)
# `Agreed that it was` is an opinion, `agreed that it should be` a decision.
AGREED = re.compile(r"(?:agreed|settled|resolved|convenu|einig|geeinigt|combinámos)(?: that| que)?$", re.IGNORECASE)
IS_SO = re.compile(
    r"^(?:[^,;]{0,60}?)\b(?:was|were|is|are|had|has|felt|seems?|looks?|sounds?|makes?|took|war|ist|era|est|était|é)\b",
    re.IGNORECASE,
)
TO_BE = re.compile(r"\b(?:should|must|will|would|shall|to|need|soll|sollen|muss|devra|deve|debe)\b", re.IGNORECASE)
# Pronouns as the object of a decision, which nobody could look up.
POINTED = re.compile(r"\b(?:chose|picked) (?:that|this|those|these|it|them|him|her)\b", re.IGNORECASE)
OPENS, CLOSES = "„“«「『", "”»」』"


def may_decide(text: str) -> bool:
    """Return whether a text may contain a decision. This is a fast check without false negatives."""
    if STEM.search(text.casefold()) is not None:
        return True
    return not text.isascii() and SPACELESS_STEM.search(text) is not None


def find_statement(text: str, *, is_headed: bool) -> Stated | None:
    """Return the position of the decision that the sentence states, or None if it states none."""
    if len(text) > SENTENCE_MAX or not (is_headed or may_decide(text)) or is_undecided(text) or POINTED.search(text):
        return None
    stated = (spaceless.find_statement(text) if SPACELESS.search(text) else None) or _find(text, is_headed=is_headed)
    if stated is None or is_reported(text, stated.start):
        return None
    return stated._replace(is_sure=True, is_weak=False) if is_headed else stated


def _find(text: str, *, is_headed: bool) -> Stated | None:
    if taken := TAKEN.search(text):
        if AGREED.search(taken[0].rstrip()) and _is_opinion(text[taken.end() :]):
            return None
        return Stated(*taken.span(), is_sure=taken[0].endswith((":", "：")))
    if announced := ANNOUNCED.search(text):
        return Stated(*announced.span(), is_sure=True)
    if (body := BODY.search(text)) and not FORMAL.search(text):
        return Stated(*body.span())
    if done := DONE.search(text):
        return Stated(*done.span(), is_weak=True)
    if changed := CHANGED.search(text) or FROM_NOW.search(text):
        return Stated(changed.start(), changed.start(), is_whole=True)
    if arranged := ARRANGED.search(text):
        return Stated(arranged.start(), arranged.start(), is_weak=True, is_whole=True)
    return Stated(0, 0) if is_headed and STATED.search(text) else None


def is_undecided(text: str) -> bool:
    """Return whether a sentence says or asks what is not decided."""
    return OPEN.search(text) is not None


def is_reported(text: str, at: int) -> bool:
    """Return whether what a sentence states at this position is reported, supposed or quoted."""
    before = text[:at]
    return (SAID.search(before) or SUPPOSED.search(before)) is not None or _is_quoted(text, at)


def _is_opinion(what: str) -> bool:
    return IS_SO.match(what) is not None and not TO_BE.search(what)


def _is_quoted(text: str, at: int) -> bool:
    """Return whether this position is inside quotation marks, even if they open or close in another sentence."""
    before, after = text[:at], text[at:]
    if before.count('"') % 2 or text.count('"') % 2:
        return True
    opened = max(map(before.rfind, OPENS))
    if before.rfind("“") > before.rfind("„") >= 0:  # German marks end as English ones begin
        opened = -1
    first = next((mark for mark in after if mark in OPENS + CLOSES), "")
    return opened > max(map(before.rfind, CLOSES)) or first in tuple(CLOSES)
