import { SETTLED_DUE_MS } from '../admission.js';
import { ACCOUNT, CLOCK, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', packed {nano, tokens, lease ms} per unit, then for each unit
 * its action (`r`, `u`, `x`), its id and the names of its records joined by a line feed.
 *
 * A cancelled unit never ran: its windows get back what admission counted.
 *
 * The correction of tokens needs the unit in state r, so a repeated put corrects once; a unit that was registered
 * again after a loss was never counted in the window and is not corrected.
 */
export const PUT = `
${CLOCK}
${RECORDS}
${ACCOUNT}
local known = {}
local ids = {}
for i = 5, #ARGV, 3 do ids[#ids + 1] = ARGV[i] end
local raws = redis.call('HMGET', unitsKey, unpack(ids))
for i, id in ipairs(ids) do if known[id] == nil then known[id] = raws[i] end end

local function correct(raw, tokens)
  local minute, estimate = struct.unpack('<dd', raw, 10)
  for name in names(raw) do
    local s = record(name)
    if s[1] == minute then s[3] = math.max(0, s[3] + tokens - estimate) end
  end
end
local function uncount(raw)
  local minute = struct.unpack('<d', raw, 10)
  for name in names(raw) do
    local s = record(name)
    if s[1] == minute then s[2] = math.max(0, s[2] - 1) end
    if s[4] == math.floor(minute / 1440) then s[5] = math.max(0, s[5] - 1) end
  end
end
local function write(id, state, nano, rest, score)
  local raw = state .. struct.pack('<d', nano) .. rest
  known[id] = raw
  redis.call('HSET', unitsKey, id, raw)
  redis.call('ZADD', dueKey, score, id)
  return raw
end

local uncounted = struct.pack('<dd', -1, 0)
for i, id in ipairs(ids) do
  local nano, tokens, lease = struct.unpack('<ddd', ARGV[3], 24 * i - 23)
  local action, scopes = ARGV[3 * i + 1], ARGV[3 * i + 3]
  local raw = known[id]
  local state = raw and string.sub(raw, 1, 1) or '-'
  if action == 'r' and state == '-' then
    add(write(id, 'r', nano, uncounted .. scopes, now + lease), 9, nano)
    if acct and now + lease < nextLapse then
      nextLapse = now + lease
      saveAccount()
    end
  elseif action == 'r' and state == 'r' then
    redis.call('ZADD', dueKey, now + lease, id)
    if acct and now + lease < nextLapse then
      nextLapse = now + lease
      saveAccount()
    end
  elseif action == 'u' and state ~= 'u' then
    local rest = uncounted .. scopes
    if state == 'r' then
      correct(raw, tokens)
      add(raw, 9, -struct.unpack('<d', raw, 2))
      rest = string.sub(raw, 10)
    end
    add(write(id, 'u', nano, rest, 1e15 + now + ${SETTLED_DUE_MS}), 8, nano)
  elseif action == 'x' and state == 'r' then
    correct(raw, 0)
    uncount(raw)
    forget(id, raw)
    known[id] = false
  end
end
save()
return ''
`;
