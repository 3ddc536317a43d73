import { lookAtPath, type UpstreamBody } from '@gateway/dialects';
import {
  TransportFailure,
  type SendOptions,
  type UpstreamRequest,
  type UpstreamResponse,
} from '@gateway/providers';
import { fixedClock } from '@gateway/testing/plain';
import { AttemptCalls } from './attempt-calls.js';

const BOUNDS: SendOptions = {
  connectTimeoutMs: 1_000,
  firstByteTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
  totalTimeoutMs: 10_000,
  maxBytes: 1_024,
  signal: new AbortController().signal,
};

function response(body: string): UpstreamResponse {
  return {
    status: 200,
    headers: { 'content-type': 'image/png' },
    bytes: () => Promise.resolve(Buffer.from(body)),
    chunks: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
    }),
    cancel: () => undefined,
  };
}

function calls(signal = BOUNDS.signal): {
  made: AttemptCalls;
  clock: ReturnType<typeof fixedClock>;
  sent: [UpstreamBody, SendOptions][];
  fetched: UpstreamRequest[];
} {
  const clock = fixedClock('2026-11-22T00:00:00Z');
  const sent: [UpstreamBody, SendOptions][] = [];
  const fetched: UpstreamRequest[] = [];
  const made = new AttemptCalls({
    baseUrl: 'https://api.bfl.ai',
    hosts: ['bfl.ai'],
    bounds: BOUNDS,
    signal,
    clock,
    note: async () => undefined,
    accountId: 'acct_1',
    objects: {} as never,
    send: (request, bounds) => {
      sent.push([request, bounds]);
      return Promise.resolve(response('{}'));
    },
    fetch: (request) => {
      fetched.push(request);
      return Promise.resolve(response('image'));
    },
  });
  return { made, clock, sent, fetched };
}

describe('the calls of one attempt', () => {
  it('have together the time of one', async () => {
    const { made, clock, sent } = calls();
    await made.send(lookAtPath('/a'));
    await clock.advance(9_000);
    await made.send(lookAtPath('/b'));
    expect(
      sent.map(([{ path }, { totalTimeoutMs, connectTimeoutMs }]) => [
        path,
        totalTimeoutMs,
        connectTimeoutMs,
      ]),
    ).toEqual([
      ['/a', 10_000, 1_000],
      ['/b', 1_000, 1_000],
    ]);
    await expect(made.sleep(1_000)).rejects.toEqual(new TransportFailure('timeout_total'));
    await clock.advance(1_000);
    await expect(made.send(lookAtPath('/c'))).rejects.toThrow('timeout_total');
  });

  it('fetch results without a credential, at the provider’s hosts alone', async () => {
    const { made, fetched } = calls();
    const reply = await made.download('https://delivery.bfl.ai/1.png');
    expect([reply.contentType, Buffer.from(reply.bytes).toString()]).toEqual(['image/png', 'image']);
    expect(fetched).toEqual([
      { method: 'GET', url: 'https://delivery.bfl.ai/1.png', headers: {}, body: [], byteLength: 0 },
    ]);
    await expect(made.download('https://169.254.169.254/')).rejects.toThrow('none of the provider');
    expect(fetched).toHaveLength(1);
  });

  it('end with the caller', async () => {
    const caller = new AbortController();
    caller.abort();
    await expect(calls(caller.signal).made.sleep(10)).rejects.toThrow('aborted');
  });
});
