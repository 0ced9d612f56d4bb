-- Sends whole requests from a file, one after the other, and looks at every answer. Each request gets a traceparent
-- of its own after its first line, as from a client that is traced, so that no two requests are the same bytes.
-- The file has the length of a request on a line of its own, then its bytes, and so on.
-- Arguments: the file, how many of its requests to skip, 16 hexadecimal digits that no other load has.

local requests, ends, place = {}, {}, 0
local sent, load = 0, ""
local threads = {}
bad, received, example = 0, 0, ""

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for length in function() return file:read("*l") end do
    local whole = file:read(tonumber(length))
    requests[#requests + 1] = whole
    ends[#requests] = select(2, whole:find("\r\n", 1, true))
  end
  file:close()
  place, load = tonumber(arguments[2]), arguments[3]
  assert(#requests > 0)
end

function request()
  place, sent = place % #requests + 1, sent + 1
  local whole, at = requests[place], ends[place]
  local traceparent = string.format("traceparent: 00-%s%016x-%016x-01\r\n", load, sent, sent)
  return whole:sub(1, at) .. traceparent .. whole:sub(at + 1)
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
