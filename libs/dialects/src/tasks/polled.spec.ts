import { UpstreamError } from '@gateway/contracts';
import { UpstreamCallsDouble } from '@gateway/testing/upstream-calls';
import { lookAtPath } from '../translation/upstream-body.js';
import { polled } from './polled.js';

const look = lookAtPath('/tasks/1');
const read = ({ result }: Record<string, unknown>): unknown => result ?? null;
const failing = (more: { retryable?: boolean; httpStatus?: number | null } = {}): UpstreamError =>
  new UpstreamError({
    code: 'upstream_error',
    message: 'away',
    httpStatus: 503,
    retryable: true,
    fallback: true,
    countsAsFault: true,
    fault: 'service',
    ...more,
  });
const poll = (...replies: ConstructorParameters<typeof UpstreamCallsDouble>[0]) => {
  const calls = new UpstreamCallsDouble(replies);
  return { calls, ended: polled(calls, { everyMs: 700, look, read }) };
};
const atWork = { body: {} };
const done = { body: { result: 'made' } };

describe('a task that is looked at', () => {
  it('is looked at every so often until it has ended', async () => {
    const { calls, ended } = poll(atWork, atWork, done);
    expect(await ended).toBe('made');
    expect(calls.sleptMs).toEqual([700, 700, 700]);
    expect(calls.sent.map(({ method, at }) => [method, at])).toEqual(Array(3).fill(['GET', '/tasks/1']));
  });

  it('goes on after four failures in a row, and any number that is not', async () => {
    const four = [failing(), failing(), failing(), failing()];
    expect(await poll(...four, atWork, ...four, done).ended).toBe('made');
    const fifth = failing();
    await expect(poll(...four, fifth, done).ended).rejects.toBe(fifth);
  });

  it('ends with a failure that does not pass, or that no status came with', async () => {
    for (const failure of [
      failing({ retryable: false }),
      failing({ httpStatus: null }),
      new Error('a fault'),
    ])
      await expect(poll(failure, done).ended).rejects.toBe(failure);
  });

  it('ends where an answer is no JSON object', async () => {
    await expect(poll({ body: Buffer.from('[1]') }, done).ended).rejects.toMatchObject({
      failure: { kind: 'bad_response' },
    });
  });
});
