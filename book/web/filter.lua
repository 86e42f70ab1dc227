-- SPDX-License-Identifier: MIT
--
-- filter.lua: what pandoc's Markdown lacks for this book.  One chapter a run.
--
-- Code comes from the tree, so a chapter cannot show code that is not there:
--
--	``` {.c file="kernel/agate_drv.c" part="agate_open"}
--	```
--
-- part names a function, or a structure as "struct NAME"; instead of it from= and to= are the
-- texts of a first and of a last line.  Of the steps of a lab all are shown as solved.
--
-- Metadata: chapter is the file's name without .md; target is html or book; facts and index
-- name files to which facts about the chapter (for tests/book.sh) and the sections' texts
-- (for the search) are added; level is the depth of the figures' paths.
local chapter, target, facts, index

local function fail(format, ...)
	io.stderr:write("book/" .. tostring(chapter) .. ".md: " .. format:format(...) .. "\n")
	os.exit(1)
end

local function read_all(path)
	local file = io.open(path)

	if not file then
		fail("no file %s", path)
	end
	local text = file:read("a")
	file:close()
	return text
end

local function add_line(path, line)
	local file = assert(io.open(path, "a"))

	file:write(line, "\n")
	file:close()
end

local function fact(kind, text)
	if facts then
		add_line(facts, chapter .. "\t" .. kind .. "\t" .. text)
	end
end

