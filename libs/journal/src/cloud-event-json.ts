import type { ShippedOutcome } from './records.js';

/**
 * The CloudEvent around a journaled value, which stays the text it is. Its id is `<epoch>-<seq>`: with `source` (the
 * producer) unique and the same at every delivery. `time` is when the outcome was written. Every member is of the
 * letters of epochs, producers' names and topics, none of which JSON escapes.
 */
export function cloudEventJson(
  { seq, topic, at, value }: ShippedOutcome,
  { source, epoch }: { source: string; epoch: string },
): string {
  const time = new Date(at).toISOString();
  const ids = `"specversion":"1.0","id":"${epoch}-${seq}","source":"${source}","type":"${topic}","time":"${time}"`;
  return `{${ids},"datacontenttype":"application/json","data":${value}}`;
}
