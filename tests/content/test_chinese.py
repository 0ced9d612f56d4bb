"""The words of Chinese texts."""

import subprocess
import sys

from content.chinese import chinese_words


def test_words_are_as_written_with_their_use() -> None:
    words = chinese_words("我們去北京大學找許岩，OK？")
    assert "".join(word.text for word in words) == "我們去北京大學找許岩，OK？"
    found = {word.text: word for word in words}
    assert found["北京大學"].uses > 0
    assert found["許岩"].uses == 0


def test_the_dictionary_is_not_read_before_a_chinese_text_is() -> None:
    code = "import sys, app.cli, compiler.extraction.planner; assert 'rjieba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
