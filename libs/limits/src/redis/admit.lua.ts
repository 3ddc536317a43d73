import { HELD_RECORDS, LAPSED_PER_CALL } from '../admission.js';
import { MAX_NANO } from '../script-nano.js';
import { CLOCK, FREE_LAPSED, KNOWN_LAYOUT, LAYOUT_BYTE, LISTS, NO_GEN, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, the records in order of checking, the balance's record, units, due.
 * ARGV: node, test clock or '', unit; packed call {version, credit limit, reservation, worst case, tokens, lease ms};
 * packed limits {rpm, rpd, tpm, cap} per record; names of all records joined by a line feed.
 *
 * Answers `k`, packed {now, the gen's number} and the records as they are stored, because printing their numbers would
 * take a fourth of the call; or a line: `stale <gen>`, `missing <gen>`, `gone`, or
 * `refused <index> <metric> <current> <limit> <seconds or -> <0|1>`, where index 0 is the balance. Behind that come the
 * first record's requests of this minute, the seconds until it rolls, and the worst cases in flight: of the record that refused, of
 * the account, and of its batches, videos and realtime sessions. Or `doubted` in place of a rejection for money while
 * the unposted spend is in doubt.
 *
 * Limits are checked against worst cases, so that a cap is overrun by one request at most. Held is the usual cost; where not
 * all worst cases fit, it is this unit's worst case. Both are cut, so that sums stay exact in a double.
 *
 * A lease of 0 is a trial: nothing is counted, and the answer is `t`, the same packed numbers and records, then the
 * rejection's line where there is one.
 *
 * The records are gone through once, and packed for the case that nothing refuses.
 */
export const ADMIT = `
${CLOCK}
local last = #KEYS
local raws = redis.call('MGET', unpack(KEYS, 1, last - 2))
local node, acct = ARGV[1], raws[1]
local gen, stampedIn, pv, nextLapse, doubt = '${NO_GEN}', '${NO_GEN}', -1, 0, 0
if acct then
  ${KNOWN_LAYOUT}
  gen, stampedIn = string.sub(acct, 1, 32), string.sub(acct, 33, 64)
  pv, nextLapse, doubt = struct.unpack('<ddd', acct, 65)
end
local made = string.sub(gen, 1, 16) ~= node
if made then
  local t = redis.call('TIME')
  gen = node .. string.sub(redis.sha1hex(t[1] .. ' ' .. t[2] .. ' ' .. ARGV[3]), 1, 16)
end
if now >= nextLapse then
  local lapsed = redis.call('ZRANGEBYSCORE', KEYS[last], '-inf', now, 'LIMIT', 0, ${LAPSED_PER_CALL})
  if #lapsed > 0 then
    local acctKey, unitsKey, dueKey = KEYS[1], KEYS[last - 1], KEYS[last]
    ${LISTS}
    ${RECORDS}
    ${FREE_LAPSED}
    raws = redis.call('MGET', unpack(KEYS, 1, last - 2))
  end
  local first = redis.call('ZRANGE', KEYS[last], 0, 0, 'WITHSCORES')
  nextLapse = math.min(first[2] and tonumber(first[2]) or math.huge, now + 60000)
  made = true
end
if made then redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<ddd', pv, nextLapse, doubt) .. '${LAYOUT_BYTE}') end
local version, credit, reservation, worst, tokens, lease = struct.unpack('<dddddd', ARGV[4])
if pv ~= version or stampedIn ~= gen then return 'stale ' .. gen end

local count, limits = last - 3, ARGV[5]
local minute, day = math.floor(now / 60000), math.floor(now / 86400000)
local valid = tonumber(string.sub(gen, 17, 29), 16)
local known = redis.call('HGET', KEYS[last - 1], ARGV[3])
local asked, nano, requests, estimate = reservation > 0, reservation, 1, tokens
local isTrial = lease == 0
local counted = worst
if known or isTrial then nano, counted, requests, estimate = 0, 0, 0, 0 end
local refused
local firstRpm = 0
local hasRoom, isFinal = true, false
local heldHere, heldByAccount = 0, 0
local mostHeld, mostWorst = 0, 0
local packed, writes = {}, {}
for i = 1, count do
  local raw = raws[i + 1]
  local atMinute, rpm, tpm, atDay, rpd, posted, pver, unposted, reserved, validFor, worsts =
    0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0
  if raw then
    atMinute, rpm, tpm, atDay, rpd, posted, pver, unposted, reserved, validFor, worsts =
      struct.unpack('<ddddddddddd', raw)
  end
  if atMinute ~= minute then rpm, tpm = 0, 0 end
  if atDay ~= day then rpd = 0 end
  if i == 1 then firstRpm = rpm end
  if i < count then
    local rpmMax, rpdMax, tpmMax, cap = struct.unpack('<dddd', limits, 32 * i - 31)
    local isCapped = asked and cap < math.huge
    if isCapped and validFor ~= valid then return 'missing ' .. gen end
    if refused then
      -- The first violation is the answer.
    elseif rpm >= rpmMax then
      local seconds = math.ceil((60000 - now % 60000) / 1000)
      refused = string.format('refused %d rpm %.0f %.0f %d 0', i, rpm, rpmMax, seconds)
    elseif rpd >= rpdMax then
      local seconds = math.ceil((86400000 - now % 86400000) / 1000)
      refused = string.format('refused %d rpd %.0f %.0f %d 0', i, rpd, rpdMax, seconds)
    elseif tpm >= tpmMax then
      local seconds = math.ceil((60000 - now % 60000) / 1000)
      refused = string.format('refused %d tpm %.0f %.0f %d 0', i, tpm, tpmMax, seconds)
    elseif isCapped then
      local spent = posted + unposted
      if spent + worsts >= cap then
        isFinal, heldHere = spent >= cap, worsts
        refused = string.format('refused %d spend_cap %.0f %.0f - %d', i, spent + worsts, cap, isFinal and 0 or 1)
      end
      hasRoom = hasRoom and spent + worsts + worst <= cap
    end
  elseif asked and credit < math.huge then
    if validFor ~= valid then return 'missing ' .. gen end
    local left = posted - unposted
    if not refused and left - worsts + credit <= 0 then
      isFinal, heldHere = left + credit <= 0, worsts
      refused = string.format('refused 0 balance %.0f %.0f - %d', left - worsts, -credit, isFinal and 0 or 1)
    end
    hasRoom = hasRoom and left - worsts - worst + credit >= 0
  end
  heldByAccount = worsts
  mostHeld, mostWorst = math.max(mostHeld, reserved), math.max(mostWorst, worsts)
  raw = struct.pack('<ddddddddddd', minute, rpm + requests, tpm + estimate, day, rpd + requests,
    posted, pver, unposted, reserved + nano, validFor, worsts + counted)
  packed[i] = raw
  writes[2 * i - 1], writes[2 * i] = KEYS[i + 1], raw
end
if refused and isFinal and now < doubt then
  refused = 'doubted'
elseif refused then
  local longHeld = 'scope' .. string.sub(KEYS[1], 5) .. ':${HELD_RECORDS}'
  local long = redis.call('MGET', longHeld .. 'batch', longHeld .. 'video', longHeld .. 'realtime')
  for i = 1, 3 do long[i] = long[i] and struct.unpack('<d', long[i], 81) or 0 end
  refused = string.format('%s %.0f %d %.0f %.0f %.0f %.0f %.0f', refused, firstRpm,
    math.ceil((60000 - now % 60000) / 1000), heldHere, heldByAccount, long[1], long[2], long[3])
end
if isTrial then
  return 't' .. struct.pack('<dd', now, valid) .. table.concat(packed) .. (refused or '')
elseif known then
  if string.byte(known) == 117 then return 'gone' end
elseif refused then
  return refused
else
  local held = math.max(0, math.min(hasRoom and nano or worst, ${MAX_NANO} - mostHeld))
  worst = math.max(0, math.min(worst, ${MAX_NANO} - mostWorst))
  if held ~= nano or worst ~= counted then
    for i = 1, count do
      local raw = raws[i + 1]
      local reserved, worsts = 0, 0
      if raw then reserved, worsts = struct.unpack('<d', raw, 65), struct.unpack('<d', raw, 81) end
      raw = packed[i]
      packed[i] = string.sub(raw, 1, 64) .. struct.pack('<d', reserved + held) .. string.sub(raw, 73, 80)
        .. struct.pack('<d', worsts + worst)
      writes[2 * i] = packed[i]
    end
    nano = held
  end
  redis.call('MSET', unpack(writes))
  redis.call('HSET', KEYS[last - 1], ARGV[3], 'r' .. struct.pack('<dddd', nano, worst, minute, tokens) .. ARGV[6])
  redis.call('ZADD', KEYS[last], now + lease, ARGV[3])
  if now + lease < nextLapse then
    redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<ddd', pv, now + lease, doubt) .. '${LAYOUT_BYTE}')
  end
end
return 'k' .. struct.pack('<dd', now, valid) .. table.concat(packed)
`;
