"""Nouns that are in everybody's notes and so are no subjects of any, by language."""

from ..texts.language import word_set

GENERIC = {
    "en": word_set(
        """
        time times week weeks month months year years day days hour hours minute minutes morning evening night
        afternoon today thing things stuff people person everyone someone way ways part parts place places
        world life work works job idea ideas point points question questions answer answers problem problems
        issue issues reason reasons example examples case cases fact kind sort lot lots bit number numbers
        list lists line lines note notes post posts page pages word words text name names side end start
        beginning middle rest half hand hands head eyes face house room street city town country water
        food money price meeting meetings call calls email emails message change changes plan plans step steps
        result results version update updates review reviews team teams group member members user users
        customer customers company office project projects task tasks agenda action items decision decisions
        summary overview introduction conclusion background details next today's attendees great good little
        small large right whole second third later early first really always maybe again feature features
        option options setting settings file files folder folders button window friend friends family kids
        weekend photo photos picture pictures fun love support help hope chance moment moments feeling
        feelings experience experiences journey memories inspiring amazing awesome big huge new old long short
        best better full real special own different same difference impact effort sense touch deal level order
        sure sorts course thought thoughts passion courage dedication strength bravery joy peace comfort
        weather sunshine storm clouds dinner lunch breakfast supper coffee drinks kitchen bathroom bedroom stairs floor
        window windows table chair phone computer laptop screen email traffic train trains flight ticket tickets doctor
        mother father sister brother parents daughter husband neighbour neighbours neighbor neighbors colleague
        colleagues nobody everybody somebody light noise silence smell sleep birthday holiday holidays vacation
        reminder motivation inspiration positivity kindness attitude growth goals goal dream dreams success
        progress advice energy happiness break chat luck news challenge challenges opportunity opportunities
        future past present balance purpose confidence creativity perspective vibe vibes atmosphere spirit
        heart mind soul self acceptance determination perseverance resilience sounds looks feels favorite
        favourite section chapter reading writing making getting going being having doing looking thing's
        """
    ),
    "de": word_set(
        """
        tag tage tagen woche wochen monat monate monaten jahr jahre jahren zeit zeiten uhr stunde stunden minute
        minuten morgen abend nacht mittag vormittag nachmittag heute leute mensch menschen frau herr kinder kind mal
        male ende anfang teil seite seiten stück grad meter kilo liter euro cent prozent frage fragen antwort
        problem probleme grund thema themen punkt punkte beispiel fall arbeit aufgabe aufgaben plan idee ideen weg
        welt leben haus wohnung zimmer tür straße stadt land wasser essen geld preis treffen sitzung termin termine
        protokoll beschluss beschlüsse tagesordnung nächste wetter sonne regen wind hand hände kopf auge augen wort
        worte name namen zahl liste notiz notizen nachbar nachbarn freund freunde freundin familie eltern wochenende
        sommer winter herbst frühling frühjahr januar februar märz april mai juni juli august september oktober
        november dezember montag dienstag mittwoch donnerstag freitag samstag sonntag ding dinge sache sachen platz
        ort orte gruppe mitglied mitglieder verein vorstand inhalt anzahl ergebnis ergebnisse text texte artikel
        titel datei dateien bild bilder situation möglichkeit gefühl gedanke gedanken eindruck moment momente blick
        stimmung besuch gespräch hälfte mitte nähe größe farbe form rolle bereich beginn schluss rest küche flur
        balkon tisch stuhl bett fenster boden wand zug bahn auto fahrrad laden supermarkt kollege kollegen kollegin
        chef büro mutter vater schwester bruder sohn tochter baby hund katze arzt kaffee kuchen suppe brot bier wein
        frühstück mittagessen abendessen telefon handy rechnung vertrag angebot post brief stelle kunde kunden firma
        gespräche anfrage angebote luft licht himmel schnee nacht
        """
    ),
    "zh": word_set(
        """
        博客 文章 日记 随笔 总结 笔记 标题 标签 分类 内容 文字 句子 图片 照片 视频 链接 网站 网页 页面 评论 读者 作者
        生活 工作 时间 今天 明天 昨天 早上 上午 中午 下午 晚上 周末 小时 分钟 星期 大家 自己 别人 朋友 同事 同学 家人
        老师 孩子 父母 妈妈 爸爸 公司 学校 城市 国家 地方 世界 问题 原因 结果 方法 方式 办法 东西 事情 情况 感觉 心情
        想法 意思 办公室 电脑 手机 软件 系统 工具 项目 团队 会议 计划 任务 版本 更新 功能 设置 配置 文件 数据 代码
        服务器 数据库 用户 客户 公里 天气 早餐 午饭 晚饭 咖啡 一直 觉得 知道 开始 最后 终于 非常 比较 特别 应该 需要
        喜欢 决定 同意 打电话 电话 短信 邮件 测试 检查 修改 修复 确认 讨论 准备 安排 联系 回复 通知 提醒 参加 结束 完成
        继续 停止 购买 发送 收到 出现 发现 发生 支持 帮助 介绍 学习 练习 试试 看看 商量 打算 希望 担心 同时 之后
        之前 以后 以前 附近 旁边 里面 外面 上面 下面 中间 左边 右边 蓝色 红色 白色 黑色 绿色 黄色 大概 差不多 可能
        一定 已经 正在 马上 慢慢 突然 本子 衣服 手机 钱包 钥匙 盒子 袋子 桌子 椅子 房间 房子 窗户 门口 路上 车站
        超市 饭店 医院 医生 价格 费用 数量 质量 颜色 大小 样子 部分 情形 机会 关系 经验 能力 水平 条件 要求 标准
        规则 目的 目标 意见 建议 重点 关键 顺序 名字 号码 地址
        """
    ),
    "fr": word_set(
        """
        jour jours semaine semaines mois année années heure heures minute minutes matin matinée midi après-midi soir
        soirée temps moment moments fois début milieu suite reste partie parties chose choses gens personne personnes
        monde enfant enfants famille ami amis amie amies voisin voisins voisine collègue collègues père mère frère sœur
        femme homme maison chambre cuisine table porte fenêtre rue ville pays place endroit travail vie idée idées
        question questions réponse problème problèmes raison exemple cas point points sujet liste note notes page texte
        mot mots nom numéro lettre courrier message appel téléphone photo photos image dossier document documents
        compte comptes devis facture prix argent euros budget réunion réunions séance ordre équipe groupe membre membres
        projet projets tâche décision décisions résultat résultats version demande demandes proposition travaux chantier
        côté bout tête main mains yeux cœur corps pluie soleil vent froid chaleur nuit lumière eau pain café repas
        déjeuner dîner petit-déjeuner vacances voyage route train voiture retour départ arrivée visite rendez-vous
        semestre trimestre délai retard date lundi étage cour entrée sortie salle bureau mairie merci vérité bonheur
        fois-ci lendemain veille plupart ensemble
        """
    ),
    "es": word_set(
        """
        días semana semanas meses años hora horas minuto minutos mañana tarde noche noches tiempo momento momentos vez
        veces principio final parte partes cosa cosas gente persona personas mundo niño niños niña hijo hija familia
        amigo amigos amiga vecino vecinos compañero compañeros padre madre hermano hermana mujer hombre casa cuarto
        habitación cocina mesa puerta ventana calle ciudad país sitio lugar trabajo vida idea ideas pregunta respuesta
        problema problemas razón ejemplo caso punto tema lista nota notas página texto palabra palabras nombre número
        carta mensaje llamada teléfono móvil foto fotos imagen dinero precio euros factura reunión reuniones equipo
        grupo proyecto tarea decisión resultado versión comida cena desayuno cumpleaños fiesta regalo vacaciones viaje
        coche tren vuelta salida llegada visita médico lluvia calor frío cabeza manos cuerpo suerte verdad martes
        lunes jueves viernes domingo sábado horario turno revisión pueblo playa piso cama baño comedor señora señor
        """
    ),
    "pt": word_set(
        """
        dias semana semanas meses anos hora horas minuto minutos manhã tarde noite noites tempo momento momentos vezes
        começo início final parte partes coisa coisas gente pessoa pessoas mundo menino menina filho filha família
        amigo amigos amiga vizinho vizinhos colega colegas mulher homem quarto cozinha mesa porta janela cidade
        sítio lugar trabalho ideia ideias pergunta resposta problema problemas razão exemplo caso ponto assunto lista
        nota notas página texto palavra palavras nome número carta mensagem telefone celular fotografia fotografias
        fotos imagem dinheiro preço euros reais conta reunião reuniões equipe equipa grupo projeto tarefa decisão
        resultado versão almoço jantar comida café festa presente férias viagem carro trem comboio ônibus autocarro
        barco volta saída chegada visita médico chuva calor frio vento cabeça perna pernas corpo sorte verdade livro
        estrada praia mala malas bilhete manta cama banho senhor senhora moço moça resto
        """
    ),
    "it": word_set(
        """
        giorno giorni settimana settimane mesi anno anni minuto minuti mattina pomeriggio sera notte tempo momento volta
        volte inizio fine parte parti cosa cose gente persona persone mondo bambino bambini figlio figlia famiglia amico
        amici amica vicino vicini collega colleghi padre madre fratello sorella donna casa camera cucina tavolo porta
        finestra strada città paese posto lavoro vita idea idee domanda risposta problema problemi ragione esempio caso
        punto tema lista nota note pagina testo parola parole nome numero lettera messaggio telefono foto immagine soldi
        prezzo riunione squadra gruppo progetto compito decisione risultato versione pranzo cena colazione festa regalo
        vacanze viaggio macchina treno ritorno partenza arrivo visita medico pioggia sole caldo freddo vento testa mano
        mani corpo fortuna verità
        """
    ),
}
