import { startProbe, type Probe } from './probe-app.fixture.js';

let probe: Probe;
afterEach(() => probe.close());

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

it('serves /metrics on its own port only, and liveness and readiness on the public one', async () => {
  probe = await startProbe({ metrics: { host: '127.0.0.1', port: 0 } });
  const url = probe.metricsUrl ?? '';
  const answer = await fetch(url);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  expect(await answer.text()).toContain('gateway_http_request_duration_seconds');
  expect(await statusOf(`${probe.url}/metrics`)).toBe(404);
  expect([await statusOf(`${probe.url}/healthz`), await statusOf(`${probe.url}/readyz`)]).toEqual([200, 200]);
  const own = url.replace('/metrics', '');
  expect([await statusOf(`${own}/healthz`), await statusOf(`${own}/v1/open`)]).toEqual([404, 404]);
  expect((await fetch(url, { method: 'POST' })).status).toBe(404);
});

it('is gone with the application', async () => {
  probe = await startProbe({ metrics: { host: '127.0.0.1', port: 0 } });
  await probe.close();
  await expect(fetch(probe.metricsUrl ?? '')).rejects.toThrow();
});

it('serves no metrics where they are off', async () => {
  probe = await startProbe({ metrics: null });
  expect(probe.metricsUrl).toBeNull();
  expect(await statusOf(`${probe.url}/metrics`)).toBe(404);
});
