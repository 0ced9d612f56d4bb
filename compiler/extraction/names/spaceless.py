"""Finding names in scripts without capitals, and mostly without spaces, by the words before and after them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from content.languages import is_unlisted

from ..texts.language import word_set
from . import chinese
from .chinese import HAN, TITLES

JA_ROLE = "先生|先輩|おばさん|おじさん|店長|部長|課長|教授|社長|監督|博士|師匠"
JA_TITLE = f"さん|くん|ちゃん|様|君|{JA_ROLE}"
JA_POLITE = frozenset({"さん", "くん", "ちゃん", "様", "君"})  # all other titles belong to the name
JA_POLITELY = re.compile("(?<=[\u3041-\u30ff\u4e00-\u9fff])(?:さん|くん|ちゃん|様|君)$")
# Relatives and pets, before their names: `兄の健一が`, `猫のモモは`.
JA_KIN = (
    "兄|姉|弟|妹|父|母|夫|妻|娘|息子|祖父|祖母|友人|友達|親友|同僚|上司|部下|先輩|後輩|隣人|いとこ|従兄|従妹|甥|姪|叔父|叔母|"
    "愛犬|愛猫|飼い猫|飼い犬|猫|犬|ねこ|いぬ|うさぎ|インコ|ハムスター"
)
# Verbs and adjectives of people and animals only.
JA_LIVING = "寝|眠|鳴|吠|食べ|起き|走|怖が|喜|甘え|元気|亡くな|帰っ|帰り|笑|泣|来た|来て|遊"
JA_SHORT = word_set(
    """
    パン バス ドア ペン メモ ゴミ ビル ネコ イヌ ハム ガム ミス キス ビン
    カゴ カン ママ パパ クマ サル ウシ ブタ トリ セミ アリ ハチ カメ ヘビ
    トラ シカ ガス クジ バラ ユリ プロ ヒト モノ コツ ワケ カギ ネタ ノリ
    ズレ ムラ ハト カニ タコ イカ エビ サケ アジ サバ ナス イモ マメ コメ
    カビ ダニ ノミ エサ フン トゲ
    """
)
JA_PLACE = (
    "温泉郷|八幡宮|天満宮|東照宮|教室|居酒屋|銭湯|工房|農園|牧場|植物園|体育館|美容院|酒場|横丁|渓谷|高原|海水浴場|庭園|神宮|大仏|タワー|パーク|ビーチ|"
    "ベーカリー|ガーデン|マーケット|スタジアム|滝|峠|岬|岳|坂|荘|駅|公園|寺|神社|市場|美術館|博物館|図書館|食堂|大学|病院|カフェ|商店街|温泉|城|空港|ホテル|書店|"
    "唱団|楽団|劇団|同好会|教会|保育園|幼稚園|小学校|中学校|高校|研究室|公民館|"
    "動物園|水族館|通り|海岸|広場|劇場|堂|軒|亭|屋|庵|珈琲|喫茶店|大社|大橋|橋|湖|山|川|島|市|区|町"
)
JA_COMMON = word_set(
    """
    コーヒー ケーキ ランチ レストラン ホテル カフェ メニュー デザート アイスクリーム バスケット パソコン スマホ
    コンビニ スーパー プレゼント ボランティア テレビ ラーメン カレー ハンバーグ サラダ ビール ワイン ジュース
    チーズ バター パスタ ピザ パン メール アプリ データ テスト サーバー コード レビュー ミーティング プロジェクト
    スケジュール チーム リリース バグ ファイル フォルダ ノート ページ タグ リンク プラグイン ブラウザ ニュース
    ゲーム スポーツ サッカー テニス ピアノ ギター コンサート チケット ライブ バンド アルバム クラス レッスン
    タクシー バス トイレ エレベーター ベンチ テーブル グラス カメラ シャツ ジャケット マフラー ストーブ クッキー
    チョコレート クリスマス パーティー ドレス アパート マンション キッチン ソファ サイズ セール ポスター イベント
    ツアー ガイド ルート コース スタッフ オーナー シェフ タルト スープ サンドイッチ クロワッサン トマト バナナ
    リンゴ オレンジ レモン マグロ イカ タコ エビ カニ トンネル ロープウェイ ボート ペンギン イルカ キリン ゾウ
    テント キャンプ ハイキング ランニング ヨガ プール シャワー タオル スタート ゴール エラー バックアップ
    リハーサル バージョン コメント メモ リスト ダウンロード アップデート インストール ユーザー デスクトップ
    モバイル オプション ツール ウィンドウ サイドバー コマンド キーボード ショートカット エディタ プレビュー
    デフォルト
    """
)
TH_HEAD = "ร้าน|วัด|ตลาด|ถนน|โรงแรม|สวน|เกาะ|หมอ|พี่|น้อง|ครู|อาจารย์|พิพิธภัณฑ์|มหาวิทยาลัย|โรงพยาบาล|สถานี|เชฟ|ป้า|ลุง"
TH_PERSON = frozenset({"หมอ", "พี่", "น้อง", "ครู", "อาจารย์", "เชฟ", "ป้า", "ลุง"})
TH_CUT = (
    "และ|กับ|ที่|ใน|ไป|มา|เป็น|ได้|แล้ว|ให้|จะ|ของ|บอก|ชอบ|ว่า|ก็|อยู่|คือ|มี|ทำ|กิน|เพื่อ|เพราะ|วันนี้|อีก|ตอน|เมื่อ|ไม่|เคย|"
    "ยัง|นี้|นั้น|กลับ|พา|เปิด|สวย|เงียบ|คน|อร่อย|ปิด"
)

JA_PERSON = re.compile(
    rf"((?:[{HAN}]{{1,4}}|[\u30a1-\u30fc]{{2,10}}|"
    rf"(?<![\u3041-\u3096])[\u3041-\u3096]{{2,4}}?))({JA_TITLE})(?!の?(?:家|店)?たち)"
)
JA_PLACES = re.compile(
    rf"(?<![{HAN}\u30a1-\u30fc])((?:[{HAN}][みりえきしぎれ](?=[{HAN}]{{2}}))?[{HAN}\u30a1-\u30fc]{{1,10}}?(?:{JA_PLACE}))"
    rf"(?![{HAN}\u30a1-\u30fc])"
)
JA_KATAKANA = re.compile(
    r"(?<![\u30a1-\u30fc])([\u30a1-\u30f4\u30fc]{3,16}(?:・[\u30a1-\u30f4\u30fc]{2,12}){0,3})(?![\u30a1-\u30fc])"
)
JA_FALSE = re.compile(
    "^(?:[今毎来先昨前全各同新]|大[き学会川]?$|小さ|店|公園$|神社$|駅$|花屋|部屋|本屋|パン屋|市場$|食堂$|"
    "図書館$|通り$|何|皆|一|二|三|近く)"
)
JA_AFTER_KIN = re.compile(
    rf"(?:{JA_KIN})の([{HAN}]{{1,2}}[子美郎太介輔奈香恵彦斗哉咲一樹也吾乃翔亮聡之紗莉沙希人男夫平雄菜葉花月音]|[\u30a1-\u30fc]{{2,8}})"
    r"(?=[がはをにともへ、。]|から|さん|くん|ちゃん)"
)
JA_PET = re.compile(r"(?<![\u30a1-\u30fc])([\u30a1-\u30fa]{2})(?=[がはをにともへの、])")
JA_HAN_BEFORE, JA_HAN_AFTER = re.compile(f"[{HAN}]{{1,6}}$"), re.compile(f"[{HAN}]{{1,4}}(?![{HAN}])")
JA_WHEN = re.compile("[今昨明毎先来][日朝晩夜年月週]|[午前後時分年月日]$")
JA_KINDRED = re.compile(rf"(?:{JA_KIN})の([{HAN}]{{2}})(?=[がはもとを、。]|に会|さん|くん|ちゃん)")
JA_ACTING = re.compile(rf"(?<![{HAN}の])([{HAN}]{{2}})(?=[がはもと][^。、]{{0,12}}?(?:{JA_LIVING}|引っ越|手伝))")
# Nouns after a relative or a pet that are no names: `犬の散歩`.
JA_HAD = word_set(
    """
    部屋 料理 散歩 写真 仕事 病気 名前 世話 実家 荷物 服装 影響 友達 友人 作品 命日 墓参 法事 子供 結婚
    誕生 学校 会社 手紙 電話 言葉 笑顔 様子 体調 具合 足音 首輪 寝顔 機嫌 昼寝 家族 故郷 田舎 旅行 試合
    宿題 受験 入院 退院 手術 葬式 出産 遺影 買物 食事 弁当 車庫 自慢 趣味 将来 昔話 意見 希望 提案 紹介
    隣家 同級 携帯 時計 眼鏡 帽子 椅子 元気 健康 大学 就職
    """
)
JA_LIVES = re.compile(rf"[がはも][^。、]{{0,12}}?(?:{JA_LIVING})")
# Given names by their last character, before a particle. JA_NO_NAME has words that end like them.
JA_GIVEN = re.compile(
    rf"(?<![{HAN}\u30a1-\u30fc])([{HAN}]{{1,2}}[子美郎太介輔奈香恵彦斗哉咲一樹也吾乃翔亮聡之紗莉沙希])(?=(?:と|が|は|に|も|から|の(?:家|部屋|店|誕生日))(?!なる))"
)
# The most common family names, before a particle.
JA_FAMILY = re.compile(
    rf"(?<![{HAN}])(佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|斎藤|斉藤|清水|"
    r"山崎|池田|橋本|阿部|石川|山下|中島|前田|藤田|小川|後藤|岡田|長谷川|村上|近藤|石井|遠藤|坂本|青木|藤井|西村|福田|太田|三浦|"
    r"藤原|岡本|松田|中川|中野|原田|小野|田村|竹内|和田|中山|石田|上田|森田|柴田|酒井|宮崎|工藤|横山|内田|高木|安藤|谷口|大野)"
    r"(?=(?:と|が|は|に|も|から|の(?:家|部屋|店|誕生日)))"
)
JA_KANA_PLACES = re.compile(
    r"((?:喫茶|食堂|居酒屋|民宿|旅館|パン工房|和菓子)[\u3041-\u3096]{2,8}?)(?=[でにへのはがを、。])"
)
# A name in hiragana before a kind of place or group: `ひばり保育園`, `つくし会`.
JA_KANA_NAMED = re.compile(
    r"(?<![\u3041-\u3096])([\u3041-\u3096]{2,8}(?<![のないるただうてでをがはもにへ])"
    r"(?:保育園|幼稚園|こども園|学園|小学校|中学校|高校|病院|医院|薬局|公園|食堂|銀行|信用金庫|美術館|図書館|商店街"
    rf"|(?:[会荘堂屋亭庵館社組園町村市駅]|サロン|クリニック|ホール)(?![{HAN}\u30a1-\u30fc])))"
)
JA_WRITTEN = re.compile(f"[{HAN}\u30a1-\u30fc々」』）)A-Za-z0-9] ?$")  # what a particle stands after
JA_PARTICLE = re.compile(r"^(?:から|まで|より|[はがをにでともへやの])(?=[\u3041-\u3096]{2})")
JA_NO_NAME = word_set(
    """
    帽子 菓子 椅子 様子 調子 親子 電子 女子 男子 餃子 息子 双子 原子 粒子 分子 種子 王子 団子 獅子 障子 和菓子 唐辛子
    女の子 お菓子 迷子 養子 梯子 扇子 格子 胞子 冊子 金子 弟子 利子 賛美 優美 紹介 厄介 媒介 仲介 新郎 野郎 丸太
    統一 唯一 第一 均一 同一 単一 万一 随一 逐一 果樹 大樹 植樹 街路樹 古希 飛翔 明亮 友希
    骨太 線香 知恵 恩恵 北斗 善哉 神奈 奈 若太 褒美 甘美 玉子 茄子 柚子 杏子 硝子 拍子 面子 様太 骨子 因子 量子
    """
)
JA_NOBODY = word_set(
    """
    皆 お客 客 お母 お父 母 父 兄 姉 弟 妹 奥 娘 息子 赤 運転手 店員 医者
    お医者 看護師 みな おか おと おじ おば たく 隣
    """
)
# `iPad`, `eBay`, `macOS`, `阿May`, `Pマーク`, and words in small letters.
MIXED = re.compile(
    r"(?<![A-Za-z0-9_.@/#:=-])([a-z]{1,5}[A-Z][A-Za-z]{1,15}|阿[A-Z][a-z]{1,15}|[A-Z][\u30a1-\u30fc]{2,12})"
    r"(?![A-Za-z0-9_@/:=(\u30a1-\u30fc-]|\.[A-Za-z])"
)
SMALL = re.compile(r"(?<![A-Za-z0-9_.@/#:=-])([a-z]{5,20})(?![A-Za-z0-9_@/:=(-]|\.[A-Za-z])")
LATIN_INSIDE = re.compile("[A-Za-z]{2}|[A-Z][\u30a1-\u30fc]")
ROLE = re.compile(f"(?:{JA_ROLE}|{'|'.join(sorted(TITLES))})$")
KO_PERSON = re.compile(r"([\uac00-\ud7af]{2,4}) ?(?:씨|님|선생님|언니|오빠|누나|이모|삼촌|셰프)")
KO_PLACES = re.compile(
    r"([\uac00-\ud7af]{1,8} ?(?:공원|시장|대학교|병원|카페|식당|박물관|미술관|도서관|서점|역|호텔|"
    r"해변))(?=에서|에|은|는|이|가|을|를|의|로|과|와|도|까지|부터|[\s.,]|$)"
)
TH_NAMES = re.compile(rf"({TH_HEAD})([\u0e01-\u0e4e]{{2,24}}?)(?={TH_CUT}|[^\u0e01-\u0e4e]|$)")


class SpacelessName(NamedTuple):
    """A name, and whether it is a person's. If it is not sure, it is a name only with other evidence."""

    name: str
    is_person: bool
    is_sure: bool = True


