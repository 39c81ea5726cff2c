"""The editor's door: LSP over stdio. The only door through which a human's answers come.

Its rooms: `wire` (frames and errors), `convert` (the only file with both lsprotocol and core words), `view` (what is
shown, and when), `door` (the handlers), `server` (the table of methods). What anything means is decided by the session.
"""

from remit.edges.lsp.door import Opener
from remit.edges.lsp.server import serve

__all__ = ["Opener", "serve"]
