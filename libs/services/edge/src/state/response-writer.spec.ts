import type { StoredResponse } from '@gateway/contracts';
import { Deadlines } from '@gateway/platform';
import { fixedClock, ResponseStoreDouble, type FixedClock } from '@gateway/testing';
import { ResponseWriter } from './response-writer.js';

let clock: FixedClock;
let store: ResponseStoreDouble;
let lost: number;
let writer: ResponseWriter;
/** Gate that each write of the store waits for. */
let gate: () => Promise<void>;

beforeEach(() => {
  clock = fixedClock('2026-11-01T12:00:00Z');
  store = new ResponseStoreDouble();
  lost = 0;
  gate = async () => undefined;
  const keep = store.store.bind(store);
  store.store = async (responses) => {
    await gate();
    return keep(responses);
  };
  writer = new ResponseWriter(store, new Deadlines(clock), (count) => (lost += count));
});

function response(id: string, text = ''): StoredResponse {
  return {
    ...{ id, key_id: 'key_1', account_id: 'acct_1', end_user_hash: null, credential: null },
    ...{ previous_response_id: null, conversation_id: null, created_at: 0 },
    input: [],
    response: { id, text },
  };
}

const keptIds = (): string[] => store.kept.map(({ id }) => id);

describe('the writer of responses', () => {
  it('RESP-04 resolves once a response is kept; those that come meanwhile go together', async () => {
    const writes: number[] = [];
    const keep = store.store;
    store.store = (responses) => {
      writes.push(responses.length);
      return keep(responses);
    };
    await Promise.all(['one', 'two', 'three'].map((id) => writer.store(response(id))));
    expect([keptIds(), writes]).toEqual([
      ['one', 'two', 'three'],
      [1, 2],
    ]);
  });

  it('holds an answer back for a second at most', async () => {
    let open = (): void => undefined;
    gate = () => new Promise((resolve) => (open = resolve));
    const slow = writer.store(response('slow'));
    await clock.advance(1_100);
    await slow;
    expect(keptIds()).toEqual([]);
    gate = async () => undefined;
    open();
    await writer.flush();
    expect([keptIds(), lost]).toEqual([['slow'], 0]);
  });

  it('holds nothing back while the store is away, and keeps it once it is back', async () => {
    gate = () => Promise.reject(new Error('away'));
    const first = writer.store(response('first'));
    await clock.advance(1_100);
    await first;
    await writer.store(response('second'));
    gate = async () => undefined;
    await clock.advance(300);
    await writer.flush();
    expect([keptIds(), lost]).toEqual([['first', 'second'], 0]);
  });

  it('A7 while the store is away, one account fills half of what may wait; another finds the rest', async () => {
    gate = () => Promise.reject(new Error('away'));
    const keep = (n: number, account_id: string): Promise<void> =>
      writer.store({ ...response(`${account_id}_${n}`, 'x'.repeat(1_048_576)), account_id });
    const large = Array.from({ length: 40 }, (_, n) => keep(n, 'acct_a'));
    expect(lost).toBe(8);
    const others = Array.from({ length: 10 }, (_, n) => keep(n, 'acct_b'));
    expect(lost).toBe(8);
    gate = async () => undefined;
    await clock.advance(1_100);
    await Promise.all([...large, ...others]);
    await writer.flush();
    expect(keptIds().filter((id) => id.startsWith('acct_b'))).toHaveLength(10);
  });

  it('loses one that is too large, and counts it', async () => {
    await writer.store(response('large', 'x'.repeat(13 * 1_048_576)));
    expect([keptIds(), lost]).toEqual([[], 1]);
  });
});
