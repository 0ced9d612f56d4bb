"""What a manual tells to press: labels of buttons and menus have capitals as names do, and are none."""

from collections.abc import Sequence

from .stopwords import word_set

# Before a label in the imperative. What journals say too (choose, open) is left out.
PRESS = word_set(
    """
    click tap press select toggle enable disable uncheck
    klicke klicken klickst wähle wählen tippe tippen drücke drücken aktiviere aktivieren deaktiviere deaktivieren
    cliquez cliquer sélectionnez sélectionner appuyez choisissez cochez décochez activez désactivez saisissez
    clique selecione toque pulsa pulse selecciona seleccione clic
    """
)
BETWEEN = word_set("on the in auf sie dann die den das in im unter sur le la les l' dans en em no na o a el then")
REACH = 2  # words between


def is_label(words: Sequence[str], first: int) -> bool:
    """Whether the name that begins with this word is something to press."""
    for at in range(first - 1, max(-1, first - 2 - REACH), -1):
        word = words[at].lower()
        if word in PRESS:
            return True
        if word not in BETWEEN:
            return False
    return False
