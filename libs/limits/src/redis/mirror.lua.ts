import { LISTS, RECORDS } from './prelude.lua.js';

/**
 * KEYS: acct, units, due of each account. ARGV: node, test clock or '', then for each account: gen or '', packed {ledger
 * version, records, units}, packed posted amount per record; a character per unit (`1` where it only frees a
 * reservation), record names, unit ids.
 *
 * A version holds the history of the ledger above 2^32: those of different histories do not compare, because a database
 * that was restored begins again with lower ones. A gen that is still the account's always stamps: where the value held
 * is of a later version than this one, it is a later snapshot of the same ledger. The answer is `<number of the account
 * from 0>:<latest such version>...`, empty where there is none.
 */
export const MIRROR = `
${LISTS}
local at, later = 3, {}
for k = 1, #KEYS, 3 do
  local acctKey, unitsKey, dueKey = KEYS[k], KEYS[k + 1], KEYS[k + 2]
  local gen, posted, crashes = ARGV[at], ARGV[at + 2], ARGV[at + 3]
  local version, count, units = struct.unpack('<ddd', ARGV[at + 1])
  local namesAt = at + 4
  at = namesAt + count + units
  local acct = gen ~= '' and redis.call('GET', acctKey)
  if gen == '' or (acct and string.sub(acct, 1, 32) == gen) then
    ${RECORDS}
    local valid = gen ~= '' and tonumber(string.sub(gen, 17, 29), 16)
    local names, ids, seen, unknown, held = {}, {}, {}, {}, version
    for i = 1, count do names[i] = ARGV[namesAt + i - 1] end
    load(names)
    for i = 1, count do
      local s = records[names[i]]
      local isOther = math.floor(version / 4294967296) ~= math.floor(s[7] / 4294967296)
      if isOther or version >= s[7] then s[6], s[7] = struct.unpack('<d', posted, 8 * i - 7), version end
      held = math.max(held, s[7])
      if valid then s[10] = valid end
    end
    for i = 1, units do ids[i] = ARGV[namesAt + count + i - 1] end
    inSteps(ids, function(from, to)
      local raws = redis.call('HMGET', unitsKey, unpack(ids, from, to))
      for i = from, to do
        local raw = raws[i - from + 1]
        if raw and not seen[ids[i]] and (string.byte(crashes, i) == 48 or string.byte(raw) == 114) then
          seen[ids[i]] = true
          release(raw)
          gone[#gone + 1] = ids[i]
        elseif not raw then
          unknown[#unknown + 1] = ids[i]
        end
      end
    end)
    inSteps(unknown, function(from, to) redis.call('HDEL', lostKey, unpack(unknown, from, to)) end)
    drop()
    apply()
    if held > version then later[#later + 1] = string.format('%.0f:%.0f', (k - 1) / 3, held) end
  end
end
return table.concat(later, ' ')
`;
