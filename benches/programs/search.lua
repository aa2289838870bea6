-- A long text, and words looked up in it; and between the lookups other work, of which those are as small a part as the argument says: with 1
-- there is none, with 20 they take about a twentieth of the run.
local whole = tonumber(arg[1]) or 1

local words = {}
for k = 1, 400 do words[k] = ("w%x"):format(k * 7919 % 65521) end
local text = table.concat(words, " "):rep(8)

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local found, sum, counts = 0, 0, {}
for turn = 1, 50 do
    for k = 10 * turn, 10 * turn + 9 do
        if text:find("w" .. k .. "f ", 1, true) then found = found + 1 end
    end
    for part = 1, whole - 1 do
        sum = sum + fib(12)
        for i = 1, 330 do
            local key = "k" .. i % 97
            counts[key] = (counts[key] or 0) + #tostring(i)
        end
    end
end
print(found, sum, counts.k1)
