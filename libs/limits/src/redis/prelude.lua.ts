/**
 * What the scripts share. KEYS[1] is `acct:{a}`, the last two are `units:{a}` and `due:{a}`.
 *
 * Records are packed little-endian doubles, because one MGET and one MSET of them cost half of what hashes do:
 * - `acct:{a}`: gen (32 characters), the gen that the principal version was stamped in (32), that version, and a
 *   time before which no lease ends, so that hardly any admit looks for lapsed units.
 * - `scope:{a}:<name>`: 1 minute, 2 rpm, 3 tokens of the minute, 4 day, 5 rpd, 6 posted, 7 pver (-1 = absent),
 *   8 unposted, 9 reserved, 10 the gen that posted is valid for, as a number of 52 of its bits (0 = none).
 * - field of `units:{a}`: state `r` or `u`, nano, minute and token estimate it was counted with, record names.
 * - `due:{a}`: score is the lease end of an `r`, and 1e15 + time of the look-up of a `u`, so that the settled
 *   units of an outage never stand between admission and the lapsed leases.
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
local gen, stampedIn, pv, nextLapse = '${NO_GEN}', '${NO_GEN}', -1, 0
if acct then
  gen, stampedIn = string.sub(acct, 1, 32), string.sub(acct, 33, 64)
  pv, nextLapse = struct.unpack('<dd', acct, 65)
end
local function saveAccount() redis.call('SET', KEYS[1], gen .. stampedIn .. struct.pack('<dd', pv, nextLapse)) end
`;

/** Lazy loading and saving of records, and what frees a unit. */
export const RECORDS = `
local unitsKey, dueKey = KEYS[#KEYS - 1], KEYS[#KEYS]
local prefix = 'scope' .. string.sub(KEYS[1], 5) .. ':'
local loaded = {}
local function record(name)
  local s = loaded[name]
  if not s then
    local raw = redis.call('GET', prefix .. name)
    if raw then
      s = {struct.unpack('<dddddddddd', raw)}
    else
      s = {0, 0, 0, 0, 0, 0, -1, 0, 0, 0}
    end
    loaded[name] = s
  end
  return s
end
local function save()
  for name, s in pairs(loaded) do
    local raw = struct.pack('<dddddddddd', s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10])
    if s[8] == 0 and s[9] == 0 then
      -- At rest for two days: posted is read from the ledger again. MSET in admit takes the expiry off.
      redis.call('SET', prefix .. name, raw, 'EX', 172800)
    else
      redis.call('SET', prefix .. name, raw)
    end
  end
end
local function names(raw) return string.gmatch(string.sub(raw, 26), '[^\\n]+') end
local function add(raw, field, nano)
  for name in names(raw) do
    local s = record(name)
    s[field] = s[field] + nano
  end
end
local function forget(unit, raw)
  add(raw, string.sub(raw, 1, 1) == 'r' and 9 or 8, -struct.unpack('<d', raw, 2))
  redis.call('HDEL', unitsKey, unit)
  redis.call('ZREM', dueKey, unit)
end
`;

/** Frees what `lapsed` names, then writes the records back. Needs RECORDS. */
export const FREE_LAPSED = `
for _, unit in ipairs(lapsed) do
  local raw = redis.call('HGET', unitsKey, unit)
  if raw then forget(unit, raw) else redis.call('ZREM', dueKey, unit) end
end
save()
`;
