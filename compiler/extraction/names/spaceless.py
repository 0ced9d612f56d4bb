"""Finding names in scripts without capitals, and mostly without spaces, by the words before and after them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..texts.language import word_set

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
    "張劉陳楊黃趙吳孫馬鄭謝許韓馮鄧葉蘇盧鍾"
)
# Chinese characters of grammar, numbers and time.
ZH_STOPS = (
    "的了在是我你您他她它们和与跟不也就都很有这那个一上下来去到说要会能着过吧吗呢啊么什之为以及其中所被把让给从对向"
    "但而或如则因由于还又再才刚只没最更太真好多少每次些里后前时候年月日天号点分二两三四五六七八九十百千万几第想看做"
    "用可得地等当将已经并且虽然果今昨明早晚這個們來說會過嗎為對從還沒經後裡時點兩"
)

ZH_TITLE = "老师|医生|先生|女士|阿姨|叔叔|师傅|经理|教授|姐|哥|奶奶|爷爷|老板|老闆|大夫|教练"
ZH_SAYS = (
    "说|說|告诉|觉得|推荐|认为|问|带|来|送|做|讲|给|建议|喜欢|想|要|在|教|请|打电话|第一次|也|又|还|和|"
    "跟|的|很|把|用|已经|提醒|笑|负责|写|寫|吃|打|走|聊|买|買|拿|陪|接|帮|幫|听|聽|学|學|练|練|唱|画|畫|拍|寄|约|約|煮|烤|搬|"
    "借|改|修|换|換|译|譯|编|編|演|养|養|种|種|骑|騎|赢|贏|输|輸|"
    "刚|剛|答应|答應|同意|回家|回来|回來|一起|去|到|看|坐|见|見|"
    "逛|住|找|，|。|、|；"
)
ZH_PLACE = (
    "公园|餐厅|饭店|酒店|书店|咖啡馆|咖啡店|大学|医院|博物馆|美术馆|市场|车站|机场|寺|庙|湖|广场|公司|"
    "图书馆|面馆|火锅店|茶馆|古镇|动物园|植物园|"
    "夜市|老街|路|街|巷|塔|宫|桥|海滩|山庄|剧院|体育馆|小学|中学|公園|餐廳|書店|咖啡館|大學|醫院|博物館|"
    "夜市|車站|機場|廣場|火锅|面包店|菜场|菜市场|码头|酒吧|酒馆|花园|花園|体育场|體育場|游泳馆|健身房|小区|胡同|水库|峡谷|"
    "森林|农场|農場|俱乐部|工作室|诊所|診所|食堂|书院|書院|包子铺|豆浆店|花店|超市|商场|商場|大厦|大廈|教堂|书屋|民宿|客栈|"
    "瀑布|溪|湾|灣|港|岛|島|镇|鎮|村|峰|轩|軒|阁|閣|斋|坊"
)
# The ends of names of firms, systems and products. ZH_KINDS has words before such an end that make no name: `操作系统`.
ZH_MADE = (
    "系统|数据库|平台|物流|科技|集团|银行|输入法|引擎|框架|软件|协议|出版社|杂志|基金会|实验室|研究所|事务所|学院|工厂|客户端|浏览器|"
    "编辑器|播放器|论坛|电台|乐队|乐团|剧团|球队|联盟|協會|协会|俱樂部|系統|數據庫|資料庫|軟體|輸入法|實驗室|銀行|雜誌"
)
ZH_KINDS = word_set(
    """
    操作 管理 生产 测试 内部 外部 登录 登陆 报表 后台 前端 后端 分布式 关系 关系型 开源 移动
    手机 电脑 网络 文件 评论 博客 公司 我司 团队 项目 搜索 推荐 支付 订单 监控 日志 缓存 消息
    通信 网页 桌面 免费 商业 第三方 自己 我们 他们 家庭 生态 神经 免疫 消化 交通 教育 中文 英文
    拼音 默认 视频 音频 音乐 图片 应用 工具 模板 渲染 游戏 社交 云 老 新 旧 大 小 整个 全部
    该 各 本 某 那家 这家 相关 国家 国内 国外 地方 当地 高等 重点 传统 现代 商学 办公 杀毒
    嵌入式 操作 主流 流行 时尚 文学 线上 线下 在线 数字 信息 高新
    """
)
# Words before a name of a firm, system or product.
ZH_BEFORE = (
    "客户|对接|使用|采用|选用|改用|换成|换了|换回|安装|部署|配置|迁移|升级|接入|试用|推荐|供应商|合作方|甲方|乙方|作者|朋友|同事|同学|"
    "开发|维护|运维|一款|一个|一种|一家|这款|这个|那个|名叫|叫做|名为|关于|加入|参加|参观|离职|入职|就职于|来自|基于|通过|联系|介绍"
)
# Words before the name of a place, which cannot be part of it.
ZH_CUT = (
    f"(?:{ZH_BEFORE}|今天|昨天|明天|早上|上午|中午|下午|晚上|周末|周[一二三四五六日]|我们|他们|她们|大家|一起|终于|"
    "因为|因為|所以|但是|可是|如果|虽然|雖然|然后|然後|于是|於是|除了|关于|關於|第一次|又一次|附近|旁边|离开|经过|路过|参观|回到|来到|走到|带我|喜欢|就是|还是|"
    "[在去到从從来來逛回于於往过過的和跟与與是我你他她它了着坐住把被让給给对叫有找爱最就都再又很])"
)
ZH_HARD = re.compile("[在去到从從和跟与與说說是逛]")
ZH_NOT = re.compile(
    "^(?:[一二两三几这那哪每某个家座条條那新旧老小大]|这里|那里|有的|什么|很多|附近|旁边|所有|地铁|公共|一个)"
)

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

ZH_PERSON = re.compile(
    rf"(?:(?<=[和跟与與同給给找请請叫到见見着为為让是、，。！])|(?<=作者|朋友|同事|同学|作家|导演|歌手|编辑|译者|读者|师弟|师兄|室友)"
    rf"|^|(?<![{HAN}]))((?:[小老阿][{HAN}])|"
    rf"[{SURNAMES}][{HAN}]{{1,2}}?)(?={ZH_SAYS})"
    rf"|([{SURNAMES}小老阿][{HAN}]{{0,2}}?(?:{ZH_TITLE}))|((?<![大从很最较多太古])[小老][{SURNAMES}])"
)
# Begins as people's names do, between words of grammar or before a verb: a name only with other evidence.
ZH_MAYBE = re.compile(
    rf"(?:(?<![{HAN}])|(?<=[{ZH_STOPS}]))([{SURNAMES}](?:(?![{ZH_STOPS}])[{HAN}]){{1,2}}?)(?=[{ZH_STOPS}]|{ZH_SAYS}|[^{HAN}]|$)"
)
ZH_PLACES = re.compile(
    rf"(?:^|(?<![{HAN}])|{ZH_CUT})([{HAN}]{{1,6}}?(?:{ZH_PLACE}))(?!{ZH_PLACE}|[径徑由过過上线線边邊程口])"
)
ZH_MADES = re.compile(rf"(?:^|(?<![{HAN}])|{ZH_CUT})([{HAN}]{{1,6}}?(?:{ZH_MADE}))(?!{ZH_MADE})")
# The ends of such names alone. Few sentences have one, so they are searched first, to save time.
ZH_PLACE_INSIDE, ZH_MADE_INSIDE = re.compile(ZH_PLACE), re.compile(ZH_MADE)
ZH_STEM = 2  # characters that most such names have before their end
ZH_LONG = word_set(
    "银行 銀行 集团 出版社 杂志 雜誌 基金会 实验室 實驗室 研究所 事务所 学院 乐团 剧团 协会 協會 联盟 科技"
)
ZH_VERBS = frozenset(
    "装裝换換买買看做写寫学學开開跑试試搭建修查改删刪连連调調测測接选選投卖賣租办辦设設造需等叫谈談听聽给給配"
)
ZH_GRAMMAR = re.compile("[的了是把用和跟与與被将將让讓给給也就都很在到从從向说說]")
ZH_MADE_END = re.compile(f"(?:{ZH_MADE})$")
# Common words that begin like people's names: `方案`, `金额`.
ZH_FALSE = re.compile(
    "^(?:小[时朋吃心雨雪孩狗猫说組组路声于写]|老[师板家人街是公婆]|阿[姨]|和[他她我]|于[是此]|"
    "高[兴铁级度中低峰潮手速尚考原效血烧大层温等端价质跟]|马[上路桶车力尾克]|马$|"
    "方[便案法面式向程针块才形言位]|任[何务意凭由职性命]|向[来往上下前右左]|"
    "白[天色菜酒领板云白费纸银]|何[时况必等]|许[多可]|万[一能里分]|金[色融属额钱牌鱼字子]|黄[色昏瓜豆油酒金]|"
    "石[头油材器窟块板]|江[边湖河南西苏水]|叶[子片酸绿]|程[序度式]|周[末一二三四五六日围边期年]|余[下额地生热震]|"
    "钱[包]|田[里野园径地]|雷[雨达电声]|龙[虾头]|毛[巾病衣笔孔]|武[器术力]|汤[很匙圆]|单|管理|安全|应用|文件|时间|"
    "史[料诗学前上]?$|式|温|张[开力贴]|陈[列述旧]|胡[子同萝椒须乱说]|林[业木区子]|罗[列马汉]|郑重|谢[谢意]|宋[代朝词体]|"
    "唐[代朝诗突]|韩[国语文剧]|曾经|董事|杜绝|苏[打醒]|丁[香点字]|姜[汤茶]|钟[头表点声]|陆[地续军]|范[围例文畴式]|"
    "夏[天季日令]|付[出款费钱]|熊猫|段[落子时]|陶[瓷醉器艺]|黎明|贺卡|顾[客虑问]|严[重格肃密]|莫[名非]|孔[子雀]|徐徐|孙[子女])"
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
ROLE = re.compile(f"(?:{JA_ROLE}|{ZH_TITLE})$")
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
    return finder(sentence) if finder else iter(())


def without_role(name: str) -> str | None:
    """Return the name without the role at its end, `堀口` of `堀口先生`, or None if it has no role."""
    bare = ROLE.sub("", name)
    return bare if bare != name and len(bare) > 1 else None


def without_politeness(name: str) -> str:
    """Return the name without a polite suffix: `田中さん` → `田中`. A role such as `店長` stays."""
    bare = JA_POLITELY.sub("", name)
    return bare if len(bare) > 1 else name


def _chinese(sentence: str) -> Iterator[SpacelessName]:
    people = set()
    for match in ZH_PERSON.finditer(sentence):
        name = match[1] or match[2] or match[3]
        if not ZH_FALSE.match(name) and len(name) > 1:
            people.add(name)
            yield SpacelessName(name, is_person=True)
    for match in ZH_MAYBE.finditer(sentence):
        if match[1] not in people and not ZH_FALSE.match(match[1]):
            yield SpacelessName(match[1], is_person=True, is_sure=False)
    for match in ZH_PLACES.finditer(sentence) if ZH_PLACE_INSIDE.search(sentence) else ():
        name = _shorn(match[1])
        if len(name) > 2 and not ZH_NOT.match(name):
            yield SpacelessName(name, is_person=False)
    for match in ZH_MADES.finditer(sentence) if ZH_MADE_INSIDE.search(sentence) else ():
        name = _made(_shorn(ZH_GRAMMAR.split(match[1])[-1]))
        if name and not ZH_NOT.match(name):
            yield SpacelessName(name, is_person=False)


def _made(name: str) -> str | None:
    """Return the name of a firm, system or product without a verb before it, or None if it is only a kind of them."""
    end = ZH_MADE_END.search(name)
    kind = name[: end.start()] if end else ""
    while len(kind) > ZH_STEM and kind[0] in ZH_VERBS:
        kind = kind[1:]
    if end and end[0] not in ZH_LONG and len(kind) > ZH_STEM + 1:
        kind = kind[-ZH_STEM:]
    return f"{kind}{end[0]}" if end and kind and kind not in ZH_KINDS else None


def _shorn(name: str) -> str:
    """Return the name of a place without the words before it."""
    name = ZH_HARD.split(name)[-1] if len(ZH_HARD.split(name)[-1]) > 2 else name
    while (cut := re.match(ZH_CUT, name)) and cut.end() < len(name) - 1:
        name = name[cut.end() :]
    return name


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
