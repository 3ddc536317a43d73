import { RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, units, due. ARGV: node, test clock or '', gen or '', ledger version, number of records, packed posted
 * amount per record, record names, then for each unit `1` where it only frees a reservation, and its id.
 *
 * A gen that is still the account's always stamps: where the value held is of a later version than this one, it is
 * a later snapshot of the same ledger.
 */
export const MIRROR = `
${RECORDS}
local gen, version, count = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
if gen ~= '' then
  local acct = redis.call('GET', KEYS[1])
  if not acct or string.sub(acct, 1, 32) ~= gen then return '' end
end
for i = 1, count do
  local s = record(ARGV[6 + i])
  if version >= s[7] then s[6], s[7] = struct.unpack('<d', ARGV[6], 8 * i - 7), version end
  if gen ~= '' then s[10] = tonumber(string.sub(gen, 17, 29), 16) end
end
for i = 7 + count, #ARGV, 2 do
  local id = ARGV[i + 1]
  local raw = redis.call('HGET', unitsKey, id)
  if raw and (ARGV[i] == '0' or string.sub(raw, 1, 1) == 'r') then forget(id, raw) end
end
save()
return ''
`;
