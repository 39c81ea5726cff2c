"""The agent socket: JSON-RPC 2.0 between agents' doors and the session that owns a workspace.

Three rooms: `wire` (frames and faults, both ends), `server` (the session's end), `client` (the shim's end). What a verb
does is the session's business: nothing here decides, stores or approves. This file is the public list.
"""

from remit.edges.socket.client import Client, Link
from remit.edges.socket.server import Desk, Server, serve
from remit.edges.socket.wire import ConnectionLost

__all__ = ["Client", "ConnectionLost", "Desk", "Link", "Server", "serve"]
