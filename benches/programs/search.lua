-- Text as programs make and search it: paragraphs are built, and words looked up in them.
local paragraphs = {}
for i = 1, 20 do
    local words = {}
    for k = 1, 400 do words[k] = ("w%x"):format(i * k * 7919 % 65521) end
    paragraphs[i] = table.concat(words, " ")
end

local found = 0
for _, paragraph in ipairs(paragraphs) do
    for k = 1, 100 do
        if paragraph:find("w" .. k .. "f ", 1, true) then found = found + 1 end
    end
end
print(found)
