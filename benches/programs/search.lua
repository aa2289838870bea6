-- A long text, and words looked up in it.
local words = {}
for k = 1, 400 do words[k] = ("w%x"):format(k * 7919 % 65521) end
local text = table.concat(words, " "):rep(8)

local found = 0
for k = 1, 1000 do
    if text:find("w" .. k .. "f ", 1, true) then found = found + 1 end
end
print(found)
