import { jest } from '@jest/globals';
import { ApiError, HEADER, type StoredResponse } from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually, NO_PRESSURE, testPostgres, type TestDatabase } from '@gateway/testing';
import { anyMemory, MIGRATED, startWorkersApp, stored, type WorkersApp } from '../workers.fixture.js';

const MIB = 1_048_576;
const BYTES_MAX = 5 * MIB;

let place: TestDatabase;
let app: WorkersApp;
let key: string;
let pressure: Pressure;
beforeAll(async () => {
  place = await testPostgres();
  await MIGRATED.migrate(place.url);
  const bodyBytes = { some: BYTES_MAX, all: BYTES_MAX };
  app = await startWorkersApp(place.url, { pressure: { ...NO_PRESSURE, bodyBytes } });
  pressure = app.app.get(Pressure, { strict: false });
  key = app.keyOf('key_a');
});
afterAll(async () => {
  await app.close();
  await place.drop();
});
afterEach(() => eventually(() => pressure.bodyBytesInFlight === 0));

/** A response of so many bytes, half of them in its input. */
function large(id: string, bytes: number, more: Partial<StoredResponse> = {}): StoredResponse {
  const half = 'x'.repeat(bytes / 2);
  const input = [{ type: 'message', id: `msg_${id}`, role: 'user', content: half }];
  const output = [{ type: 'message', id: `out_${id}`, role: 'assistant', content: half }];
  return stored(id, { input, response: { id, status: 'completed', output }, ...more });
}

/** Sizes for which a store asked for room. */
function measured(refuseAt = Infinity): { sizes: number[]; reserveMemory: (bytes: number) => void } {
  const sizes: number[] = [];
  const reserveMemory = (bytes: number): void => {
    sizes.push(bytes);
    if (bytes >= refuseAt) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  };
  return { sizes, reserveMemory };
}

