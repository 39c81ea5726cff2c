"""A language client of a few lines: it frames messages, writes, and reads until an answer comes. The same one for every
server, so that its own time is in all of them alike.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

UNKNOWN = "bench/nothing"
"""A method that no server has: the answer comes in its turn, after the change before it."""

PATIENCE = 20.0
"""Seconds after which what is not shown counts as shown."""

PYGLS = (sys.executable, "-c", "from pygls.lsp.server import LanguageServer as S; S('bare', '1').start_io()")


class Wire:
    """One server process, opened on a folder."""

    def __init__(self, command: Sequence[str], root: Path, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        self._read = b""
        self._number = 0
        self._versions: dict[str, int] = {}
        self.shown: dict[str, list[str]] = {}
        self.request("initialize", {"processId": os.getpid(), "rootUri": root.as_uri(), "capabilities": _CAPABLE})
        self.notify("initialized", {})

    def open(self, path: Path) -> str:
        uri = path.as_uri()
        self._versions[uri] = 1
        item = {"uri": uri, "languageId": "python", "version": 1, "text": path.read_text()}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self.ask()
        return uri

    def change(self, uri: str, line: int, character: int, end: int, text: str) -> bytes:
        """The framed message that puts `text` in the place of some characters of a line."""
        self._versions[uri] += 1
        where = {"start": {"line": line, "character": character}, "end": {"line": line, "character": end}}
        changed = {"textDocument": {"uri": uri, "version": self._versions[uri]}}
        return _framed("textDocument/didChange", {**changed, "contentChanges": [{"range": where, "text": text}]})

    def ask(self, before: bytes = b"") -> None:
        """Write what is given and a request behind it, at once; back when that is answered."""
        self._number += 1
        self._write(before + _framed(UNKNOWN, {}, self._number))
        self._answer(self._number)

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        self._write(_framed(method, params, self._number))
        return self._answer(self._number)

    def notify(self, method: str, params: Any) -> None:
        self._write(_framed(method, params))

    def until_shown(self, uri: str, before: bytes, seen: Callable[[list[str]], bool]) -> None:
        """Write what is given; back when the codes of the problems shown are as wished, or after PATIENCE."""
        end = time.monotonic() + PATIENCE
        self._write(before)
        while not seen(self.shown.get(uri, [])) and self._arrives(end - time.monotonic()):
            self._take()

    def rest(self) -> None:
        """Take what still comes, until nothing has come for a while."""
        while self._arrives(0.3):
            self._take()

    def _arrives(self, seconds: float) -> bool:
        assert self._process.stdout
        return bool(self._read) or bool(select.select([self._process.stdout], [], [], max(0.0, seconds))[0])

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _answer(self, number: int) -> Any:
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                return message

    def _take(self) -> dict[str, Any]:
        """The next message; what the server asks is answered with nothing."""
        head = self._until(lambda: self._read.find(b"\r\n\r\n") + 4)
        size = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        message: dict[str, Any] = json.loads(self._until(lambda: size if len(self._read) >= size else 0))
        if message.get("method") == "textDocument/publishDiagnostics":
            found = message["params"]
            self.shown[found["uri"]] = [str(one.get("code")) for one in found["diagnostics"]]
        elif "method" in message and "id" in message:
            wanted = message.get("params", {}).get("items") if message["method"] == "workspace/configuration" else None
            self._write(_framed(None, None, message["id"], wanted and [{} for _ in wanted]))
        return message

    def _until(self, enough: Callable[[], int]) -> bytes:
        """So much of what the server says as `enough` asks for; below 4 is not yet."""
        assert self._process.stdout
        while (size := enough()) < 4:
            more = self._process.stdout.read(1 << 20)
            if not more:
                raise EOFError("The server has gone.")
            self._read += more
        taken, self._read = self._read[:size], self._read[size:]
        return taken


_CAPABLE = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
    "general": {"positionEncodings": ["utf-16"]},
}


def _framed(method: str | None, params: Any, number: Any = None, result: Any = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if number is not None:
        message["id"] = number
    message |= {"result": result} if method is None else {"method": method, "params": params}
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
