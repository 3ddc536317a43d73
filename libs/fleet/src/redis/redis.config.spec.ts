import { ConfigError, loadConfig } from '@gateway/platform';
import { ownCertificate } from '@gateway/testing';
import { redisAddress, RedisConfig } from './redis.config.js';

const address = (env: Record<string, string>): unknown => redisAddress(loadConfig(RedisConfig, env));
const faults = (env: Record<string, string>): readonly string[] => {
  try {
    loadConfig(RedisConfig, env);
    return [];
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure;
    return failure.faults;
  }
};

describe('RedisConfig', () => {
  it('names one server, a cluster or sentinels, with credentials and TLS', () => {
    expect(address({ REDIS_URL: 'redis://h:1/2' })).toEqual({ url: 'redis://h:1/2' });
    expect(address({ REDIS_URL: 'rediss://h:1' })).toEqual({ url: 'rediss://h:1', tls: {} });
    const access = { REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p', REDIS_TLS: 'true' };
    expect(address({ ...access, REDIS_CLUSTER_NODES: 'a:1, b:2' })).toEqual({
      ...{ username: 'u', password: 'p', tls: {} },
      clusterNodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    });
    expect(address({ REDIS_CLUSTER_NODES: '[fd00::1]:6379' })).toEqual({
      clusterNodes: [{ host: 'fd00::1', port: 6379 }],
    });
    const sentinels = { REDIS_SENTINELS: 's:1', REDIS_SENTINEL_NAME: 'm', REDIS_SENTINEL_PASSWORD: 'x' };
    expect(address({ ...access, ...sentinels })).toEqual({
      ...{ username: 'u', password: 'p', tls: {} },
      ...{ sentinels: [{ host: 's', port: 1 }], name: 'm', sentinelPassword: 'x' },
    });
  });

  it('names all faults at once', () => {
    expect(faults({})).toEqual([expect.stringContaining('REDIS_URL')]);
    for (const name of ['REDIS_CLUSTER_NODES', 'REDIS_SENTINELS'])
      expect(faults({ [name]: 'a:1,b:65536' })).toEqual([expect.stringContaining(name)]);
    const wrong = {
      REDIS_URL: 'http://h',
      REDIS_TLS: 'perhaps',
      REDIS_TLS_CA: 'no certificate',
      REDIS_PASSWORD_FILE: '/none',
    };
    expect(faults(wrong).map((fault) => fault.split(':')[0])).toEqual([
      ...['REDIS_PASSWORD_FILE', 'REDIS_URL', 'REDIS_TLS', 'REDIS_TLS_CA'],
    ]);
    const plain = { REDIS_URL: 'redis://h:1', REDIS_TLS_CA: ownCertificate().cert };
    expect(faults(plain)).toEqual([expect.stringContaining('REDIS_TLS_CA: is set and not used')]);
    expect(faults({ ...plain, REDIS_URL: 'rediss://h:1' })).toEqual([]);
    expect(faults({ REDIS_CLUSTER_NODES: 'a:1', REDIS_SENTINELS: 'b:2' })).toEqual([
      expect.stringContaining('REDIS_CLUSTER_NODES: cannot be set beside REDIS_SENTINELS'),
    ]);
  });
});