describe('what a request goes on from', () => {
  const TOO_LARGE = { code: 'context_window_exceeded' };

  it('RESP-05 says its size before it is read, and reads nothing where there is no room', async () => {
    await app.responses.store([
      large('resp_1', MIB),
      large('resp_2', 2 * MIB, { previous_response_id: 'resp_1' }),
    ]);
    const link = { response_id: 'resp_2' };
    const full = measured(MIB);
    await expect(app.responses.recall('key_a', link, full.reserveMemory)).rejects.toMatchObject({
      status: 503,
    });
    expect(full.sizes).toHaveLength(1);
    expect(full.sizes[0]).toBeGreaterThan(3 * MIB);
    const { sizes, reserveMemory } = measured();
    const found = await app.responses.recall('key_a', link, reserveMemory);
    expect(found?.items.map(({ id }) => id)).toEqual([
      'msg_resp_1',
      'out_resp_1',
      'msg_resp_2',
      'out_resp_2',
    ]);
    expect([...new Set(sizes)]).toEqual(full.sizes);
  });

  it('RESP-05 400 past 32 MiB, for a conversation too, and for what holds items that are named', async () => {
    const ids = Array.from({ length: 3 }, (_, at) => `resp_of_many_${at}`);
    const owned = { key_id: 'key_many', account_id: 'acct_key_many' };
    const { body } = await app.call('POST', '/v1/conversations', app.keyOf('key_many'), {});
    for (const [at, id] of ids.entries())
      await app.responses.store([
        large(id, 12 * MIB, {
          ...owned,
          ...{ previous_response_id: ids[at - 1] ?? null, conversation_id: body.id as string },
        }),
      ]);
    const { sizes, reserveMemory } = measured();
    for (const link of [{ response_id: ids[2] }, { conversation_id: body.id as string }])
      await expect(app.responses.recall('key_many', link, reserveMemory)).rejects.toMatchObject(TOO_LARGE);
    const named = ids.map((id) => `out_${id}`);
    await expect(app.responses.items('key_many', named, reserveMemory)).rejects.toMatchObject(TOO_LARGE);
    expect(sizes).toEqual([]);
    const chain = await app.responses.recall('key_many', { response_id: ids[1] }, reserveMemory);
    expect(chain?.items).toHaveLength(4);
    expect((await app.responses.items('key_many', named.slice(1), reserveMemory)).size).toBe(2);
  });

  it('RESP-05 reads an item that many responses hold once, whatever it says', async () => {
    const item = { type: 'message', id: 'msg_often', role: 'user', content: `\u0000 ${'x'.repeat(2 * MIB)}` };
    const own = { key_id: 'key_often', account_id: 'acct_key_often' };
    const ids = Array.from({ length: 20 }, (_, at) => `resp_often_${at}`);
    for (const id of ids) await app.responses.store([stored(id, { ...own, input: [item] })]);
    const { sizes, reserveMemory } = measured();
    const found = await app.responses.items('key_often', ['msg_often', 'msg_none'], reserveMemory);
    expect([...found]).toEqual([['msg_often', item]]);
    expect(Math.max(...sizes)).toBeLessThan(3 * MIB);
    expect((await app.responses.items('key_often', ['msg_none'], anyMemory)).size).toBe(0);
  });

  it('RESP-05 answers every number, the order and the repetition of names as they were kept', async () => {
    const odd = '{"id":"odd_1","n":1234567890123456789,"10":1.0,"2":-0,"a":1,"a":2}';
    const response = JSON.stringify(stored('resp_odd', { input: [], response: { id: 'resp_odd' } }));
    const kept = response
      .replace('"input":[]', `"input":[${odd}]`)
      .replace('"response":{"id":"resp_odd"', `"response":{"id":"resp_odd","output":[${odd}]`);
    const headers = { [HEADER.fleetToken]: 'fleet-token-of-the-spec', 'content-type': 'application/json' };
    const post = (path: string, body: string): Promise<Response> =>
      fetch(`${app.url}/internal/responses${path}`, { method: 'POST', headers, body });
    expect((await post('', `{"responses":[${kept}]}`)).status).toBe(204);
    const recalled = await post('/recall', '{"key_id":"key_a","response_id":"resp_odd"}');
    expect((await recalled.text()).split(odd)).toHaveLength(3);
    const named = await post('/items', '{"key_id":"key_a","ids":["odd_1"]}');
    expect(await named.text()).toContain(odd);
  });

  it('RESP-05 answers the items of a conversation as the caller wrote them', async () => {
    const odd = '{"type":"message","role":"user","content":"x","n":1234567890123456789,"2":1.0,"1":2}';
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const made = await fetch(`${app.url}/v1/conversations`, {
      ...{ method: 'POST', headers },
      body: `{"items":[${odd}]}`,
    });
    const { id } = (await made.json()) as { id: string };
    const items = await fetch(`${app.url}/v1/conversations/${id}/items`, { headers });
    expect(await items.text()).toMatch(/"n":1234567890123456789,"2":1\.0,"1":2/);
  });

  it('RESP-05 503 counts for an edge until it has it, and is refused before it is read', async () => {
    await app.responses.store([large('resp_edge', 2 * MIB)]);
    const recall = (): Promise<Response> =>
      fetch(`${app.url}/internal/responses/recall`, {
        method: 'POST',
        headers: { [HEADER.fleetToken]: 'fleet-token-of-the-spec', 'content-type': 'application/json' },
        body: JSON.stringify({ key_id: 'key_a', response_id: 'resp_edge' }),
      });
    pressure.buffered(4 * MIB);
    const refused = await recall();
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
    pressure.released(4 * MIB);
    const answer = await recall();
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(2 * MIB);
    expect(((await answer.json()) as { found: { items: unknown[] } }).found.items).toHaveLength(2);
  });
});

