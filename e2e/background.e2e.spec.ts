import OpenAI from 'openai';
import { eventually } from '@gateway/testing';
import { START_MS } from './harness/modes.js';
import { SHARED_MODES, type OwnOrganization } from './harness/own-organization.js';
import { ask } from './harness/requests.js';

const SLOWLY = { timeoutMs: 60_000 };

describe.each(SHARED_MODES)('background responses of %s', (_name, start) => {
  let gateway: OwnOrganization;
  let openai: OpenAI;
  beforeAll(async () => {
    gateway = await start();
    openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  }, START_MS);

  it('RESP-04 openai begins one, polls it, and reads what it cost', async () => {
    const input = 'Hello from the background';
    const { data, response } = await openai.responses
      .create({ model: 'simulator/chat', input, background: true })
      .withResponse();
    expect(data).toMatchObject({ status: 'queued', background: true });
    const done = await eventually(async () => {
      const found = await openai.responses.retrieve(data.id);
      return found.status === 'completed' ? found : null;
    }, SLOWLY);
    expect(done.output_text).toContain(input);
    const requestId = response.headers.get('x-request-id') ?? '';
    const lookup = await eventually(async () => {
      const { status, body } = await ask(gateway, 'GET', `/v1/usage/requests/${requestId}`);
      return status === 200 ? body : null;
    }, SLOWLY);
    expect(lookup).toMatchObject({ endpoint: '/v1/responses', outcome: 'served', status: 'success' });
    expect(Number(lookup.cost_usd)).toBeGreaterThan(0);
  });

  it('RESP-04 openai streams one and resumes it where it left', async () => {
    const body = { model: 'simulator/chat', input: 'Hello', background: true, stream: true } as const;
    const types: string[] = [];
    let [id, last] = ['', -1];
    for await (const event of await openai.responses.create(body)) {
      if (event.type === 'response.created') ({ id } = event.response);
      types.push(event.type);
      last = event.sequence_number;
      if (event.type === 'response.output_text.delta') break;
    }
    const rest = await openai.responses.retrieve(id, { stream: true, starting_after: last });
    for await (const event of rest) {
      expect(event.sequence_number).toBe(last + 1);
      last = event.sequence_number;
      types.push(event.type);
    }
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');
  });

  it('RESP-04 openai cancels one, and nothing stays reserved', async () => {
    const { id } = await openai.responses.create({
      model: 'simulator/chat',
      input: 'Stop',
      background: true,
    });
    const cancelled = await openai.responses.cancel(id);
    expect(['cancelled', 'completed']).toContain(cancelled.status);
    await eventually(async () => {
      const { body } = await ask(gateway, 'GET', '/v1/balance');
      return body.reserved_usd === '0';
    }, SLOWLY);
  });
});
