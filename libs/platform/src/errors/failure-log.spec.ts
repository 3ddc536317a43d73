import { ApiError } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import type { FastifyRequest } from 'fastify';
import { createLogger } from '../logging/logger.js';
import { FailureLog } from './failure-log.js';

const request = { id: 'req_1', method: 'POST', routeOptions: { url: '/v1/messages' } } as FastifyRequest;

describe('the log of failures', () => {
  const clock = fixedClock('2026-11-21T00:00:00Z');
  let lines: string[];
  let log: FailureLog;
  beforeEach(() => {
    lines = [];
    log = new FailureLog(
      createLogger({ service: 'probe', level: 'info' }, { write: (line) => lines.push(line) }),
      clock,
    );
  });

  it('logs code and cause of a 503 of ours, and no secret', () => {
    const cause = new Error(
      'connect redis://:hunter2@host:6379 failed with sk-proj-abcdefghijklmnopqrstuvwx',
    );
    log.note(new ApiError('service_unavailable', { cause }), request);
    expect(JSON.parse(lines[0])).toMatchObject({
      level: 'warn',
      request_id: 'req_1',
      route: '/v1/messages',
      code: 'service_unavailable',
      err: { message: expect.stringMatching(/^connect/) },
    });
    expect(lines[0]).not.toMatch(/hunter2|sk-proj/);
  });

  it('logs every bug with its stack', () => {
    for (let n = 0; n < 100; n += 1)
      log.note(new ApiError('internal_error', { cause: new TypeError('x is undefined') }), request);
    expect(lines).toHaveLength(100);
    expect(JSON.parse(lines[99])).toMatchObject({ level: 'error', err: { type: 'TypeError' } });
  });

  it('writes ten 503s a second, and how many were not written', async () => {
    for (const code of ['service_draining', 'provider_not_available'] as const)
      for (let n = 0; n < 500; n += 1) log.note(new ApiError(code), request);
    expect(lines).toHaveLength(10);
    await clock.advance(1_000);
    log.note(new ApiError('service_unavailable'), request);
    expect(JSON.parse(lines[10])).toMatchObject({ count: 990 });
  });

  it('says nothing of what is the caller’s or the provider’s', () => {
    log.note(new ApiError('unauthorized'), request);
    log.note(new ApiError('upstream_error', { status: 503 }), request);
    expect(lines).toEqual([]);
  });
});
