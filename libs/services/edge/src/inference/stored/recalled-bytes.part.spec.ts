import { jest } from '@jest/globals';
import type { StoredResponse } from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import WebSocket from 'ws';
import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './stored.fixture.js';

const edge = tenantOf(started, 'recalled_bytes');

const MIB = 1_048_576;
/** Size of what is recalled, of 256 MiB that bodies may use. */
const BYTES_MAX = 8 * MIB;
const ELSEWHERE = 248 * MIB;
const PATH = '/v1/responses';

let pressure: Pressure;

const inFlight = (): number => pressure.bodyBytesInFlight - ELSEWHERE;

function keptAs(id: string, size: number): StoredResponse {
  const message = { type: 'message', id: `msg_${id}`, role: 'user', content: 'x'.repeat(size) };
  return {
    ...{ id, key_id: edge.keyId, account_id: edge.accountId, end_user_hash: null, credential: null },
    ...{ previous_response_id: null, conversation_id: `conv_${id}`, created_at: 0, input: [message] },
    response: { id, status: 'completed', output: [] },
  };
}

const ask = (body: Json, options: { signal?: AbortSignal; path?: string } = {}): Promise<Response> =>
  edge.post({ model: 'simulator/chat', input: 'Go on', store: false, ...body }, { path: PATH, ...options });
const codeOf = async (answer: Response): Promise<unknown[]> => {
  const { error } = (await answer.json()) as { error?: Json };
  return [answer.status, error?.code, Number(answer.headers.get('retry-after')) > 0];
};
const REFUSED = [503, 'service_unavailable', true];

describe('what requests go on from', () => {
  beforeAll(async () => {
    edge.serveModels(
      testModel('acme/hangs', [{ provider: 'simulated', upstreamModel: 'sim-chat:hang=1' }], {
        supports_background_response: true,
      }),
    );
    pressure = edge.app.app.get(Pressure, { strict: false });
    pressure.buffered(ELSEWHERE);
    await edge.responses.store([keptAs('resp_large', 2 * MIB), keptAs('resp_small', 10)]);
  });
  beforeEach(() => edge.sim.reset());
  afterEach(() => eventually(() => inFlight() === 0));
  afterAll(() => pressure.released(ELSEWHERE));

  it('U15 503 holds a bounded number of bytes, whatever many small requests name; nothing is lost', async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = { model: 'acme/hangs', previous_response_id: 'resp_large' };
    const refused: Response[] = [];
    const answers = Array.from({ length: 20 }, () =>
      ask(asked, { signal }).then(
        (answer) => void refused.push(answer),
        () => undefined,
      ),
    );
    await eventually(() => edge.upstream().length === 3 && refused.length === 17);
    for (const answer of refused) expect(await codeOf(answer)).toEqual(REFUSED);
    expect(inFlight()).toBeGreaterThan(3 * 2 * MIB);
    expect(inFlight()).toBeLessThan(BYTES_MAX);
    // What is small, or names nothing, has its place beside them.
    expect((await ask({ previous_response_id: 'resp_small' })).status).toBe(200);
    expect((await ask({})).status).toBe(200);
    leaving.abort();
    await Promise.all(answers);
    await eventually(() => inFlight() === 0);
    expect((await ask({ previous_response_id: 'resp_large' })).status).toBe(200);
  });

  it('U15 503 for an account whose slow answers hold its share; others go on from what they said', async () => {
    const own = pressure.ofAccount(edge.accountId);
    pressure.released(ELSEWHERE);
    own.buffered(63 * MIB);
    await edge.responses.store([
      { ...keptAs('resp_other', 2 * MIB), key_id: 'key_other', account_id: 'acct_other' },
    ]);
    const other = edge.addKey(testPrincipal('key_other', { accountId: 'acct_other' }));
    expect(await codeOf(await ask({ previous_response_id: 'resp_large' }))).toEqual(REFUSED);
    const body = {
      model: 'simulator/chat',
      input: 'Go on',
      store: false,
      previous_response_id: 'resp_other',
    };
    expect((await edge.post(body, { path: PATH, key: other })).status).toBe(200);
    own.released(63 * MIB);
    pressure.buffered(ELSEWHERE);
  });

  it.each<[string, Json, string]>([
    ['a conversation', { conversation: 'conv_resp_large' }, PATH],
    ['an item that is named', { input: [{ type: 'item_reference', id: 'msg_resp_large' }] }, PATH],
    ['a conversation that is compacted', { previous_response_id: 'resp_large' }, `${PATH}/compact`],
    ['tokens that are counted', { previous_response_id: 'resp_large' }, `${PATH}/input_tokens`],
    ['what waits in the background', { previous_response_id: 'resp_large', background: true }, PATH],
  ])('U15 503 counts %s before it is in memory, until the answer is closed', async (_of, body, path) => {
    const held = jest.spyOn(pressure, 'buffered');
    const asked = { model: body.background ? 'acme/hangs' : 'simulator/chat', store: true, ...body };
    expect((await ask(asked, { path })).status).toBe(200);
    expect(held.mock.calls.filter(([bytes]) => bytes > 2 * MIB)).toHaveLength(1);
    held.mockRestore();
    await eventually(() => inFlight() === 0);
    pressure.buffered(7 * MIB);
    expect(await codeOf(await ask(asked, { path }))).toEqual(REFUSED);
    expect(inFlight()).toBe(7 * MIB);
    pressure.released(7 * MIB);
  });

  it('U15 503 counts a turn of a socket until it has ended, and refuses it alone', async () => {
    const ws = new WebSocket(edge.url.replace('http', 'ws') + PATH, {
      headers: { authorization: `Bearer ${edge.key}` },
    });
    const messages: Json[] = [];
    ws.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString('utf8')) as Json));
    await new Promise((resolve) => ws.once('open', resolve));
    const send = (): void =>
      ws.send(
        JSON.stringify({
          ...{ type: 'response.create', model: 'simulator/chat', input: 'Go on', store: false },
          previous_response_id: 'resp_large',
        }),
      );
    pressure.buffered(7 * MIB);
    send();
    const rejection = await eventually(() => messages.find(({ type }) => type === 'error'));
    expect(rejection).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    pressure.released(7 * MIB);
    send();
    await eventually(() => messages.some(({ type }) => type === 'response.completed'));
    await eventually(() => inFlight() === 0);
    ws.close();
  });

  it('U15 counts for who follows a background response only the page that is sent', async () => {
    const leaving = new AbortController();
    const body = { model: 'acme/hangs', previous_response_id: 'resp_large', background: true, store: true };
    const { begun } = edge.background;
    const at = begun.length;
    const answers = ask({ ...body, stream: true }, { signal: leaving.signal });
    const { id } = await eventually(() => begun.at(at));
    edge.background.said.set(id, [{ number: 0, event: { type: 'response.created' } }]);
    const answer = await answers;
    expect(answer.status).toBe(200);
    await eventually(() => inFlight() > 0 && inFlight() < 100);
    leaving.abort();
  });

  it('U15 400 for an item that is named twice: each place would hold it once more', async () => {
    const reference = { type: 'item_reference', id: 'msg_resp_small' };
    const answer = await ask({ input: [reference, { role: 'user', content: 'Hi' }, reference] });
    expect(await answer.json()).toMatchObject({
      error: { code: 'validation_error', param: 'input.2.id' },
    });
    expect([answer.status, edge.upstream()]).toEqual([422, []]);
  });
});