def extract_names(sentence: str, language: str) -> Iterator[SpacelessName]:
    """Return the names in a sentence of one of these languages, none for other languages."""
    finder = FINDERS.get(language)
    if finder is None:
        return
    yield from finder(sentence)
    if LATIN_INSIDE.search(sentence):
        yield from _latin(sentence)


def _latin(sentence: str) -> Iterator[SpacelessName]:
    """Yield the names in Latin letters that do not begin with a capital, or not with a Latin letter."""
    for word in MIXED.findall(sentence):
        yield SpacelessName(word, is_person=word[0] == "阿")
    for word in SMALL.findall(sentence):
        if is_unlisted(word, "en"):
            yield SpacelessName(word, is_person=False)


def without_role(name: str) -> str | None:
    """Return the name without the role at its end, `堀口` of `堀口先生`, or None if it has no role."""
    bare = ROLE.sub("", name)
    return bare if bare != name and len(bare) > 1 else None


def without_politeness(name: str) -> str:
    """Return the name without a polite suffix: `田中さん` → `田中`. A role such as `店長` stays."""
    bare = JA_POLITELY.sub("", name)
    return bare if len(bare) > 1 else name


def _chinese(sentence: str) -> Iterator[SpacelessName]:
    yield from (SpacelessName(name, is_person) for name, is_person in chinese.names(sentence))


