import type { KeyPrincipal } from '@gateway/contracts';
import type { InferenceRequest } from '../request/inference-request.js';
import { cacheName } from './cache-name.js';
import { replayed } from './replayed.js';

const principal = { accountId: 'acct_a', responseCache: { ttlMs: 1 } } as KeyPrincipal;

function nameOf(body: string): string | null {
  const request = {
    bytes: Buffer.from(body),
    headers: {},
    path: '/v1/chat/completions',
    endpoint: { isCacheable: true },
  } as unknown as InferenceRequest;
  return cacheName(request, principal, 'acme/large');
}

describe('what is kept of an answer', () => {
  it('CACHE-01 has another name for a number that is another one beyond what a double holds', () => {
    const [one, other] = ['1234567890123456789', '1234567890123456788'].map((id) =>
      nameOf(`{"messages":[],"tools":[{"maximum":${id}}]}`),
    );
    expect(one).not.toBe(other);
    expect(nameOf('{"a":1,"b":[2]}')).toBe(nameOf('{ "b": [2], "a": 1 }'));
  });

  it('CACHE-03 is given again with every number as it was', () => {
    const usage = '"usage":{"prompt_tokens":3,"cached_tokens":1}';
    const own = '"own":{"id":1234567890123456789,"rate":1.0,"2":1,"1":2}';
    expect(replayed(`{${own},${usage}}`, false)).toBe(
      `{${own},"usage":{"prompt_tokens":3,"cached_tokens":0}}`,
    );
  });
});
