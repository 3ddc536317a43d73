import { ApiError, type UnitContent } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';
import { callerEndUserHash } from '../request/end-user-hash.js';

const MIB = 1_048_576;
const logging = { requestLogging: { retentionDays: 7, redact: true } };

let edge: EdgeUnderTest;
const principal = testPrincipal('key_logged', logging);
let logged: string;

beforeAll(async () => {
  edge = await startEdge();
  logged = edge.addKey(principal);
});
afterAll(() => edge.close());

async function asked(
  body: unknown,
  options: Parameters<EdgeUnderTest['post']>[1] = {},
): Promise<{ id: string; text: string; status: number }> {
  const response = await edge.post(body, { key: logged, ...options });
  return {
    id: String(response.headers.get('x-request-id')),
    text: await response.text(),
    status: response.status,
  };
}

const contentOf = (id: string): Promise<UnitContent> =>
  eventually(() => edge.contents.kept.find(({ request_id }) => request_id === id));

describe('contents of an organization that logs them', () => {
  it('are the bytes that came and those that were sent, plain', async () => {
    const body = hello('simulator/chat', { user: 'ada' });
    const { id, text } = await asked(body);
    const content = await contentOf(id);
    expect(content).toEqual({
      request_id: id,
      unit: 0,
      account_id: 'acct_test',
      org_id: 'org_test',
      member_id: 'usr_test',
      key_id: 'key_logged',
      end_user_hash: callerEndUserHash(principal, 'ada'),
      endpoint: '/v1/chat/completions',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      retention_days: 7,
      redact: true,
      request: JSON.stringify(body),
      request_bytes: JSON.stringify(body).length,
      response: text,
      response_bytes: Buffer.byteLength(text),
    });
  });

  it.each(['/v1/chat/completions', '/v1/messages'])('are the frames of a stream on %s', async (path) => {
    const { id, text } = await asked(hello('simulator/chat', { stream: true }), { path });
    const content = await contentOf(id);
    expect([content.endpoint, content.response]).toEqual([path, text]);
    expect(text).toContain('data: ');
  });

  it('have no answer where every attempt failed, and none at all where the request was refused', async () => {
    const model = edge.serve('simulator/failing', {
      provider: 'simulated',
      upstreamModel: 'sim-chat:error=500',
    });
    const failed = await asked(hello(model));
    if (failed.status === 200) throw new Error('the model was to fail');
    const content = await contentOf(failed.id);
    expect([content.response, content.response_bytes]).toEqual([null, 0]);
    const refused = await asked({ model: 'simulator/chat' });
    expect(refused.status).toBe(422);
    const next = await asked(hello('simulator/chat'));
    await contentOf(next.id);
    expect(edge.contents.kept.some(({ request_id }) => request_id === refused.id)).toBe(false);
  });

  it('are a size alone where a body is longer than a megabyte', async () => {
    const body = { ...hello('simulator/chat'), metadata: undefined };
    const content = 'x'.repeat(MIB);
    const { id, status } = await asked({ ...body, messages: [{ role: 'user', content }] });
    expect(status).toBe(200);
    const kept = await contentOf(id);
    expect([kept.request, kept.request_bytes > MIB]).toEqual([null, true]);
    expect(kept.response).toContain('chat.completion');
  });

  it('are kept of what the response cache answers', async () => {
    const cached = edge.addKey(testPrincipal('key_both', { ...logging, responseCache: { ttlMs: 60_000 } }));
    const first = await asked(hello('simulator/chat'), { key: cached });
    const second = await asked(hello('simulator/chat'), { key: cached });
    expect((await contentOf(second.id)).response).toBe(second.text);
    expect((await contentOf(first.id)).response).toBe(first.text);
  });

  it('are not taken of a key whose organization does not log', async () => {
    const response = await edge.post(hello('simulator/chat'));
    await response.text();
    const { id } = await asked(hello('simulator/chat'));
    await contentOf(id);
    expect(edge.contents.kept.filter(({ key_id }) => key_id === 'key_test')).toEqual([]);
  });

  it('come later where the usage service is away for a while, and hold up no answer', async () => {
    edge.contents.faults.push(new ApiError('service_unavailable'), new ApiError('service_unavailable'));
    const { id, status } = await asked(hello('simulator/chat'));
    expect(status).toBe(200);
    await contentOf(id);
    expect(edge.contents.faults).toEqual([]);
  });
});
