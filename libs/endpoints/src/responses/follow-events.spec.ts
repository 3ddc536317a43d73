import type { EventsPage } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import { followEvents } from './follow-events.js';

function pageOf(numbers: number[], is_over: boolean): EventsPage {
  return {
    events: numbers.map((number) => ({ number, event: { type: 'e', sequence_number: number } })),
    is_over,
  };
}

async function followed(pages: (EventsPage | null)[], after = -1): Promise<string> {
  const clock = fixedClock('2026-11-01T00:00:00Z');
  const asked: number[] = [];
  const events = followEvents({
    read: async (last) => {
      asked.push(last);
      return pages.shift() ?? null;
    },
    after,
    clock: { ...clock, monotonic: () => 0, sleep: async () => undefined } as never,
    isGone: () => false,
  });
  let text = '';
  for await (const part of events) text += part;
  return `${[...text.matchAll(/sequence_number":(\d+)/g)].map(([, number]) => number).join()} ${text.includes('[DONE]')} asked ${asked.join()}`;
}

describe('the events of a background response', () => {
  it('RESP-04 come once each, though the last is answered again when it has ended meanwhile', async () => {
    expect(await followed([pageOf([0, 1], false), pageOf([1], true)])).toBe('0,1 true asked -1,1');
  });

  it('RESP-04 hold the last for who resumes behind it', async () => {
    expect(await followed([pageOf([4], true)], 9)).toBe('4 true asked 9');
  });

  it('end without a word where the response is gone', async () => {
    expect(await followed([pageOf([0], false), null])).toBe('0 false asked -1,0');
  });
});
