import { get } from 'node:http';
import { Pressure } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import WebSocket from 'ws';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge({
    models: [
      testModel('simulator/tools', [{ provider: 'simulated', upstreamModel: 'sim-chat-tools' }]),
      testModel('simulator/native', [
        { provider: 'openai', upstreamModel: 'sim-chat', dialect: 'responses' },
      ]),
      testModel('simulator/slow', [
        { provider: 'simulated', upstreamModel: 'sim-chat:text=word;silent=600000;silent_at=3' },
      ]),
      testModel('simulator/late', [{ provider: 'simulated', upstreamModel: 'sim-chat:latency=1000' }]),
      testModel('simulator/broken', [{ provider: 'simulated', upstreamModel: 'sim-chat:error=400' }]),
    ],
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.sim.reset());

/** A client in Codex's manner: one connection, one message a turn. */
class Session {
  private readonly messages: Json[] = [];
  private waiting: (() => void) | null = null;

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(data.toString('utf8')) as Json);
      this.waiting?.();
    });
  }

  static async open(key = edge.key, path = '/v1/responses', url = edge.url): Promise<Session> {
    const ws = new WebSocket(url.replace('http', 'ws') + path, {
      headers: { authorization: `Bearer ${key}` },
    });
    await new Promise<void>((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
    });
    return new Session(ws);
  }

  create(body: Json): void {
    this.ws.send(JSON.stringify({ type: 'response.create', ...body }));
  }

  /** Messages up to the one that ends a turn. */
  async turn(): Promise<Json[]> {
    const turn: Json[] = [];
    for (;;) {
      const next = this.messages.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.waiting = resolve));
        continue;
      }
      turn.push(next);
      if (/^(error|response\.(completed|incomplete|failed))$/.test(String(next.type))) return turn;
    }
  }
}

const last = (turn: Json[]): { id: string; output: Json[] } =>
  turn.at(-1)?.response as { id: string; output: Json[] };

