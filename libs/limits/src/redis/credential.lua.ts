import { CLOCK } from './prelude.lua.js';

/**
 * Counts of one platform credential: `cred:{id}` holds packed {minute, requests, tokens}.
 * ARGV: node, test clock or '', packed {requests a minute, tokens a minute, tokens}. Answers the minute that the request was
 * counted in, or `full <milliseconds until the minute rolls>`.
 */
export const COUNT_CREDENTIAL = `
${CLOCK}
local raw = redis.call('GET', KEYS[1])
local minute = math.floor(now / 60000)
local rpm, tpm, tokens = struct.unpack('<ddd', ARGV[3])
local atMinute, requests, counted = 0, 0, 0
if raw then atMinute, requests, counted = struct.unpack('<ddd', raw) end
if atMinute ~= minute then requests, counted = 0, 0 end
if requests >= rpm or counted >= tpm then return string.format('full %.0f', 60000 - now % 60000) end
redis.call('SET', KEYS[1], struct.pack('<ddd', minute, requests + 1, counted + tokens), 'PX', 120000)
return string.format('%.0f', minute)
`;

/** ARGV: node, test clock or '', packed {minute, tokens to add}. Changes nothing once the minute has rolled. */
export const CORRECT_CREDENTIAL = `
local raw = redis.call('GET', KEYS[1])
if not raw then return '' end
local minute, tokens = struct.unpack('<dd', ARGV[3])
local atMinute, requests, counted = struct.unpack('<ddd', raw)
if atMinute == minute then
  redis.call('SET', KEYS[1], struct.pack('<ddd', atMinute, requests, math.max(0, counted + tokens)), 'PX', 120000)
end
return ''
`;