describe('responses and conversations as they are read', () => {
  it('RESP-03 503 holds a bounded number of bytes, however many read at once', async () => {
    const one = large('resp_read', 2 * MIB);
    await app.responses.store([one]);
    let peak = 0;
    const hold = pressure.buffered.bind(pressure);
    const held = jest.spyOn(pressure, 'buffered').mockImplementation((bytes) => {
      hold(bytes);
      peak = Math.max(peak, pressure.bodyBytesInFlight);
    });
    const read = (): ReturnType<WorkersApp['call']> => app.call('GET', '/v1/responses/resp_read', key);
    for (const { status, body } of await Promise.all(Array.from({ length: 20 }, read))) {
      if (status === 200) expect(body).toEqual(one.response);
      else expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
    }
    held.mockRestore();
    expect(peak).toBeGreaterThan(MIB);
    expect(peak).toBeLessThanOrEqual(BYTES_MAX);
  });

  it.each(['', '/input_items', '?stream=true'])(
    'RESP-03 503 reads nothing of a response past the bound: GET …%s',
    async (of) => {
      await app.responses.store([large('resp_full', 2 * MIB)]);
      pressure.buffered(BYTES_MAX - MIB / 2);
      const { status, body } = await app.call('GET', `/v1/responses/resp_full${of}`, key);
      expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
      pressure.released(BYTES_MAX - MIB / 2);
      expect((await app.call('GET', `/v1/responses/resp_full${of}`, key)).status).toBe(200);
    },
  );

  it('RESP-05 pages a conversation, a page ends with the item that fills it, and an item is read alone', async () => {
    const { body } = await app.call('POST', '/v1/conversations', key, {});
    const path = `/v1/conversations/${body.id}/items`;
    const item = (at: number, size: number): object => ({
      ...{ type: 'message', id: `msg_page_${at}`, role: 'user' },
      content: [{ type: 'input_text', text: 'x'.repeat(size) }],
    });
    for (const [at, size] of [10, 10, 3 * MIB, 3 * MIB, 3 * MIB, 10].entries())
      await app.call('POST', path, key, { items: [item(at, size)] });
    const pages = async (query: string): Promise<unknown[]> => {
      const answer = await app.call('GET', `${path}?${query}`, key);
      const { data = [], has_more } = answer.body;
      return [
        answer.status,
        data.map(({ id }: { id: string }) => id.slice('msg_page_'.length)).join(''),
        has_more,
      ];
    };
    expect(await pages('limit=2&order=asc')).toEqual([200, '01', true]);
    expect(await pages('limit=2&order=asc&after=msg_page_0')).toEqual([200, '12', true]);
    expect(await pages('limit=1')).toEqual([200, '5', true]);
    expect(await pages('limit=3&after=msg_page_2')).toEqual([200, '10', false]);
    expect(await pages('after=msg_page_0')).toEqual([200, '', false]);
    expect(await pages('limit=1&after=msg_nowhere')).toEqual([200, '5', true]);
    // 9 MiB would be a page of their own; there is room for five.
    expect((await pages('order=asc'))[0]).toBe(503);
    expect((await app.call('GET', `${path}/msg_page_3`, key)).body).toMatchObject({ id: 'msg_page_3' });
    pressure.buffered(4 * MIB);
    expect((await app.call('GET', `${path}/msg_page_3`, key)).status).toBe(503);
    pressure.released(4 * MIB);
  });

  it('RESP-05 a page ends with the item that fills it', async () => {
    const roomy = await startWorkersApp(place.url);
    const owner = roomy.keyOf('key_roomy');
    const { body } = await roomy.call('POST', '/v1/conversations', owner, {});
    const path = `/v1/conversations/${body.id}/items`;
    for (let at = 0; at < 5; at += 1)
      await roomy.call('POST', path, owner, {
        items: [{ role: 'user', id: `msg_${at}`, content: 'x'.repeat(3 * MIB) }],
      });
    const { data, has_more, last_id } = (await roomy.call('GET', `${path}?order=asc`, owner)).body;
    expect([data.length, last_id, has_more]).toEqual([3, 'msg_2', true]);
    const rest = (await roomy.call('GET', `${path}?order=asc&after=msg_2`, owner)).body;
    expect([rest.data.length, rest.has_more]).toEqual([2, false]);
    await roomy.close();
  });
});
