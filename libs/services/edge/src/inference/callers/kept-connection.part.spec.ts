import { Agent, request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { hello, testPrincipal } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './callers.fixture.js';

const edge = tenantOf(started, 'kept_connection');

/** One connection that several callers share, as behind a proxy that keeps its own. */
describe('a kept connection', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(async () => {
    agent.destroy();
  });

  async function post(headers: Record<string, string>): Promise<{ response: IncomingMessage; port: number }> {
    const sent = request(`${edge.url}/v1/chat/completions`, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    });
    sent.end(JSON.stringify(hello('simulator/chat')));
    const response = await answered;
    await json(response);
    return { response, port: sent.socket?.localPort ?? 0 };
  }

  it('charges each request to the key that it presents, and refuses one that presents none', async () => {
    const other = edge.addKey(testPrincipal('key_other'));
    const answers = [
      await post({ authorization: `Bearer ${edge.key}` }),
      await post({ authorization: `Bearer ${edge.key}` }),
      await post({ authorization: `Bearer ${other}` }),
      await post({ 'x-api-key': edge.key }),
      await post({}),
      await post({ authorization: `Bearer ${other}` }),
    ];
    expect(new Set(answers.map(({ port }) => port)).size).toBe(1);
    const keys: unknown[] = [];
    for (const { response } of answers) {
      if (response.statusCode !== 200) keys.push(response.statusCode);
      else keys.push((await edge.record(String(response.headers['x-request-id']))).key_id);
    }
    expect(keys).toEqual([edge.keyId, edge.keyId, 'key_other', edge.keyId, 401, 'key_other']);
  });

  it('refuses a key from the request on that follows its suspension', async () => {
    const key = edge.addKey(testPrincipal('key_suspended'));
    const headers = { authorization: `Bearer ${key}` };
    expect((await post(headers)).response.statusCode).toBe(200);
    edge.principals.add(key, testPrincipal('key_suspended', { status: 'suspended' }));
    expect((await post(headers)).response.statusCode).toBe(403);
  });
});
