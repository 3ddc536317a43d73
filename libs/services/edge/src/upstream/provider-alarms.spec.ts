import { UpstreamError } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import type { PlannedRoute } from '@gateway/routing';
import { ProviderAlarms } from './provider-alarms.js';

function failure(httpStatus: number, alarm: boolean): UpstreamError {
  return new UpstreamError({
    code: 'upstream_error',
    message: 'OpenAI: no',
    httpStatus,
    retryable: false,
    fallback: true,
    countsAsFault: true,
    fault: 'service',
    alarm,
  });
}

describe('the alarms of providers', () => {
  it('counts each, writes one line a minute for each route and status, and nothing of other failures', async () => {
    const clock = fixedClock('2026-11-21T00:00:00Z');
    const counted: (string | number | null)[] = [];
    const lines: object[] = [];
    const alarms = new ProviderAlarms(
      {
        providerAlarm: (provider, status) => counted.push(`${provider} ${status}`),
        usageDoubted: (provider) => counted.push(`${provider} usage`),
        usageFarOff: (provider, model) => counted.push(`${provider} ${model} far off`),
      },
      { error: (fields: object) => lines.push(fields) } as never,
      clock,
    );
    const plannedRoute = { route: { provider: 'openai', upstreamModel: 'gpt' } } as PlannedRoute;
    for (let n = 0; n < 5; n += 1) alarms.see(plannedRoute, failure(401, true), `req_${n}`);
    alarms.see(plannedRoute, failure(500, false), 'req_5');
    alarms.see(plannedRoute, failure(404, true), 'req_6');
    expect(counted).toEqual([...Array.from({ length: 5 }, () => 'openai 401'), 'openai 404']);
    const line = { provider: 'openai', model: 'gpt', reason: 'OpenAI: no' };
    expect(lines).toEqual([
      { ...line, status: 401, request_id: 'req_0' },
      { ...line, status: 404, request_id: 'req_6' },
    ]);
    await clock.advance(60_000);
    alarms.see(plannedRoute, failure(401, true), 'req_7');
    expect(lines).toHaveLength(3);
    for (let n = 0; n < 3; n += 1) alarms.doubt(plannedRoute, 'req_8');
    expect(counted.slice(-3)).toEqual(['openai usage', 'openai usage', 'openai usage']);
    expect(lines.slice(3)).toEqual([{ provider: 'openai', model: 'gpt', request_id: 'req_8' }]);
    for (let n = 0; n < 2; n += 1) alarms.farOff(plannedRoute, 'req_9');
    expect(counted.slice(-2)).toEqual(['openai gpt far off', 'openai gpt far off']);
    expect(lines.slice(4)).toEqual([{ provider: 'openai', model: 'gpt', request_id: 'req_9' }]);
  });
});
