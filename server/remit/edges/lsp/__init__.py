"""The editor's door: LSP over stdio. The only door through which a human's answers come.

Four rooms: `wire` (frames and errors), `convert` (the only file with both lsprotocol and core words), `view` (what is
shown, and when), `server` (the table of methods). What anything means is decided by the session.
"""

from remit.edges.lsp.server import Opener, serve

__all__ = ["Opener", "serve"]
