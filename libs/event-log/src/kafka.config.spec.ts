import { ConfigError, loadConfig } from '@gateway/platform';
import { ownCertificate } from '@gateway/testing';
import { kafkaAccess, KafkaConfig } from './kafka.config.js';

const brokers = { KAFKA_BROKERS: 'a:1,b:2' };
const access = (env: Record<string, string>): unknown =>
  kafkaAccess(loadConfig(KafkaConfig, { ...brokers, ...env }));

function faulty(env: Record<string, string>): string[] {
  try {
    loadConfig(KafkaConfig, { ...brokers, ...env });
    return [];
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure;
    return failure.faults.map((fault) => fault.split(':')[0]);
  }
}

describe('KafkaConfig', () => {
  it('names brokers, TLS and how to authenticate', () => {
    expect(access({})).toEqual({ brokers: ['a:1', 'b:2'] });
    const user = { KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    expect(access({ KAFKA_TLS: 'true', KAFKA_SASL_MECHANISM: 'scram-sha-512', ...user })).toEqual({
      ...{ brokers: ['a:1', 'b:2'], tls: {} },
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
    });
    const token = { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_FILE: 'package.json' };
    expect(access(token)).toEqual({
      brokers: ['a:1', 'b:2'],
      sasl: { mechanism: 'oauthbearer', tokenFile: 'package.json' },
    });
  });

  it('names all faults at once', () => {
    const wrong = { KAFKA_BROKERS: 'no-port', KAFKA_TLS: 'perhaps', KAFKA_TLS_CA: 'none' };
    expect(faulty({ ...wrong, KAFKA_SASL_MECHANISM: 'plain' }).sort()).toEqual([
      ...['KAFKA_BROKERS', 'KAFKA_SASL_PASSWORD', 'KAFKA_SASL_USERNAME', 'KAFKA_TLS', 'KAFKA_TLS_CA'],
    ]);
    expect(faulty({ KAFKA_BROKERS: 'a:1,b:65536' })).toEqual(['KAFKA_BROKERS']);
    expect(faulty({ KAFKA_BROKERS: '[fd00::1]:9092,[::1]:9093' })).toEqual([]);
    for (const broken of ['::1:9092', '[::1]', '[::1:9092', '[a]b:1', '[]:1'])
      expect([broken, faulty({ KAFKA_BROKERS: broken })]).toEqual([broken, ['KAFKA_BROKERS']]);
    expect(faulty({ KAFKA_SASL_MECHANISM: 'gssapi' })).toEqual(['KAFKA_SASL_MECHANISM']);
    const user = { KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    expect(faulty(user).sort()).toEqual(['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_USERNAME']);
    expect(faulty({ KAFKA_TLS_CA: ownCertificate().cert })).toEqual(['KAFKA_TLS_CA']);
    const noToken = { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_FILE: '/none' };
    expect(faulty(noToken)).toEqual(['KAFKA_SASL_TOKEN_FILE']);
  });
});