-- The lines of a file as the last step of a lab has them.
local function solved_lines(path)
	local lines, states = {}, {}

	for line in read_all(path):gmatch("([^\n]*)\n") do
		local skipped = false

		for _, state in ipairs(states) do
			skipped = skipped or state == "stub"
		end
		if line:match("^#if LAB%d%d >= %d") then
			table.insert(states, "solved")
		elseif line:match("^#%s*if") then
			if not skipped then
				table.insert(lines, line)
			end
			table.insert(states, "other")
		elseif line:match("^#%s*else") and states[#states] == "solved" then
			states[#states] = "stub"
		elseif line:match("^#%s*endif") then
			local state = table.remove(states)

			if state == "other" and not skipped then
				table.insert(lines, line)
			end
		elseif not skipped then
			table.insert(lines, line)
		end
	end
	return lines
end

local function slice(lines, first, last)
	return table.concat(lines, "\n", first, last)
end

-- A function or a structure begins at the left edge, and its last line begins with a brace.
local function named_part(lines, path, name)
	local pattern = name:match("^struct ") and "^" .. name .. " {$" or
		"^[%a_].*%f[%w_]" .. name .. "%f[^%w_]%("
	local first, found = nil, 0

	for i, line in ipairs(lines) do
		if line:match(pattern) and not line:match(";%s*$") and not line:match("^static.*= {") then
			-- A declaration of several lines ends in a semicolon, too.
			local j = i

			while lines[j] and not lines[j]:match("[;{]%s*$") and not lines[j]:match("^{") do
				j = j + 1
			end
			if lines[j] and not lines[j]:match(";%s*$") then
				found = found + 1
				first = first or i
			end
		end
	end
	if found ~= 1 then
		fail("%s: %d parts called %s", path, found, name)
	end
	for last = first + 1, #lines do
		if lines[last]:match("^}") then
			return slice(lines, first, last)
		end
	end
	fail("%s: no end of %s", path, name)
end

local function region(lines, path, from, to)
	local first

	for i, line in ipairs(lines) do
		if line:find(from, 1, true) then
			if first then
				fail('%s: two lines with "%s"', path, from)
			end
			first = i
		end
	end
	if not first then
		fail('%s: no line with "%s"', path, from)
	end
	for last = first, #lines do
		if lines[last]:find(to, 1, true) then
			return slice(lines, first, last)
		end
	end
	fail('%s: no line with "%s" after "%s"', path, to, from)
end

-- What all lines are indented by is of no interest here.
local function without_margin(text)
	local margin

	for line in (text .. "\n"):gmatch("([^\n]*)\n") do
		local tabs = #line:match("^\t*")

		if line ~= "" then
			margin = margin and math.min(margin, tabs) or tabs
		end
	end
	return ("\n" .. text):gsub("\n" .. ("\t"):rep(margin or 0), "\n"):sub(2)
end

local function show_code(block)
	local path, part = block.attributes.file, block.attributes.part
	local from, to = block.attributes.from, block.attributes.to
	local label

	if not path then
		if block.classes:includes("sh") then
			for line in (block.text .. "\n"):gmatch("([^\n]*)\n") do
				fact("command", line)
			end
		elseif block.classes:includes("c") then
			fail("code that is in no file: %s", block.text:sub(1, 40))
		end
		return block
	end
	if block.text ~= "" then
		fail("text in a block that shows %s", path)
	end
	local lines = solved_lines(path)

	if part then
		block.text = named_part(lines, path, part)
		label = path .. ": " .. part:gsub("^([%l_%d]+)$", "%1()")
	else
		block.text = region(lines, path, from or fail("no part of %s", path), to or from)
		label = path
	end
	block.text = without_margin(block.text)
	block.attributes = {}
	fact("snippet", label)
	return pandoc.Div({
		pandoc.Plain({ pandoc.Code(label) }), block,
	}, pandoc.Attr("", { "listing" }))
end

local function show_image(image)
	local alt = pandoc.utils.stringify(image.caption)

	fact("figure", image.src)
	if #alt < 40 then
		fail("%s: a text of fewer than 40 characters does not stand for a picture", image.src)
	end
	local svg = read_all("book/" .. image.src)

	if target ~= "html" then
		return image
	end
	-- In the page itself, so that its lines have the colour of the page's text.
	svg = svg:gsub("^.-(<svg)", "%1"):gsub("<svg", '<svg role="img" aria-label="' ..
		alt:gsub('&', '&amp;'):gsub('"', '&quot;') .. '"', 1)
	return pandoc.RawInline("html", svg)
end

local function turn_link(link)
	local page, id = link.target:match("^([%w-]+)%.md#?(.*)$")

	if link.target:match("^%a+:") then
		fact("external", link.target)
		return link
	end
	if link.target:match("^#") then
		page, id = chapter, link.target:sub(2)
	elseif not page then
		fail("a link to %s, which is not a chapter", link.target)
	end
	if target == "html" then
		link.target = page .. ".html" .. (id ~= "" and "#" .. id or "")
		fact("link", link.target)
	else
		link.target = "#" .. page .. (id ~= "" and "-" .. id or "")
	end
	return link
end

local function note_name(code)
	local text = code.text

	if text:match("^make %l") then
		fact("command", text)
	elseif text:match("^%l+/[%w_./-]+$") or text:match("^%l+/%d%d%-[%w_./-]*$") then
		fact("path", text)
	elseif text:match("^[%l_%d]+%(%)$") then
		fact("function", text:sub(1, -3))
	end
end

local function quoted(text)
	return '"' .. text:gsub('[%c"\\<]', function(c)
		return ("\\u%04x"):format(c:byte())
	end) .. '"'
end

-- One entry a section: its place, its title, its words.
local function note_sections(blocks, title)
	local id, heading, words = "", title, {}

	local function note()
		add_line(index, ("[%s, %s, %s, %s],"):format(
			quoted(chapter .. ".html" .. (id ~= "" and "#" .. id or "")), quoted(title),
			quoted(heading), quoted(table.concat(words, " "))))
		words = {}
	end
	for _, block in ipairs(blocks) do
		if block.t == "Header" and block.level > 1 then
			note()
			id, heading = block.identifier, pandoc.utils.stringify(block)
		elseif block.t ~= "Header" then
			table.insert(words, pandoc.utils.stringify(block))
		end
	end
	note()
end

local function text_of(meta)
	return meta and pandoc.utils.stringify(meta)
end

function Pandoc(doc)
	chapter, target = text_of(doc.meta.chapter), text_of(doc.meta.target)
	facts, index = text_of(doc.meta.facts), text_of(doc.meta.index)
	local title
	local seen = false

	doc = doc:walk({ Code = note_name })
	doc = doc:walk({
		Header = function(header)
			if header.level == 1 and not seen then
				seen = true
				title = pandoc.utils.stringify(header)
				header.identifier = target == "html" and "top" or chapter
			elseif target ~= "html" then
				header.identifier = chapter .. "-" .. header.identifier
			end
			return header
		end,
		-- The licence: before the first heading it would make a chapter of its own.
		RawBlock = function(block)
			return block.text:match("^<!%-%-") and {} or block
		end,
		CodeBlock = show_code,
		Image = show_image,
		Link = turn_link,
	})
	if not title then
		fail("no title")
	end
	if index then
		note_sections(doc.blocks, title)
	end
	doc.meta.pagetitle = title
	return doc
end
