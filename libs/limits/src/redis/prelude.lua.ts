import { UNNAMED_UNITS } from '@gateway/contracts';
import { LAPSED_NAMES } from '../admission.js';
import { MAX_NANO } from '../script-nano.js';

/** Layout of the records that this release writes, and the only one that it reads. */
const LAYOUT = 1;

/** The layout's byte, as text of Lua. */
export const LAYOUT_BYTE = `\\${LAYOUT}`;

/** First word of what a script says where it does not know the layout. */
export const UNKNOWN_LAYOUT = 'LAYOUT';

/** Refuses records of another layout: their amounts would be read wrong. Needs `acct`. */
export const KNOWN_LAYOUT = `
local layout = string.byte(acct, 89) or 1
if layout ~= ${LAYOUT} then
  return redis.error_reply('${UNKNOWN_LAYOUT} ' .. layout .. ' of the records of an account is not known to this release, which knows '
    .. '${LAYOUT}: start the release that wrote them, or a later one')
end
`;

/**
 * Value in place of a generation, and the layout that the scripts use. The keys of one account are `acct:{a}`,
 * `units:{a}` and `due:{a}`; records are found by name.
 * Records are packed little-endian doubles, because one MGET and one MSET of them cost half of what hashes do:
 * - `acct:{a}`: gen (32 characters); the gen that the principal version was stamped in (32); that version; a time
 * before which no lease ends, so that hardly any admit looks for lapsed units; a time until which the account's
 * unposted spend is in doubt (see PUT); a byte with the layout of all records of the account, 1 where it is missing. Releases
 * before it read what stands in front of it.
 * - `scope:{a}:<name>`: 1 minute, 2 rpm, 3 tokens of the minute, 4 day, 5 rpd, 6 posted, 7 pver (-1 = absent; the
 * history of the ledger times 2^32, and its version), 8 unposted, 9 reserved; 10 the gen that posted is valid for, as a
 * number of 52 of its bits (0 = none); 11 the worst cases of what is reserved.
 * - field of `units:{a}`: state `r` or `u`, nano, worst case, minute and token estimate it was counted with, record
 * names.
 * - `due:{a}`: score is the lease end of an `r`, and 1e15 + time of the look-up of a `u`. The settled units of
 * an outage never stand between admission and the lapsed leases.
 * - field of `lost:{a}`: the packed nano of a unit that lapsed and that nobody has spoken of since; one more field
 * counts those that found no room. Written where a unit lapses alone, kept for 30 days after the last one.
 */
export const NO_GEN = '-'.repeat(32);

/** Time in milliseconds. ARGV[2] is empty except in tests that need a fixed clock: Redis' own TIME is the rule. */
export const CLOCK = `
local now
if ARGV[2] == '' then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
else
  now = tonumber(ARGV[2])
end
`;

/** Reads `acct`. The number of a gen is compared in each record, because a string there costs twice. */
export const ACCOUNT = `
local acct = redis.call('GET', KEYS[1])
local gen, stampedIn, pv, nextLapse, doubt = '${NO_GEN}', '${NO_GEN}', -1, 0, 0
if acct then
  ${KNOWN_LAYOUT}
  gen, stampedIn = string.sub(acct, 1, 32), string.sub(acct, 33, 64)
  pv, nextLapse, doubt = struct.unpack('<ddd', acct, 65)
end
local function saveAccount()
  redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<ddd', pv, nextLapse, doubt) .. '${LAYOUT_BYTE}')
end
`;

/** Commands over lists of any length: a call of Lua takes some thousand arguments at most. */
export const LISTS = `
local STEP = 1000
local function inSteps(list, work)
  for from = 1, #list, STEP do work(from, math.min(from + STEP - 1, #list)) end
end
`;

/**
 * Records of one account, named by `acctKey`, `unitsKey` and `dueKey`. What units change is summed up by the list of
 * records that they count on, because most units of a call share one: `sums` holds {reserved, unposted, windows, worst cases}
 * by list, windows {tokens, requests} by minute. `apply` then reads, changes and writes each record once; `hold` adds to the
 * records at once, because what it holds is bounded by what they hold already. Needs LISTS.
 */
