import { request } from 'node:http';
import { BODY_LIMIT_BYTES, TOPIC } from '@gateway/contracts';
import { hello } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './callers.fixture.js';

const edge = tenantOf(started, 'oversize');

describe('the size of a body', () => {
  function bodyOf(bytes: number): string {
    const empty = JSON.stringify(hello('simulator/chat', { messages: [{ role: 'user', content: '' }] }));
    return empty.replace('"content":""', `"content":"${'a'.repeat(bytes - empty.length)}"`);
  }

  /** Sends without a declared length. */
  function chunked(bytes: number, path: string): Promise<{ status: number; type: string; id: unknown }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${edge.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${edge.key}`, 'content-type': 'application/json' },
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        answer.resume();
        resolve({
          status: answer.statusCode ?? 0,
          type: answer.headers['content-type'] ?? '',
          id: answer.headers['x-request-id'],
        });
      });
      sent.end(Buffer.alloc(bytes, 0x20));
    });
  }

  it('LIM-13 a body of 32 MiB is read, one byte more is not', async () => {
    const largest = await edge.post(bodyOf(BODY_LIMIT_BYTES));
    expect(largest.status).not.toBe(413);
    expect((await edge.post(bodyOf(BODY_LIMIT_BYTES + 1))).status).toBe(413);
  });

  it('LIM-34 LIM-35 EDGE-01 answers plain HTML without an id, whatever key and version, and leaves no trace', async () => {
    const counted = async (): Promise<unknown> =>
      (await edge.limits.read(edge.accountId, [{ kind: 'key', id: edge.keyId }])).scopes[0].rpd;
    const before = await counted();
    for (const path of ['/v1/chat/completions', '/v1/messages', '/nowhere']) {
      const refused = await edge.post(bodyOf(BODY_LIMIT_BYTES + 1), {
        path,
        key: 'rsk_wrong',
        headers: { 'x-service-version': 'bad' },
      });
      expect(refused.status).toBe(413);
      expect(refused.headers.get('content-type')).toContain('text/html');
      expect(refused.headers.get('x-request-id')).toBeNull();
      expect(await refused.text()).toContain('<html>');
      expect(await chunked(BODY_LIMIT_BYTES + 1, path)).toMatchObject({ status: 413, id: undefined });
    }
    expect(await counted()).toBe(before);
    expect(edge.shipped(TOPIC.rejections)).toEqual([]);
  });
});
