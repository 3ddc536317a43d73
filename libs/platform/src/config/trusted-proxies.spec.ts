import { IsOptional } from 'class-validator';
import { ConfigError, loadConfig } from './load-config.js';
import { IsTrustedProxies, type TrustedProxies } from './trusted-proxies.js';

class Proxies {
  @IsOptional() @IsTrustedProxies() TRUSTED_PROXIES?: TrustedProxies;
}

describe('TRUSTED_PROXIES', () => {
  it.each([
    ['1', 1],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, fd00::/8 ,loopback', ['10.0.0.0/8', 'fd00::/8', 'loopback']],
  ])('reads %s', (text, value) => {
    expect(loadConfig(Proxies, { TRUSTED_PROXIES: text }).TRUSTED_PROXIES).toEqual(value);
  });

  it('is absent by default', () => {
    expect(loadConfig(Proxies, {}).TRUSTED_PROXIES).toBeUndefined();
  });

  it.each([
    '0',
    '11',
    '-1',
    'true',
    '*',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.1/33',
    '10.0.0.1/8/8',
    'proxy.local',
    ',',
  ])('refuses %s', (text) => {
    expect(() => loadConfig(Proxies, { TRUSTED_PROXIES: text })).toThrow(ConfigError);
  });
});
