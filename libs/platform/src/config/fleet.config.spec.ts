import { FleetConfig } from './fleet.config.js';
import { ConfigError, loadConfig } from './load-config.js';

const FLEET_TOKEN = 'a-token-of-at-least-32-characters';

function faulty(env: Record<string, string>): string[] {
  try {
    loadConfig(FleetConfig, { FLEET_TOKEN, ...env });
    return [];
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure;
    return failure.faults.map((fault) => fault.split(':')[0]);
  }
}

describe('FleetConfig', () => {
  it.each(['http://keys:8082', 'https://keys.internal', 'http://[::1]:8082'])('takes %s', (address) => {
    expect(faulty({ KEYS_URL: address, OTEL_EXPORTER_OTLP_ENDPOINT: address })).toEqual([]);
  });

  it.each(['http://keys:99999', 'http://a b', 'http://', 'keys:8082', 'http://keys:8082/'])(
    'names %s, to which no call could ever go, for each address of a service',
    (address) => {
      for (const name of ['KEYS', 'CATALOGUE', 'USAGE', 'NOTIFICATIONS', 'WORKERS', 'EDGE'])
        expect(new Set(faulty({ [`${name}_URL`]: address }))).toEqual(new Set([`${name}_URL`]));
    },
  );

  it('takes the old and the new secret of a fleet while it is changed, each of its length', () => {
    const other = FLEET_TOKEN.toUpperCase();
    const { FLEET_TOKEN: both } = loadConfig(FleetConfig, { FLEET_TOKEN: `${FLEET_TOKEN},${other}` });
    expect(both).toEqual([FLEET_TOKEN, other]);
    expect(faulty({ FLEET_TOKEN: `${FLEET_TOKEN},short` })).toEqual(['FLEET_TOKEN']);
  });

  it('takes the headers of a collector as OpenTelemetry writes them, and nothing else', () => {
    const headers = (OTEL_EXPORTER_OTLP_HEADERS: string): string[] => faulty({ OTEL_EXPORTER_OTLP_HEADERS });
    expect([headers('authorization=Bearer%20x=='), headers('a=1,b=')]).toEqual([[], []]);
    for (const text of ['token', 'a=1,', 'a=%zz', 'a b=1', 'a=1\nb=2'])
      expect([text, ...headers(text)]).toEqual([text, 'OTEL_EXPORTER_OTLP_HEADERS']);
  });

  it.each(['http://collector:99999', 'http://', 'collector:4318'])(
    'names %s, to which no trace could go',
    (OTEL_EXPORTER_OTLP_ENDPOINT) =>
      expect(faulty({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual(['OTEL_EXPORTER_OTLP_ENDPOINT']),
  );
});