describe('GET /v1/responses as a WebSocket', () => {
  it.each(['/v1/responses', '/openai/v1/responses'])(
    'RESP-05 RESP-01 sends the numbered events of a turn on %s',
    async (path) => {
      const session = await Session.open(edge.key, path);
      session.create({ model: 'simulator/chat', input: 'Hello', stream_id: 's1' });
      const turn = await session.turn();
      expect(turn.map(({ sequence_number }) => sequence_number)).toEqual(turn.map((_, at) => at));
      expect(turn.every(({ stream_id }) => stream_id === 's1')).toBe(true);
      expect(turn.at(-1)).toMatchObject({
        type: 'response.completed',
        response: { usage: { byok_used: false } },
      });
      session.ws.close();
    },
  );

  it.each(['simulator/tools', 'simulator/native'])(
    'RESP-05 goes on over %s from what only the connection remembers, though nothing is stored',
    async (model) => {
      const session = await Session.open();
      const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }];
      const asked = { model, tools, store: false };
      session.create({
        ...asked,
        input: 'Look around',
        ...(model === 'simulator/native' ? { tool_choice: 'required' } : {}),
      });
      const first = last(await session.turn());
      const call = first.output.find(({ type }) => type === 'function_call');
      const output = { type: 'function_call_output', call_id: call?.call_id, output: 'A door' };
      session.create({ ...asked, input: [output], previous_response_id: first.id });
      const second = last(await session.turn());
      expect(JSON.stringify(second.output)).toContain('The tools answered: A door');
      session.create({ ...asked, input: 'Bye', tool_choice: 'none', previous_response_id: second.id });
      expect(last(await session.turn()).output).toHaveLength(1);
      expect(edge.upstream()[2].body).toContain('Look around');
      const kept = edge.responses.kept.map(({ id }) => id);
      expect(kept).not.toContain(first.id);
      expect(kept).not.toContain(second.id);
      session.ws.close();
    },
  );

  it('RESP-05 forgets what a turn that failed went on from, and says that by the code of the protocol', async () => {
    const unknown = {
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    };
    const session = await Session.open();
    const asked = { model: 'simulator/chat', store: false };
    session.create({ ...asked, input: 'Hello', previous_response_id: 'resp_unknown' });
    expect(await session.turn()).toMatchObject([unknown]);
    session.create({ ...asked, input: 'My name is Ada' });
    const first = last(await session.turn());
    const orphan = { type: 'function_call_output', call_id: 'call_of_nobody', output: 'A door' };
    session.create({ ...asked, input: [orphan], previous_response_id: first.id });
    expect(await session.turn()).toMatchObject([{ type: 'error', error: { code: 'invalid_request' } }]);
    session.create({ ...asked, input: 'Who am I?', previous_response_id: first.id });
    expect(await session.turn()).toMatchObject([unknown]);
    session.create({ ...asked, input: 'Hello' });
    expect((await session.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    session.ws.close();
  });

  it('RESP-05 records each turn like a request', async () => {
    const session = await Session.open(edge.addKey(testPrincipal('key_recorded')));
    session.create({ model: 'simulator/chat', input: 'Hello' });
    await session.turn();
    const record = await eventually(() => edge.shipped().find(({ key_id: of }) => of === 'key_recorded'));
    expect(record).toMatchObject({
      endpoint: '/v1/responses',
      outcome: 'served',
      stream: true,
    });
    session.ws.close();
  });

  it('says what is wrong with a message, and goes on', async () => {
    const session = await Session.open();
    session.ws.send('no JSON');
    expect(await session.turn()).toMatchObject([{ type: 'error', status: 422 }]);
    session.ws.send(JSON.stringify({ type: 'response.steer' }));
    expect(await session.turn()).toMatchObject([{ type: 'error', error: { code: 'unsupported_operation' } }]);
    session.create({ model: 'simulator/none', input: 'Hello' });
    expect(await session.turn()).toMatchObject([
      { type: 'error', status: 404, error: { code: 'model_not_found' } },
    ]);
    session.create({ model: 'simulator/broken', input: 'Hello' });
    expect(await session.turn()).toMatchObject([{ type: 'error', status: 400 }]);
    session.create({ model: 'simulator/chat', input: 'Hello' });
    expect((await session.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    session.ws.close();
  });

  it('AUTH-01 401 for an unknown key, before anything is opened', async () => {
    const ws = new WebSocket(`${edge.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: 'Bearer rsk_unknown' },
    });
    const status = await new Promise((resolve) => {
      ws.once('unexpected-response', (_request, response) => resolve(response.statusCode));
      ws.once('error', () => undefined);
    });
    expect(status).toBe(401);
  });

  it('RESP-05 takes no turn of a key that was suspended since', async () => {
    const key = edge.addKey(testPrincipal('key_soon_gone'));
    const session = await Session.open(key);
    const resolve = edge.principals.resolve.bind(edge.principals);
    edge.principals.resolve = () => Promise.resolve(testPrincipal('key_soon_gone', { status: 'suspended' }));
    try {
      session.create({ model: 'simulator/chat', input: 'Hello' });
      expect(await session.turn()).toMatchObject([
        { type: 'error', status: 403, error: { code: 'forbidden' } },
      ]);
    } finally {
      edge.principals.resolve = resolve;
      session.ws.close();
    }
  });

  it('answers messages in their order, refuses the ninth that waits, and no binary one', async () => {
    const session = await Session.open();
    session.ws.send(Buffer.from('{"type":"response.create"}'), { binary: true });
    expect(await session.turn()).toMatchObject([{ type: 'error', status: 422 }]);
    // The first is not answered before all of them have come.
    for (let at = 0; at < 9; at += 1) {
      const model = at === 0 ? 'simulator/late' : 'simulator/chat';
      session.create({ model, input: `Hello ${at}`, stream_id: String(at) });
    }
    const order: unknown[] = [];
    let refused = 0;
    for (let at = 0; at < 9; at += 1) {
      const turn = await session.turn();
      if (turn.at(-1)?.type !== 'error') order.push(turn.at(-1)?.stream_id);
      else refused += Number(turn.at(-1)?.status === 409);
    }
    expect(refused).toBe(1);
    expect(order).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
    session.ws.close();
  });

  it('closes a connection whose message is above the limit of a body', async () => {
    const session = await Session.open();
    const code = new Promise((resolve) => session.ws.once('close', resolve));
    session.ws.on('error', () => undefined);
    session.ws.send('x'.repeat(33_554_433));
    expect(await code).toBe(1_009);
  });

  it('U15 503 service_unavailable for messages that are never whole: they count as bodies do, and end at a share', async () => {
    const pressure = edge.app.app.get(Pressure);
    const sessions = await Promise.all([1, 2, 3, 4].map(() => Session.open()));
    const codes: number[] = [];
    for (const { ws } of sessions) {
      ws.on('error', () => undefined);
      ws.once('close', (code) => codes.push(code));
      ws.send(Buffer.alloc(20 * 1_048_576, ' '), { binary: false, fin: false });
    }
    await eventually(() => codes.length === 1 && pressure.bodyBytesInFlight >= 60 * 1_048_576);
    expect([codes, pressure.bodyBytesInFlight <= 64 * 1_048_576]).toEqual([[1_013], true]);
    const closed = sessions.find(({ ws }) => ws.readyState === ws.CLOSED);
    expect(await closed?.turn()).toMatchObject([{ error: { code: 'service_unavailable' }, status: 503 }]);
    for (const { ws } of sessions) ws.terminate();
    await eventually(() => pressure.bodyBytesInFlight === 0);
  });

  it('aborts the upstream of a client that leaves, and starts nothing that waits', async () => {
    const session = await Session.open();
    session.create({ model: 'simulator/slow', input: 'Hello' });
    session.create({ model: 'simulator/slow', input: 'Never asked' });
    const started = new Promise((resolve) => session.ws.once('message', resolve));
    await started;
    session.ws.terminate();
    await eventually(() => edge.upstream()[0]?.state === 'aborted');
    expect(edge.upstream()).toHaveLength(1);
  });

  it('answers what asks for another protocol as if it had not', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'h2c' };
      get(`${edge.url}/v1/models`, { headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).once('error', reject);
    });
    expect(status).toBeGreaterThanOrEqual(400);
  });
});

describe('a drain', () => {
  it('lets the turn end, then closes the connection', async () => {
    const own = await startEdge();
    const session = await Session.open(own.key, '/v1/responses', own.url);
    session.create({ model: 'simulator/chat', input: 'Hello' });
    const code = new Promise((resolve) => session.ws.once('close', resolve));
    await new Promise((resolve) => session.ws.once('message', resolve));
    const closed = own.close();
    expect((await session.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    expect(await code).toBe(1_012);
    await closed;
  });
});
