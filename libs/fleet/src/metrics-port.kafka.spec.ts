import type { RunningApp } from '@gateway/platform';
import { freePorts, testKafka, testRedis, type TestRedis } from '@gateway/testing';
import { startFleetApp } from './fleet-app.js';
import { readFleetSettings } from './fleet-settings.js';

const HANG_MS = 120_000;

describe('a service of a fleet', () => {
  let redis: TestRedis;
  let brokers: string;
  let app: RunningApp | undefined;

  beforeAll(async () => {
    redis = await testRedis();
    brokers = (await testKafka()).brokers.join(',');
  }, HANG_MS);
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  afterAll(() => redis?.drop());

  async function start(env: Record<string, string>): Promise<RunningApp> {
    const required = {
      FLEET_TOKEN: 'x'.repeat(32),
      REDIS_URL: redis.url,
      KAFKA_BROKERS: brokers,
      DRAIN_ACCEPT_MS: '0',
    };
    app = await startFleetApp(
      'workers',
      readFleetSettings([], { ...required, LOG_LEVEL: 'fatal', ...env }),
      [],
    );
    return app;
  }
  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

  it(
    'without METRICS_PORT answers 404 at /metrics of its public port, and has no other port for them',
    async () => {
      const { url, metricsUrl } = await start({ PORT: '0' });
      expect([await statusOf(`${url}/metrics`), await statusOf(`${url}/healthz`)]).toEqual([404, 200]);
      expect(metricsUrl).toBeNull();
    },
    HANG_MS,
  );

  it(
    'has them at METRICS_PORT alone',
    async () => {
      const { url, metricsUrl } = await start({ PORT: '0', METRICS_PORT: '0' });
      expect([await statusOf(metricsUrl ?? ''), await statusOf(`${url}/metrics`)]).toEqual([200, 404]);
    },
    HANG_MS,
  );

  it(
    'has them at the public port where METRICS_PORT is its number',
    async () => {
      const [port] = (await freePorts(1)).map(String);
      const { url } = await start({ PORT: port, METRICS_PORT: port });
      expect(await statusOf(`${url}/metrics`)).toBe(200);
    },
    HANG_MS,
  );
});
