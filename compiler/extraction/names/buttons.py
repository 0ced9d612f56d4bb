"""Labels of buttons and menus in instructions, which are no names: `Click Save`."""

from collections.abc import Sequence

from ..texts.language import word_set

# Imperatives before the label of a button or a menu. Verbs that journals use as well (choose, open) are left out.
PRESS = word_set(
    """
    click tap press select toggle enable disable uncheck
    klicke klicken klickst wähle wählen tippe tippen drücke drücken aktiviere aktivieren deaktiviere deaktivieren
    cliquez cliquer sélectionnez sélectionner appuyez choisissez cochez décochez activez désactivez saisissez
    clique selecione toque pulsa pulse selecciona seleccione clic
    """
)
# Imperatives with which sentences of instructions begin.
IMPERATIVES = word_set(
    """
    add allow apply build change check close configure connect copy create define delete disable download drag edit
    ensure export follow import install keep launch leave make manage open paste publish remove rename restart restore
    return review save search send share show sort start stop switch sync test turn type update upload verify view wait
    öffne öffnen schließe erstelle erstellen füge lösche ändere ouvrez créez ajoutez supprimez abre crie adicione
    """
)
BETWEEN = word_set("on the in auf sie dann die den das in im unter sur le la les l' dans en em no na o a el then")
REACH = 2  # words between an imperative of PRESS and the label


def is_label(words: Sequence[str], first: int) -> bool:
    """Return whether the words at this index are the label of a button or a menu."""
    for at in range(first - 1, max(-1, first - 2 - REACH), -1):
        word = words[at].lower()
        if word in PRESS:
            return True
        if word not in BETWEEN:
            return False
    return False
