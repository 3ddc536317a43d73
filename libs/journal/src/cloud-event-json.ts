import type { ShippedOutcome } from './records.js';

/**
 * The CloudEvent around a journaled value, which stays the text it is. Its id is `<epoch>-<seq>`: with `source` (the
 * producer) unique and the same at every delivery. `time` is when the outcome was written. Every member is of the
 * letters of epochs, producers' names and topics, none of which JSON escapes. On gateway.usage.v2 it has the members alone
 * that CloudEvents ask for.
 */
export function cloudEventJson(
  { seq, topic, at, value }: ShippedOutcome,
  { source, epoch }: { source: string; epoch: string },
): string {
  const ids = `"specversion":"1.0","id":"${epoch}-${seq}","source":"${source}","type":"${topic}"`;
  if (topic === 'gateway.usage.v2') return `{${ids},"data":${value}}`;
  const time = new Date(at).toISOString();
  return `{${ids},"time":"${time}","datacontenttype":"application/json","data":${value}}`;
}
