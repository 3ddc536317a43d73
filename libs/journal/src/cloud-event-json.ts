import type { CloudEvent } from '@gateway/contracts';
import type { OutcomeHead } from './records.js';

/**
 * The CloudEvent around a journaled value, which stays the text it is. Its id is `<epoch>-<seq>`: with `source` (the
 * producer) unique and the same at every delivery. `time` is when the outcome was written.
 */
export function cloudEventJson(
  record: { head: OutcomeHead; value: string },
  from: { source: string; epoch: string },
): string {
  const { head, value } = record;
  const envelope: Omit<CloudEvent<unknown>, 'data'> = {
    specversion: '1.0',
    id: `${from.epoch}-${head.seq}`,
    source: from.source,
    type: head.topic,
    time: new Date(head.at).toISOString(),
    datacontenttype: 'application/json',
  };
  return `${JSON.stringify(envelope).slice(0, -1)},"data":${value}}`;
}
