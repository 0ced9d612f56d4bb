-- Whole requests from a file, one after the other; every answer is looked at.
-- The file: the length of a request on a line of its own, then its bytes, and so on.

local requests, place = {}, 0
local threads = {}
bad, received, example = 0, 0, ""

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
  assert(#requests > 0)
end

function request()
  place = place % #requests + 1
  return requests[place]
end

function response(status, headers, body)
  received = received + #body
  if status ~= 200 or body:find('"errors"', 1, true) then
    bad = bad + 1
    if example == "" then example = status .. " " .. body:sub(1, 300) end
  end
end

function done(summary, latency, _)
  local wrong, bytes, shown = 0, 0, ""
  for _, thread in ipairs(threads) do
    wrong, bytes = wrong + thread:get("bad"), bytes + thread:get("received")
    shown = shown == "" and thread:get("example") or shown
  end
  local broken = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.stderr:write(string.format(
    "figures %d %d %d %d %d %d %d\n", summary.requests, summary.duration, wrong + broken, bytes,
    latency:percentile(50), latency:percentile(99), #shown))
  io.stderr:write(shown)
end
