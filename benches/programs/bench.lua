-- What an interpreter does all day: calls, tables, strings, sorting, closures, coroutines, errors caught.
local scale = tonumber(arg[1]) or 1

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(18 + scale))

local words = {}
for i = 1, 20000 * scale do words[i] = tostring(i * 7919 % 100003):rep(2) end
table.sort(words)
local length = 0
for _, word in ipairs(words) do length = length + #word:gsub("1", "one") end
print(length)

local counts = {}
for i = 1, 20000 * scale do
    local key = ("k%d"):format(i % 997)
    counts[key] = (counts[key] or 0) + 1
end
print(counts.k1)

local caught = 0
for i = 1, 5000 * scale do
    if not pcall(function() if i % 2 == 0 then error("even") end end) then caught = caught + 1 end
end
print(caught)

local steps = coroutine.wrap(function() for i = 1, 10000 * scale do coroutine.yield(i) end end)
local sum = 0
for _ = 1, 10000 * scale do sum = sum + steps() end
print(sum)
