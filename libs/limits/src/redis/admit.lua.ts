import { LAPSED_PER_CALL } from '../admission.js';
import { CLOCK, FREE_LAPSED, NO_GEN, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, the records in order of checking, the balance's record, units, due.
 * ARGV: node, test clock or '', unit, packed call {version, credit limit, reservation, tokens, lease ms},
 * packed limits {rpm, rpd, tpm, cap} per record, names of all records joined by a line feed.
 *
 * Answers one line: `stale <gen>`, `missing <gen>`, `gone`, `ok <seconds> <minute> {<rpm> <rpd> <tpm>}... {<left or ->}...`, or
 * `refused <index> <metric> <current> <limit> <seconds or -> <0|1>` (index 0 = the balance).
 */
export const ADMIT = `
${CLOCK}
local last = #KEYS
local raws = redis.call('MGET', unpack(KEYS, 1, last - 2))
local node, acct = ARGV[1], raws[1]
local gen, stampedIn, pv, nextLapse = '${NO_GEN}', '${NO_GEN}', -1, 0
if acct then
  gen, stampedIn = string.sub(acct, 1, 32), string.sub(acct, 33, 64)
  pv, nextLapse = struct.unpack('<dd', acct, 65)
end
local made = string.sub(gen, 1, 16) ~= node
if made then
  local t = redis.call('TIME')
  gen = node .. string.sub(redis.sha1hex(t[1] .. ' ' .. t[2] .. ' ' .. ARGV[3]), 1, 16)
end
if now >= nextLapse then
  local lapsed = redis.call('ZRANGEBYSCORE', KEYS[last], '-inf', now, 'LIMIT', 0, ${LAPSED_PER_CALL})
  if #lapsed > 0 then
    ${RECORDS}
    ${FREE_LAPSED}
    raws = redis.call('MGET', unpack(KEYS, 1, last - 2))
  end
  local first = redis.call('ZRANGE', KEYS[last], 0, 0, 'WITHSCORES')
  nextLapse = math.min(first[2] and tonumber(first[2]) or math.huge, now + 60000)
  made = true
end
if made then redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<dd', pv, nextLapse)) end
local version, credit, reservation, tokens, lease = struct.unpack('<ddddd', ARGV[4])
if pv ~= version or stampedIn ~= gen then return 'stale ' .. gen end

local count = last - 3
local limits = {struct.unpack('<' .. string.rep('d', 4 * (count - 1)), ARGV[5])}
local minute, day = math.floor(now / 60000), math.floor(now / 86400000)
local records = {}
for i = 1, count do
  local raw = raws[i + 1]
  local s
  if raw then
    s = {struct.unpack('<dddddddddd', raw)}
    if s[1] ~= minute then s[1], s[2], s[3] = minute, 0, 0 end
    if s[4] ~= day then s[4], s[5] = day, 0 end
  else
    s = {minute, 0, 0, day, 0, 0, -1, 0, 0, 0}
  end
  records[i] = s
end
local valid = tonumber(string.sub(gen, 17, 29), 16)
if reservation > 0 then
  if credit < math.huge and records[count][10] ~= valid then return 'missing ' .. gen end
  for i = 1, count - 1 do
    if limits[4 * i] < math.huge and records[i][10] ~= valid then return 'missing ' .. gen end
  end
end

local seconds = math.ceil((60000 - now % 60000) / 1000)
local known = redis.call('HGET', KEYS[last - 1], ARGV[3])
if known then
  if string.sub(known, 1, 1) == 'u' then return 'gone' end
else
  for i = 1, count - 1 do
    local s, at = records[i], 4 * i - 3
    local rpm, rpd, tpm, cap = limits[at], limits[at + 1], limits[at + 2], limits[at + 3]
    if s[2] >= rpm then
      return string.format('refused %d rpm %.0f %.0f %d 0', i, s[2], rpm, seconds)
    end
    if s[5] >= rpd then
      local untilDay = math.ceil((86400000 - now % 86400000) / 1000)
      return string.format('refused %d rpd %.0f %.0f %d 0', i, s[5], rpd, untilDay)
    end
    if s[3] >= tpm then
      return string.format('refused %d tpm %.0f %.0f %d 0', i, s[3], tpm, seconds)
    end
    if reservation > 0 and s[6] + s[8] + s[9] >= cap then
      local spent = s[6] + s[8]
      return string.format('refused %d spend_cap %.0f %.0f - %d', i, spent + s[9], cap, spent < cap and 1 or 0)
    end
  end
  local s = records[count]
  if reservation > 0 and s[6] - s[8] - s[9] + credit <= 0 then
    local left = s[6] - s[8]
    return string.format('refused 0 balance %.0f %.0f - %d', left - s[9], -credit, left + credit > 0 and 1 or 0)
  end

  local writes = {}
  for i = 1, count do
    local s = records[i]
    s[2], s[3], s[5], s[9] = s[2] + 1, s[3] + tokens, s[5] + 1, s[9] + reservation
    writes[2 * i - 1] = KEYS[i + 1]
    writes[2 * i] = struct.pack('<dddddddddd', s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10])
  end
  redis.call('MSET', unpack(writes))
  redis.call('HSET', KEYS[last - 1], ARGV[3], 'r' .. struct.pack('<ddd', reservation, minute, tokens) .. ARGV[6])
  redis.call('ZADD', KEYS[last], now + lease, ARGV[3])
  if now + lease < nextLapse then
    redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<dd', pv, now + lease))
  end
end

local answer = {seconds, minute}
for i = 1, count - 1 do
  local s, at = records[i], 3 * i
  answer[at], answer[at + 1], answer[at + 2] = s[2], s[5], s[3]
end
local format = 'ok %d %d' .. string.rep(' %d %d %d', count - 1)
for i = 1, count do
  local s = records[i]
  local left = i < count and limits[4 * i] - s[6] or s[6] + credit
  if left < math.huge and s[10] == valid then
    format = format .. ' %.0f'
    answer[#answer + 1] = left - s[8] - s[9]
  else
    format = format .. ' -'
  end
end
return string.format(format, unpack(answer))
`;
