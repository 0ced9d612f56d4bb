"""Phrases of decisions in Chinese, Japanese and Korean, whose sentences often leave out who decided."""

import re

from .stated import Stated

# The beginning of a clause, with adverbs before the verb.
CLAUSE = r"(?:^|(?<=[，,。；;：:、！!… ]))"
ADVERBS = (
    r"(?:最后|最後|最终|最終|终于|終於|于是|於是|所以|因此|结果|結果|还是|還是|干脆|乾脆|索性|今天|昨天|刚刚|已经|已經"
    r"|就|也|又|便|才"
    r"|我俩|我们|我們|咱们|大家|全家|我|一致|会议|會議|会上|经讨论|經討論|经过讨论|商量后|讨论后|当场|临时|(?:和|跟|与"
    r"|與)[^，,。]{1,6}?){0,4}"
)
# What was decided follows. The title leaves the verb out.
TAKEN = re.compile(
    rf"{CLAUSE}{ADVERBS}(?:决定|決定|同意)了?[:：，,]?(?!了?(?:性|权|權|因素|于|於|着|的|事項|事项|如下|是否|不了"
    rf"|下来))"
    rf"|{CLAUSE}{ADVERBS}(?:商量好|商量定|说好|說好|谈好|约好|定好|敲定|拍板)了?[:：，,]"
    rf"|{CLAUSE}{ADVERBS}(?:定下|敲定|定)了(?!了)(?=.{{2,40}}(?:计划|計劃|方案|日期|行程|安排))"
    r"|(?:我们|我們|大家|我)(?:最后|最後|终于|終於|今天|一起|已经|已經)?(?:决定|決定|选择了|選擇了|选择用|選擇用|改用"
    r"|选用|選用)"
    r"|(?:^决定|结论|結論|定了|^改进(?:措施)?|^改進(?:措施)?)[:：](?:[一1][、.．])?"
)
# The verb is at the end, or the whole sentence is the decision.
TAKEN_END = re.compile(
    r"ことに(?:した|しました|する|します|決めた|決めました|決定)(?!ら|場合|とき|際)|に決めた|に決めました|に決定"
    r"|に決まった|に決まりました"
    r"|で(?:合意|一致|決定|確定)(?:した|しました|する)?(?=[。）(（]|$)"
    r"|(?:案|方針|方向|プラン|路線|構成|体制) ?[A-ZＡ-Ｚ0-9]?で(?:行く|いく|行きます|進める|進めます|いきます)"
    r"|[가-힣]기로 (?:했|하였|결정|합의|정했|함)[가-힣]*|(?:เรา|ผม|ฉัน)(?:ได้)?ตัดสินใจ"
)
# What somebody does from now on or does no longer, which the title includes.
FROM_NOW = re.compile(
    rf"{CLAUSE}(?:这次|這次|以后|以後|今后|今後|今年|明年|从今天起|从今天开始|从现在起|从下周起|从下个月起|从此)"
    r"(?:[^，,。]{0,4}?)(?:不(?=[回去买養养订报办搬换续参][^，,。]{0,8}了)|不再(?!是|会|能|像|有)|改用|改成|改为|换成"
    r"|只用|只吃|只买|只写|一律|统一|常备|全换成)"
    rf"|{CLAUSE}(?:我)?(?:再也)?不再(?:用|看|买|喂|吃|去|做|写|订|续|养|接)"
)
# Choices and changes.
CHOSEN = re.compile(
    rf"{CLAUSE}(?:[^，,。；]{{0,8}}(?:调查|研究|比较|对比|考虑|纠结|讨论|权衡|折腾)(?:之)?后|最终|最終|最后|最後|终于"
    rf"|終於|所以|于是|还是|還是|干脆|索性|因此|结果)"
    r"(?:就|还是|還是|我|也|又)?(?=(?:选择|選擇|选定|選定|选|選|用|换|換|买|買|入手|订|訂|改)(?:了|的是|用|定了"
    r"|成).{2})"
    rf"|{CLAUSE}(?:最终|最終)(?:还是|就)?(?=(?:用|选|買|买).{{2}})"
    r"|(?<![可任备挑首被])(?=选[^，。；]{1,20}[，,]?(?:不选|没选|不用)(?!.{0,12}是因为))"
)
# What somebody gave up, moved or refused.
CHANGED = re.compile(
    rf"{CLAUSE}(?:还是|于是|所以|最后|最终|这次|現在|现在|干脆|我|我们|已经|全部|都|就){{0,2}}"
    r"(?:放弃了|弃用|换成了?|換成了?|换到了?|改成了?|改用了?|搬到了?|迁移到了?|转到了?|卖掉了?|退掉了?|取消了|辞掉了?"
    r"|拒绝了|婉拒了|推掉了)"
    r"|(?:に|へ)(?:移行|乗り換え|切り替え|変更|引っ越し|統一|一本化|委託)(?:する|した|します|しました|ました|た"
    r"|る)?(?=[。（(]|$)"
    r"|(?:は|を|をやめて).{1,25}(?<!こと)(?<!ように)に(?:した|しました)(?=[。（(]|$)"
    r"|を(?:採用|導入|廃止|中止|解約|退会|契約|購入)(?:する|した|します|しました)(?=[。（(]|$)"
    r"|(?:は|を)(?:当面|今回は|いったん|もう)?(?:作らない|やらない|使わない|採用しない|導入しない|買わない|見送る"
    r"|見送り|見送った"
    r"|見送ります|やめる|やめた|やめます|やめました)(?=[。（(]|$)"
)
# Alternatives that were not taken, which count like a name.
CONTRAST = (
    r"[，,]不[^，,。]{1,8}了|不[回去买养订报办搬换续参][^，,。]{0,8}了|而不是|不是.{1,16}而是|不买|不買|不选|不選|不去"
    r"|不用|不再|没选|代替|取代|放弃|弃用"
    r"|全?换成|改成|改用|一律|统一|常备|只用"
    r"|をやめて|の代わり|ではなく|じゃなくて|から.{1,24}(?:へ|に)(?:移行|乗り換え|切り替え|変更|引っ越)|(?:作|や|使"
    r"|買)らない|対신|대신|말고"
)
WHY = re.compile(
    r"[，,。、]?\s*(?:是?因为|是?因為|由于|由於|是?为了|是?為了|是怕|怕|担心|擔心|主要(?:是|因为|考虑|为了)|毕竟|畢竟"
    r"|不然|否则|否則|免得|省得|好让|以免|反正"
    r"|(?=[^，,。]{0,8}太(?!阳|太|平)[^，,。]{1,8}[。！]?$)|(?:[一二两三几]个|主要|最大的?)?(?:理由"
    r"|原因)(?:也)?(?:很简单|有|是|：|:)|なぜなら|というのも|왜냐하면)"
)
# A reason in brackets at the end: `（毎週話せるため）`.
WHY_IN_BRACKETS = re.compile(r"[（(](?P<why>[^（()）]{3,150}(?:ため|から|ので|為|因为[^（()）]{2,80}))[)）][。.]?$")
# A sentence after a decision that is its reason.
REASON = re.compile(r".{2,100}(?:ため|から|ので|からです|ためです|からだ|ためだ)[。]?$")
# Others who decide, before the verb, in a sentence that leaves out no subject.
OTHERS = re.compile(
    r"(?<![和跟与與同陪带帶给給帮幫])(?:他们?|她们?|它们?|人家|对方|對方|公司|政府|老板|老闆|经理|医生|醫生|老师|老師"
    r"|学校|學校|法院|校方"
    r"|官方|总统|總統|爸|妈|媽|爷爷|奶奶|老公|老婆|妻子|丈夫|儿子|女儿|朋友|同事|彼|彼女|政府|会社|社長|先生|父|母"
    r"|友人)(?!是否)"
)
STEM = (
    r"不[回去买養养订报办搬换续参]|决定|決定|同意|决议|決議|结论|結論|定了|定下|定好|敲定|拍板|商量|说好|說好|谈好"
    r"|约好|选|選|改|换|換|买|買|入手"
    r"|订了"
    r"|訂|不再|以后|以後|今后|从此"
    r"|一律|统一|常备|弃|搬到|迁移|转到|卖掉|退掉|取消了|辞掉|拒|推掉|用了|用的是|用用|用定了|用成|最终|最終|最后|最後"
    r"|只用|只吃|只写"
    r"|にした|にしました|ことに|に決|で合意|で一致|で確定|で行|でい|で進|移行|乗り換え|切り替え|変更|引っ越し|一本化"
    r"|委託|採用|導入|廃止"
    r"|中止|解約|退会|契約|購入"
    r"|らない|使わない|しない|わない|見送|やめ|統一|기로 |ตัดสินใจ"
)
SURE = re.compile(r"[:：]$|会议|會議|会上|讨论|討論|一致")
# Conditions before the verb, plans and advice in its clause, and questions.
CONDITION = re.compile(r"如果|假如|要是|除非|的话|只要|每次|比如|例如|もし|場合|たら|れば|例えば")
PLAN = re.compile(
    r"建议|建議|推荐|可以|应该|應該|能不能|要不要|是否|还没|還沒|没有|沒有|尚未|打算|考虑|考慮|犹豫|想|准备|つもり"
    r"|かも|べき|検討"
)
ASKED = re.compile(r"(?:吗|嗎|呢|么|か|かも|と思う|と思います|だろう|でしょう|つもり|べき|たい|予定)[。]?$")


def find_statement(text: str) -> Stated | None:
    """Return the position of the decision that a sentence states, or None if it states none."""
    if taken := TAKEN.search(text):
        stated = Stated(*taken.span(), is_sure=SURE.search(taken[0]) is not None)
    elif taken := TAKEN_END.search(text):
        stated = Stated(*taken.span())
    elif now := FROM_NOW.search(text):
        stated = Stated(now.start(), now.start())
    elif chosen := CHOSEN.search(text):
        stated = Stated(*chosen.span(), is_sure=text[chosen.end() : chosen.end() + 2] in ("选择", "選擇"))
    elif changed := CHANGED.search(text):
        stated = Stated(changed.start(), changed.start(), is_weak=True, is_whole=text[changed.start()] in "をにへは")
    else:
        return None
    before = text[: stated.start]
    clause = before[max(map(before.rfind, "，,。；;、 ")) + 1 :]
    if CONDITION.search(before) or PLAN.search(clause) or ASKED.search(text) or OTHERS.search(before):
        return None
    return stated
