import {
  ArrayNotEmpty,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  MinLength,
} from 'class-validator';
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

  it('says of each variable one thing that an operator can act on: required, its kind, or where its form is described', () => {
    class Settings {
      @ToNumber() @IsInt() @Min(1) @Max(9) COUNT!: number;
      @ToList() @ArrayNotEmpty() @MinLength(32, { each: true }) TOKEN!: string[];
      @IsOptional() @Matches(/^[A-Za-z0-9+/]{43}=$/) PEPPER?: string;
    }
    const faults = (env: Record<string, string>): unknown => {
      try {
        return loadConfig(Settings, env);
      } catch (failure) {
        return failure instanceof ConfigError ? failure.faults : failure;
      }
    };
    expect(faults({})).toEqual([
      'COUNT: is required, must be an integer number',
      'TOKEN: is required, should not be empty',
    ]);
    const token = 'x'.repeat(32);
    expect(faults({ COUNT: 'many', TOKEN: 'short', PEPPER: 'abc' })).toEqual([
      'COUNT: must be an integer number',
      'TOKEN: each value in TOKEN must be longer than or equal to 32 characters',
      'PEPPER: does not have the form that .env.example describes',
    ]);
    expect(faults({ COUNT: '10', TOKEN: token })).toEqual(['COUNT: must not be greater than 9']);
  });

  it('names every fault in one message and no value', () => {
    const load = (): object =>
      loadConfig(ProbeConfig, { PORT: '70000', VERBOSE: 'maybe', FLEET_TOKEN: 'short!' });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(/3 fault\(s\)[\s\S]*PORT[\s\S]*FLEET_TOKEN[\s\S]*VERBOSE/);
    expect(load).not.toThrow(/70000|maybe|short!/);
  });
});
