"""The main job told from end to end with real parts, for people who want to see it: `remit demo`.

`editor` is a real LSP client, `agent` a real MCP client; the story drives them against a real server process. The
end-to-end tests use the same editor.
"""