def _japanese(sentence: str) -> Iterator[SpacelessName]:
    people = set()
    for match in JA_PERSON.finditer(sentence):
        if match[1] not in JA_NOBODY:
            people.add(match[1])
            yield SpacelessName(match[1] if match[2] in JA_POLITE else match[0], is_person=True)
    for match in JA_AFTER_KIN.finditer(sentence):
        if match[1] not in JA_NO_NAME | JA_COMMON | JA_SHORT:
            people.add(match[1])
            yield SpacelessName(match[1], is_person=True)
    for match in JA_KINDRED.finditer(sentence):
        if match[1] not in people | JA_HAD and not JA_FALSE.match(match[1]):
            people.add(match[1])
            yield SpacelessName(match[1], is_person=True)
    for match in JA_ACTING.finditer(sentence):
        if match[1] not in people | JA_HAD | JA_NOBODY and not JA_FALSE.match(match[1]):
            yield SpacelessName(match[1], is_person=True, is_sure=False)
    for match in JA_PET.finditer(sentence):
        if match[1] not in JA_SHORT and match[1] not in people:
            lives = JA_LIVES.match(sentence, match.end()) is not None
            yield SpacelessName(match[1], is_person=True, is_sure=lives)
    for match in JA_GIVEN.finditer(sentence):
        if match[1] not in JA_NO_NAME and not JA_FALSE.match(match[1]):
            yield SpacelessName(match[1], is_person=True)
    yield from (SpacelessName(match[1], is_person=True) for match in JA_FAMILY.finditer(sentence))
    yield from (SpacelessName(match[1], is_person=False) for match in JA_KANA_PLACES.finditer(sentence))
    for match in JA_KANA_NAMED.finditer(sentence):
        is_after = JA_WRITTEN.search(sentence, max(0, match.start() - 2), match.start())
        yield SpacelessName(JA_PARTICLE.sub("", match[1]) if is_after else match[1], is_person=False)
    places = set()
    for match in JA_PLACES.finditer(sentence):
        places.add(match[1])
        if len(match[1]) > 1 and not JA_FALSE.match(match[1]) and match[1] not in JA_COMMON:
            yield SpacelessName(match[1], is_person=False)
    for match in JA_KATAKANA.finditer(sentence):
        if match[1] not in JA_COMMON and match[1] not in people:
            name = _mixed(sentence, *match.span(1))
            if name not in places:
                yield SpacelessName(name, is_person=False)


def _mixed(sentence: str, start: int, end: int) -> str:
    """Return a name in katakana with the kanji that belong to it: `市民ホール`, `ベーカリー風車`."""
    before, after = JA_HAN_BEFORE.search(sentence, 0, start), JA_HAN_AFTER.match(sentence, end)
    head = "" if before is None or JA_WHEN.search(before[0]) else before[0]
    return f"{head}{sentence[start:end]}{after[0] if after else ''}"


def _korean(sentence: str) -> Iterator[SpacelessName]:
    yield from (SpacelessName(match[1], is_person=True) for match in KO_PERSON.finditer(sentence))
    yield from (SpacelessName(match[1], is_person=False) for match in KO_PLACES.finditer(sentence))


def _thai(sentence: str) -> Iterator[SpacelessName]:
    for match in TH_NAMES.finditer(sentence):
        yield SpacelessName(match[1] + match[2], match[1] in TH_PERSON)


FINDERS = {"zh": _chinese, "ja": _japanese, "ko": _korean, "th": _thai}
