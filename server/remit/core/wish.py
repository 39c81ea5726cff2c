"""What is asked for each file, in one form whatever form it came in: a patch, whole texts, or search and replace.

Nothing is looked at yet. Does not live here: what it is bound to (`binding`), the proposal made of it (`proposing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from remit.core import form, patch, paths
from remit.core.chunk import Chunk, Rule
from remit.core.faults import AgentFault
from remit.core.form import Kept
from remit.core.place import Placed, Swap
from remit.core.requests import ProposeParams


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for one file, not yet placed. `content` is a whole new text; None with no chunks deletes."""

    path: str
    op: str
    source: str | None = None
    content: str | None = None
    chunks: tuple[Chunk, ...] = ()
    swaps: tuple[Swap, ...] = ()
    executable: bool | None = None
    old_blob: str | None = None
    new_blob: str | None = None

    @property
    def copies(self) -> bool:
        """Then `source` is only read."""
        return self.op == "copy"

    def touches(self) -> tuple[str, ...]:
        """The paths that would be other than before."""
        return (self.path,) if self.source is None or self.copies else (self.source, self.path)

    def onto(self, text: str, rules: Sequence[Rule], *, marked: bool) -> tuple[Placed, tuple[Kept, ...]]:
        """The new text from the old one, and what of the file's form was kept.

        `marked`: the file has a byte order mark that is not in `text`.
        AgentFaults of placing; byte_order_mark.
        """
        if self.content is not None:
            made, kept = (
                form.whole(text, self.content, marked=marked, rules=rules) if self.op == "write" else (self.content, ())
            )
            return Placed(made, ()), kept
        if self.swaps:
            return form.swapped(text, self.swaps, rules, marked=marked), ()
        return form.onto(text, self.chunks, rules, marked=marked, deletes=self.op == "delete"), ()


def wishes(params: ProposeParams) -> tuple[list[Wish], tuple[str, ...]]:
    """What is asked of each file, and what was set aside or read otherwise than written.

    AgentFaults: those of reading a patch, invalid_params, no_change, duplicate_path, bad_path.
    """
    given = [part for part in (params.patch, params.files, params.edits) if part is not None]
    if len(given) != 1:
        raise AgentFault("invalid_params", "Give one of patch, files and edits.", remedy="Send exactly one of them.")
    read = patch.parse(params.patch) if params.patch else None
    found = [*_from_patch(read), *_from_files(params), *_from_edits(params)]
    if not found:
        raise AgentFault("no_change", "The proposal holds no change.", remedy="Send at least one file.")
    once(path for wish in found for path in wish.touches())
    return found, read.notes if read else ()


def once(touched: Iterable[str]) -> None:
    """Refuse a file that stands in it twice. AgentFault: duplicate_path."""
    seen: set[str] = set()
    for path in touched:
        if paths.fold(path) in seen:
            raise AgentFault("duplicate_path", f"{path} is named twice.", remedy="One entry a file.", path=path)
        seen.add(paths.fold(path))


def _from_files(params: ProposeParams) -> Iterator[Wish]:
    for file in params.files or ():
        yield Wish(
            paths.parse(file.path, portable=False), "delete" if file.content is None else "write", content=file.content
        )


def _from_edits(params: ProposeParams) -> Iterator[Wish]:
    by_path: dict[str, list[Swap]] = {}
    for edit in params.edits or ():
        path = paths.parse(edit.path, portable=False)
        by_path.setdefault(path, []).append(Swap(edit.search, edit.replace, edit.count))
    for path, swaps in by_path.items():
        yield Wish(path, "modify", swaps=tuple(swaps))


def _from_patch(read: patch.Patch | None) -> Iterator[Wish]:
    for file in read.files if read else ():
        yield Wish(
            path=paths.parse(file.path, portable=False),
            op=file.op,
            source=None if file.source is None else paths.parse(file.source, portable=False),
            content=file.content,
            chunks=file.chunks,
            executable=None if file.mode is None else file.mode == "100755",
            old_blob=file.old_blob,
            new_blob=file.new_blob,
        )
