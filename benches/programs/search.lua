-- A long text, and words looked up in it; and other work, of which the lookups are as small a part as the argument says: with 1 there
-- is none, with 20 they take about a twentieth of the run.
local whole = tonumber(arg[1]) or 1

local words = {}
for k = 1, 400 do words[k] = ("w%x"):format(k * 7919 % 65521) end
local text = table.concat(words, " "):rep(8)

local found = 0
for k = 1, 1000 do
    if text:find("w" .. k .. "f ", 1, true) then found = found + 1 end
end
print(found)

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum, counts = 0, {}
for turn = 1, whole - 1 do
    sum = sum + fib(14)
    for i = 1, 700 do
        local key = "k" .. i % 97
        counts[key] = (counts[key] or 0) + #tostring(i)
    end
end
print(sum, counts.k1)
