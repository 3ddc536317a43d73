import type { GivenAnswer } from '@gateway/contracts';
import type { UpstreamResponse } from '@gateway/providers';

/** Returns an earlier answer of a provider as if it came now. */
export function givenResponse({ status, body }: GivenAnswer): UpstreamResponse {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: { 'content-type': 'application/json' },
    bytes: () => Promise.resolve(bytes),
    async *chunks() {
      yield bytes;
    },
    cancel: () => undefined,
  };
}