export const RECORDS = `
local prefix = 'scope' .. string.sub(acctKey, 5) .. ':'
local lostKey = 'lost' .. string.sub(acctKey, 5)
local records, sums, gone = {}, {}, {}
local function load(names)
  local fresh, keys = {}, {}
  for i = 1, #names do
    local name = names[i]
    if not records[name] then
      records[name] = true
      fresh[#fresh + 1], keys[#keys + 1] = name, prefix .. name
    end
  end
  inSteps(keys, function(from, to)
    local raws = redis.call('MGET', unpack(keys, from, to))
    for i = from, to do
      local raw = raws[i - from + 1]
      records[fresh[i]] = raw and {struct.unpack('<ddddddddddd', raw)} or {0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0}
    end
  end)
end
local function save()
  local sets = {}
  for name, s in pairs(records) do
    local raw = struct.pack('<ddddddddddd', s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
    if s[8] == 0 and s[9] == 0 then
      -- At rest for two days: posted is read from the ledger again. MSET takes the expiry off.
      redis.call('SET', prefix .. name, raw, 'EX', 172800)
    else
      sets[#sets + 1] = prefix .. name
      sets[#sets + 1] = raw
    end
  end
  inSteps(sets, function(from, to) redis.call('MSET', unpack(sets, from, to)) end)
end
local function sumOf(list)
  local sum = sums[list]
  if not sum then
    sum = {0, 0, {}, 0}
    sums[list] = sum
  end
  return sum
end
local function inWindow(sum, minute, tokens, requests)
  local window = sum[3][minute]
  if window then
    window[1], window[2] = window[1] + tokens, window[2] + requests
  else
    sum[3][minute] = {tokens, requests}
  end
end
local function hold(list, nano)
  local names = {}
  for name in string.gmatch(list, '[^\\n]+') do names[#names + 1] = name end
  load(names)
  for i = 1, #names do
    local s = records[names[i]]
    nano = math.max(0, math.min(nano, ${MAX_NANO} - s[9], ${MAX_NANO} - s[11]))
  end
  for i = 1, #names do
    local s = records[names[i]]
    s[9], s[11] = s[9] + nano, s[11] + nano
  end
  return nano
end
local function release(raw)
  local sum, nano, worst = sumOf(string.sub(raw, 34)), struct.unpack('<dd', raw, 2)
  local at = string.byte(raw) == 114 and 1 or 2
  sum[at], sum[4] = sum[at] - nano, sum[4] - worst
end
local function drop()
  inSteps(gone, function(from, to)
    redis.call('HDEL', unitsKey, unpack(gone, from, to))
    redis.call('ZREM', dueKey, unpack(gone, from, to))
  end)
end
local function apply()
  for list, sum in pairs(sums) do
    local names = {}
    for name in string.gmatch(list, '[^\\n]+') do names[#names + 1] = name end
    load(names)
    for i = 1, #names do
      local s = records[names[i]]
      s[9], s[8], s[11] = s[9] + sum[1], s[8] + sum[2], s[11] + sum[4]
      for minute, window in pairs(sum[3]) do
        if s[1] == minute then
          s[3], s[2] = math.max(0, s[3] + window[1]), math.max(0, s[2] + window[2])
        end
        if s[4] == math.floor(minute / 1440) then s[5] = math.max(0, s[5] + window[2]) end
      end
    end
  end
  save()
end
`;

/**
 * Frees what `lapsed` names, and keeps the names: their ends may have gone with an edge. Needs RECORDS. It begins with
 * what needs no memory: Redis at its `maxmemory` refuses a script the first write that may need some, and no later one.
 */
export const FREE_LAPSED = `
local room, lost, unnamed = ${LAPSED_NAMES} - redis.call('HLEN', lostKey), {}, 0
inSteps(lapsed, function(from, to)
  local raws = redis.call('HMGET', unitsKey, unpack(lapsed, from, to))
  for i = from, to do
    local raw = raws[i - from + 1]
    if raw then
      release(raw)
      if room > 0 then
        local n = #lost
        lost[n + 1], lost[n + 2] = lapsed[i], string.sub(raw, 2, 9)
        room = room - 1
      else
        unnamed = unnamed + 1
      end
    end
    gone[#gone + 1] = lapsed[i]
  end
end)
drop()
inSteps(lost, function(from, to) redis.call('HSET', lostKey, unpack(lost, from, to)) end)
if unnamed > 0 then redis.call('HINCRBY', lostKey, '${UNNAMED_UNITS}', unnamed) end
redis.call('EXPIRE', lostKey, 2592000)
apply()
`;
