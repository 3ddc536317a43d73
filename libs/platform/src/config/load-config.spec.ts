import { IsBoolean, IsInt, IsString, Max, Min, MinLength } from 'class-validator';
import { ConfigError, loadConfig } from './load-config.js';
import { ToBoolean, ToList, ToNumber } from './transforms.js';

class ProbeConfig {
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(65_535)
  PORT = 8080;

  @IsString()
  @MinLength(16)
  FLEET_TOKEN!: string;

  @ToBoolean()
  @IsBoolean()
  VERBOSE = false;

  @ToList()
  @IsString({ each: true })
  BROKERS: string[] = [];
}

const token = 'a-token-of-the-fleet';

describe('loadConfig', () => {
  it('reads, converts, defaults and freezes', () => {
    const config = loadConfig(ProbeConfig, {
      FLEET_TOKEN: token,
      VERBOSE: 'yes',
      BROKERS: 'a:1, b:2',
      PORT: '',
      HOME: '/root',
    });
    expect(config).toEqual({ PORT: 8080, FLEET_TOKEN: token, VERBOSE: true, BROKERS: ['a:1', 'b:2'] });
    expect(Object.isFrozen(config) && Object.isFrozen(config.BROKERS)).toBe(true);
  });

  it('names every fault in one message and no value', () => {
    const load = (): object =>
      loadConfig(ProbeConfig, { PORT: '70000', VERBOSE: 'maybe', FLEET_TOKEN: 'short!' });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(/3 fault\(s\)[\s\S]*PORT[\s\S]*FLEET_TOKEN[\s\S]*VERBOSE/);
    expect(load).not.toThrow(/70000|maybe|short!/);
  });
});
