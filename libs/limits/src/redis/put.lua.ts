import { DOUBT_MS, SETTLED_DUE_MS } from '../admission.js';
import { CLOCK, LAYOUT_BYTE, LISTS, NO_GEN, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, units, due of each account. ARGV: node, test clock or '', packed {units, lists} per account, packed
 * {action, nano, tokens, lease ms, list} per unit (actions: 0 renew, 1 settle, 2 cancel); then for each account its lists
 * of record names, each joined by a line feed, and the ids of its units.
 *
 * A settle of an amount that finds no unit is in doubt: the store lost the unit, or the mirror of its posting came first
 * and it would count twice. It is due for a look into the ledger at once, and for a while the account's money refuses
 * nothing for good.
 *
 * A unit that is registered again holds its worst case. A cancelled unit never ran: its windows get back what admission
 * counted.
 *
 * The correction of tokens needs the unit in state r, so a repeated put corrects once; a unit that was registered again
 * after a loss was never counted in the window and is not corrected.
 */
export const PUT = `
${CLOCK}
${LISTS}
local uncounted = struct.pack('<dd', -1, 0)
local at, unit = 4, 0
for k = 1, #KEYS, 3 do
  local acctKey, unitsKey, dueKey = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  ${RECORDS}
  local count, lists = struct.unpack('<dd', ARGV[3], 16 * (k - 1) / 3 + 1)
  local listAt, ids = at, {}
  for i = 1, count do ids[i] = ARGV[at + lists + i] end
  at = at + lists + count
  local known, scores, heard, firstLapse, isDoubted = {}, {}, {}, math.huge, false
  inSteps(ids, function(from, to)
    local raws = redis.call('HMGET', unitsKey, unpack(ids, from, to))
    for i = from, to do
      if known[ids[i]] == nil then known[ids[i]] = raws[i - from + 1] end
    end
  end)
  for i = 1, count do
    local id = ids[i]
    local action, nano, tokens, lease, list = struct.unpack('<ddddd', ARGV[4], 40 * unit + 1)
    unit = unit + 1
    local raw = known[id]
    local state = raw and string.byte(raw) or 0
    if state == 0 then heard[#heard + 1] = id end
    if action == 0 and state ~= 117 then
      if state == 0 then
        list = ARGV[listAt + list]
        nano = hold(list, nano)
        known[id] = 'r' .. struct.pack('<dd', nano, nano) .. uncounted .. list
      end
      scores[id] = now + lease
      firstLapse = math.min(firstLapse, now + lease)
    elseif action == 1 and state ~= 117 then
      local rest
      local due = ${SETTLED_DUE_MS}
      if state == 114 then
        local held, worst, minute, estimate = struct.unpack('<dddd', raw, 2)
        rest = string.sub(raw, 18)
        local sum = sumOf(string.sub(raw, 34))
        sum[1], sum[2], sum[4] = sum[1] - held, sum[2] + nano, sum[4] - worst
        inWindow(sum, minute, tokens - estimate, 0)
      else
        list = ARGV[listAt + list]
        rest = uncounted .. list
        local sum = sumOf(list)
        sum[2] = sum[2] + nano
        if nano > 0 then due, isDoubted = 0, true end
      end
      known[id] = 'u' .. struct.pack('<dd', nano, 0) .. rest
      scores[id] = 1e15 + now + due
    elseif action == 2 and state == 114 then
      local minute, estimate = struct.unpack('<dd', raw, 18)
      release(raw)
      inWindow(sumOf(string.sub(raw, 34)), minute, -estimate, -1)
      known[id], scores[id] = false, false
    end
  end

  local fields, due = {}, {}
  for id, score in pairs(scores) do
    if score then
      local n = #due
      fields[n + 1], fields[n + 2] = id, known[id]
      due[n + 1], due[n + 2] = score, id
    else
      gone[#gone + 1] = id
    end
  end
  inSteps(due, function(from, to)
    redis.call('HSET', unitsKey, unpack(fields, from, to))
    redis.call('ZADD', dueKey, unpack(due, from, to))
  end)
  inSteps(heard, function(from, to) redis.call('HDEL', lostKey, unpack(heard, from, to)) end)
  drop()
  apply()
  if firstLapse < math.huge or isDoubted then
    local acct = redis.call('GET', acctKey) or ('${NO_GEN}${NO_GEN}' .. struct.pack('<ddd', -1, 0, 0) .. '${LAYOUT_BYTE}')
    local lapse, doubt = struct.unpack('<dd', acct, 73)
    if firstLapse < lapse or isDoubted then
      if isDoubted then doubt = now + ${DOUBT_MS} end
      local changed = struct.pack('<dd', math.min(firstLapse, lapse), doubt)
      redis.call('SET', acctKey, string.sub(acct, 1, 72) .. changed .. string.sub(acct, 89))
    end
  end
end
return ''
`;
