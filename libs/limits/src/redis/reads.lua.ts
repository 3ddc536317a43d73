import { UNNAMED_UNITS } from '@gateway/contracts';
import { LAPSED_PER_CALL, SETTLED_DUE_MS } from '../admission.js';
import { ACCOUNT, CLOCK, FREE_LAPSED, LISTS, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', gen or '', version. A version without a gen is the bump after
 * a change: it raises the number and leaves what it was stamped in.
 */
export const STAMP = `
${ACCOUNT}
if ARGV[3] ~= '' and ARGV[3] == gen then stampedIn = gen end
pv = math.max(pv, tonumber(ARGV[4]))
saveAccount()
return ''
`;

/** KEYS: acct, units, due. ARGV: node. Answers the principal version, or '' where it cannot be trusted. */
export const VERSION = `
${ACCOUNT}
if string.sub(gen, 1, 16) ~= ARGV[1] or stampedIn ~= gen then return '' end
return string.format('%.0f', pv)
`;

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', the latest settlement that counts as unposted or '', record names
 * (the balance's last). Answers `<now> <units in flight> <units unposted> {<rpm> <rpd> <tpm> <reserved> <unposted>
 * <posted> <ledger version>}...`; version -1 where none was mirrored.
 */
export const READ = `
${CLOCK}
${LISTS}
local acctKey, unitsKey, dueKey = KEYS[1], KEYS[2], KEYS[3]
${RECORDS}
local lapsed = redis.call('ZRANGEBYSCORE', dueKey, '-inf', now, 'LIMIT', 0, ${LAPSED_PER_CALL})
if #lapsed > 0 then
  ${FREE_LAPSED}
end
local names = {}
for i = 4, #ARGV do names[i - 3] = ARGV[i] end
load(names)
local minute, day = math.floor(now / 60000), math.floor(now / 86400000)
local latest = '+inf'
if ARGV[3] ~= '' then latest = string.format('%.0f', 1e15 + tonumber(ARGV[3]) + ${SETTLED_DUE_MS}) end
local answer = {string.format('%.0f', now), tostring(redis.call('ZCOUNT', dueKey, '-inf', '(1e15')),
  tostring(redis.call('ZCOUNT', dueKey, '1e15', latest))}
for i = 1, #names do
  local s = records[names[i]]
  local sameMinute, sameDay = s[1] == minute, s[4] == day
  answer[#answer + 1] = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', sameMinute and s[2] or 0,
    sameDay and s[5] or 0, sameMinute and s[3] or 0, s[9], s[8], s[6], s[7])
end
return table.concat(answer, ' ')
`;

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', limit. Answers unit ids joined by a line feed. The settled ones
 * go to the end of the queue; the lapsed ones stay until they are freed.
 */
export const DUE = `
${CLOCK}
local dueKey, limit = KEYS[#KEYS], tonumber(ARGV[3])
local settled = redis.call('ZRANGEBYSCORE', dueKey, 1e15, 1e15 + now, 'WITHSCORES', 'LIMIT', 0, limit)
local lapsed = redis.call('ZRANGEBYSCORE', dueKey, '-inf', now, 'WITHSCORES', 'LIMIT', 0, limit)
local answer, i, j = {}, 1, 1
while #answer < limit and (i < #settled or j < #lapsed) do
  if j > #lapsed or (i < #settled and tonumber(settled[i + 1]) - 1e15 <= tonumber(lapsed[j + 1])) then
    answer[#answer + 1] = settled[i]
    redis.call('ZADD', dueKey, 1e15 + now + ${SETTLED_DUE_MS}, settled[i])
    i = i + 2
  else
    answer[#answer + 1] = lapsed[j]
    j = j + 2
  end
end
return table.concat(answer, '\\n')
`;

/** Keys that one call looks at. */
const KEYS_PER_CALL = 1_000;

/**
 * KEYS: any key of the node. ARGV: node, test clock or '', cursor (`0` begins). Answers the next cursor, then a line for each account
 * of the node whose units or names of lapsed units came up.
 */
export const ACCOUNTS_WITH_UNITS = `
local page = redis.call('SCAN', ARGV[3], 'COUNT', ${KEYS_PER_CALL})
local answer = {page[1]}
for i = 1, #page[2] do
  local kind, account = string.match(page[2][i], '^(%l+):{(.+)}$')
  if kind == 'units' or kind == 'lost' then answer[#answer + 1] = account end
end
return table.concat(answer, '\\n')
`;

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', cursor (`0` begins). Answers `<next cursor> <units without a name>`, then a
 * line `<l or s> <nano> <unit>` for each unit that lapsed or is settled. Nothing is changed; the first page has the names kept.
 */
export const UNHEARD = `
${CLOCK}
local unitsKey, dueKey = KEYS[2], KEYS[3]
local page = redis.call('HSCAN', unitsKey, ARGV[3], 'COUNT', ${LAPSED_PER_CALL})
local answer, unnamed = {''}, '0'
local function add(state, raw, at, unit)
  answer[#answer + 1] = string.format('%s %.0f %s', state, struct.unpack('<d', raw, at), unit)
end
if ARGV[3] == '0' then
  local lost = redis.call('HGETALL', 'lost' .. string.sub(KEYS[1], 5))
  for i = 1, #lost, 2 do
    if lost[i] == '${UNNAMED_UNITS}' then unnamed = lost[i + 1] else add('l', lost[i + 1], 1, lost[i]) end
  end
end
for i = 1, #page[2], 2 do
  local unit, raw = page[2][i], page[2][i + 1]
  if string.byte(raw) == 117 then
    add('s', raw, 2, unit)
  elseif tonumber(redis.call('ZSCORE', dueKey, unit) or 0) <= now then
    add('l', raw, 2, unit)
  end
end
answer[1] = page[1] .. ' ' .. unnamed
return table.concat(answer, '\\n')
`;
