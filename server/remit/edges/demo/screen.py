"""Draws a story on a terminal, scene by scene, and as one picture. It decides nothing and starts nothing.

Readable from 60 columns, in colour and without, with and without a terminal that knows more than ASCII.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.terminal_theme import MONOKAI
from rich.text import Text

from remit.edges.demo.told import Block, Line, Outcome, Promise, Scene, Telling, Who

WIDEST, PICTURE_COLUMNS = 100, 92
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
SEEN_LINES = 24
"""Lines of what was seen of a broken promise; more of them hide its name."""

PEOPLE: dict[Who, str] = {"you": "bold cyan", "agent": "bold magenta", "remit": "bold yellow", "crash": "bold red"}
SEVERITIES = {"error": "red", "warning": "yellow", "information": "blue", "hint": "dim"}
HEADS = {
    "Done": "green",
    "Failed": "red",
    "Not run": "yellow",
    "To be confirmed": "yellow",
    "Refused": "magenta",
}


@dataclass(frozen=True, slots=True)
class Signs:
    """What is drawn besides letters."""

    kept: str = "✓"
    broken: str = "✗"
    bar: str = "│"


ASCII = Signs("ok", "!!", "|")


class Screen:
    """Draws on one console, never wider than WIDEST."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = min(console.width, WIDEST)
        self._signs = Signs() if console.encoding.lower().startswith("utf") else ASCII

    def _print(self, what: RenderableType) -> None:
        self._console.print(what, width=self._width, highlight=False)

    def opening(self, source: str) -> None:
        self._print(Text("\nRemit: what it promises, tried with real parts", "bold"))
        self._print(
            Text(
                f"The folder is a fresh git copy of {source}. You are a script at a real LSP client, the agent is one "
                "at a real MCP client; the server between them is the one you would use. Nothing of yours is touched.",
                "dim",
            )
        )

    def scene(self, scene: Scene) -> None:
        title = Text.assemble((f"{scene.number:>2}  ", "bold blue"), (scene.title, "bold"))
        self._print(Group(Text(""), Rule(title, align="left", style="blue", characters="─" if self._rich else "-")))
        for telling in scene.tellings:
            self._print(Padding(self._telling(telling), (0, 0, 0, 4)))

    def closing(self, outcome: Outcome) -> None:
        """The sum; a broken promise is named once more, because it is what a reader looks for."""
        kept, broken = len(outcome.promises) - len(outcome.broken), len(outcome.broken)
        self._print(Text(""))
        style = "bold green" if outcome.exit_code == 0 else "bold red"
        self._print(Text(f"{kept} promises kept, {broken} broken, in {outcome.seconds:.1f} s.", style))
        for promise in outcome.broken:
            where = next(scene for scene in outcome.scenes if promise in scene.promises)
            self._print(Text(f"Broken in step {where.number}, “{where.title}”: {promise.text}", "red"))
        if outcome.untold:
            self._print(Text(f"Not told any more: {', '.join(outcome.untold)}.", "red"))
        if outcome.workspace:
            self._print(Text(f"The folder is kept: {outcome.workspace}"))

    @property
    def _rich(self) -> bool:
        return self._signs is not ASCII

    def _telling(self, telling: Telling) -> RenderableType:
        match telling:
            case Line(who, text):
                return _beside(Text(who, PEOPLE[who]), Text(text), 7)
            case Promise():
                return self._promise(telling)
            case Block():
                return self._block(telling)
            case never:
                assert_never(never)

    def _promise(self, promise: Promise) -> RenderableType:
        if promise.kept:
            return _beside(Text(self._signs.kept, "bold green"), Text(promise.text, "green"), 3)
        seen = promise.seen.split("\n")
        cut = [*seen[:SEEN_LINES], f"… {len(seen) - SEEN_LINES} more lines"] if len(seen) > SEEN_LINES else seen
        return Group(
            _beside(Text(self._signs.broken, "bold red"), Text(f"Broken: {promise.text}", "bold red"), 3),
            _beside(Text(""), Text("Seen: " + "\n".join(cut)), 3),
        )

    def _block(self, block: Block) -> RenderableType:
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1, style="dim")
        table.add_column(overflow="fold")
        for row in (Text(block.title, "dim"), *_rows(block)):
            indent = len(row.plain) - len(row.plain.lstrip(" ")) if row.plain.strip() else 0
            # A wrapped line stands under its own beginning, or what belongs to a problem would look like the next.
            for line in row[indent:].wrap(self._console, self._width - 6 - indent, tab_size=8):
                table.add_row(self._signs.bar, Text.assemble(" " * indent, line))
        return table


def _beside(label: Text, text: Text, width: int) -> Table:
    """A label, and a text that keeps clear of it when it wraps."""
    table = Table.grid()
    table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(label, text)
    return table


def _rows(block: Block) -> Iterable[Text]:
    match block.kind:
        case "diff":
            return [_diff_line(line) for line in block.lines]
        case "problems":
            return [row for line in block.lines for row in _problem(line)]
        case "report":
            return _report(block.lines)
        case "page":
            return [Text(line) for line in block.lines]
        case never:
            assert_never(never)


def _diff_line(line: str) -> Text:
    if line.startswith(("---", "+++")):
        return Text(line, "bold")
    style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
    return Text(line, style)


def _problem(line: str) -> Iterable[Text]:
    severity, place, code, message = line.split("|", 3)
    yield Text.assemble((severity, SEVERITIES[severity]), "  ", (place, "underline"), "  ", (f"remit({code})", "dim"))
    yield Text(f"  {message}")


def _report(lines: Iterable[str]) -> Iterable[Text]:
    last = ""
    for line in lines:
        head, _, text = line.partition("|")
        if head != last:
            yield Text(head, f"bold {HEADS[head]}")
        last = head
        yield Text(f"  {text}")


def picture(outcome: Outcome) -> str:
    """The scenes as an SVG that needs no font of ours and nothing from elsewhere."""
    console = Console(
        record=True,
        width=PICTURE_COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
    )
    screen = Screen(console)
    for scene in outcome.scenes:
        screen.scene(scene)
    console.print()
    plain = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    plain = plain.replace("Fira Code, monospace", FONTS)
    return console.export_svg(title="remit demo", theme=MONOKAI, code_format=plain, unique_id="demo")
