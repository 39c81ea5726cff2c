-- What a person does in Neovim, without a screen: start Remit as docs/editors.md says, activate the contract, see
-- the proposed change, accept it. Run by test_neovim.py: one JSON object a line on stdout, the answers are checked there.
-- Environment: SNIPPET (a Lua file: the part of docs/editors.md that starts the server), LEAVE (a file: it may go now).

local function say(what, found)
  found.step = what
  io.stdout:write(vim.json.encode(found) .. "\n")
  io.stdout:flush()
end

local function until_true(what, seen)
  if not vim.wait(15000, seen, 20) then
    local there = {}
    for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(there, (one.code or "?") .. ": " .. one.message) end
    say("lost", { waited_for = what, diagnostics = there, messages = vim.fn.execute("messages") })
    vim.cmd("cquit!")
  end
end

local function codes()
  return vim.tbl_map(function(one) return one.code end, vim.diagnostic.get(0))
end

local function shown(code)
  return function() return vim.tbl_contains(codes(), code) end
end

-- Puts the cursor on a problem, asks for what can be done there, and does the one whose title begins like this.
local function act(code, title)
  local titles = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    if one.code == code then vim.api.nvim_win_set_cursor(0, { one.lnum + 1, one.col }) end
  end
  local choose = vim.ui.select
  vim.ui.select = function(items, options, done)
    if options.kind ~= "codeaction" then return choose(items, options, done) end
    for _, item in ipairs(items) do
      local name = (item.action or item[2]).title
      table.insert(titles, name)
    end
    for place, name in ipairs(titles) do
      if vim.startswith(name, title) then return done(items[place], place) end
    end
    done(nil)
  end
  vim.lsp.buf.code_action()
  until_true("code actions for " .. code, function() return #titles > 0 end)
  vim.ui.select = choose
  return titles
end

dofile(vim.env.SNIPPET)

vim.cmd.edit("task.contract.json")
until_true("the contract's problem", shown("contract-not-active"))
say("contract", { codes = codes(), titles = act("contract-not-active", "Activate") })
until_true("the contract in force", function() return not shown("contract-not-active")() end)

vim.cmd.edit("docs/guide.md")
local client = vim.lsp.get_clients({ bufnr = 0, name = "remit" })[1]
say("opened", { clients = #vim.lsp.get_clients({ name = "remit" }), server = client.server_info, encoding = client.offset_encoding })

until_true("the proposed change", shown("patch-pending"))
local before = vim.api.nvim_buf_get_lines(0, 0, -1, false)
local there = vim.diagnostic.get(0)[1]
vim.api.nvim_win_set_cursor(0, { there.lnum + 1, there.col })
local hover = client:request_sync("textDocument/hover", vim.lsp.util.make_position_params(0, client.offset_encoding), 15000, 0)
say("pending", { codes = codes(), lines = before, hover = hover and hover.result.contents.value })

local titles = act("patch-pending", "Accept")
until_true("the accepted text", function()
  return not vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), before)
end)
until_true("the problem gone", function() return not shown("patch-pending")() end)
say("accepted", {
  titles = titles,
  lines = vim.api.nvim_buf_get_lines(0, 0, -1, false),
  modified = vim.bo.modified,
  disk = vim.fn.readfile("docs/guide.md"),
  codes = codes(),
})

until_true("leave to go", function() return vim.fn.filereadable(vim.env.LEAVE) == 1 end)
vim.lsp.stop_client(vim.lsp.get_clients({ name = "remit" }))
until_true("the server's end", function() return #vim.lsp.get_clients({ name = "remit" }) == 0 end)
vim.cmd("qall!")
