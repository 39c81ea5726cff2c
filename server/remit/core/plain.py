"""Words of others as a human may be shown them: nothing in them is invisible, turns a line round or acts on a screen.

Agents and files are quoted to people who decide by what they read. Does not live here: what a text means, Markdown.
"""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters and marks without a shape: Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and the blank
# Braille pattern. Variation selectors up to U+FE0F stay: emoji are written with them.
_SHAPELESS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0000-\U000e0fff]")
_HALF = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile(r"\r\n?")
_GAP = re.compile(r"\n{3,}")


def visible(text: str) -> str:
    """`text` with every character that nobody would see spelled out, as ⟨U+202E⟩; line feeds and tabs stay.

    What it guards against: https://trojansource.codes (bidirectional controls), and terminal escapes.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(char):04X}⟩" if _is_hidden(char) else char for char in text)


def prose(text: str) -> str:
    """What somebody wrote, in lines: `visible`, and no run of empty lines that pushes the rest out of sight."""
    return _GAP.sub("\n\n", visible(_LINE_ENDS.sub("\n", text))).strip("\n")


def line(text: str, limit: int) -> str:
    """`visible` in one line of at most `limit` characters; what is too long loses its middle, where the least is."""
    one = visible(" ".join(text.split()))
    head = limit * 3 // 5
    return one if len(one) <= limit else f"{one[:head]}…{one[len(one) - (limit - head - 1) :]}"


def listed(words: tuple[str, ...], limit: int) -> str:
    """`a, b, c and 97 more`: never so many that what follows is not read. Each word as `line` of 100."""
    rest = len(words) - limit
    some = ", ".join(line(word, 100) for word in words[:limit])
    return f"{some} and {rest} more" if rest > 0 else some


def half(value: object) -> str | None:
    """Where a JSON value holds half a character (a lone surrogate): `edits.0.search`; None where it holds none.

    Names count too, and stand in the place as they can be written. No recursion: others choose how deep it is.
    """
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        place, here = waiting.pop()
        inner: list[tuple[str, object]] = []
        if isinstance(here, str) and _HALF.search(here):
            return place
        if isinstance(here, dict):
            for name, one in here.items():
                inner.append((_step(place, name), one))
                if _HALF.search(name):
                    return _step(place, name)
        elif isinstance(here, list):
            inner = [(_step(place, str(at)), one) for at, one in enumerate(here)]
        waiting += reversed(inner)
    return None


def _step(place: str, name: str) -> str:
    return f"{place}.{name}".removeprefix(".").encode(errors="backslashreplace").decode()


def _is_hidden(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in _HIDDEN or _SHAPELESS.match(char) is not None
