package cluster

// settle is the script that brings the shared buckets of KEYS up to date with a node, and may take from them. For each key it gets
// four numbers in microseconds: what the node granted since its last call, how far ahead its own bucket is full, what a request
// would take (0: there is none) and what the bucket holds. For each key it returns two numbers: whether the request passes, and how
// far ahead the bucket is full now. It is ratelimit.Decide again, in durations, so that the clocks of two machines are never
// compared.
//
// It formats numbers digit by digit, because Lua's own format would round the time.
const settle = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local horizon = 3600000000
local answers = {}
for i, key in ipairs(KEYS) do
  local granted, known = tonumber(ARGV[4*i-3]), tonumber(ARGV[4*i-2])
  local take, burst = tonumber(ARGV[4*i-1]), tonumber(ARGV[4*i])
  local was = math.min(math.max((tonumber(redis.call('GET', key)) or 0) - now, 0), horizon)
  local ahead = math.min(math.max(was + granted, known), horizon)
  local ok = 1
  if take > 0 and ahead + math.min(take, burst) > burst then
    ok = 0
  else
    ahead = math.min(ahead + take, horizon)
  end
  if ahead > was then
    redis.call('SET', key, string.format('%.0f', now + ahead), 'PX', string.format('%.0f', math.ceil(ahead / 1000)))
  end
  answers[2*i-1], answers[2*i] = ok, ahead
end
return answers`
