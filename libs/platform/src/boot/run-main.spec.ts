import { jest } from '@jest/globals';
import { IsString } from 'class-validator';
import { loadConfig } from '../config/load-config.js';
import { runMain } from './run-main.js';

class NeedsToken {
  @IsString()
  FLEET_TOKEN!: string;
}

describe('runMain', () => {
  const argv = process.argv;
  afterEach(() => {
    process.argv = argv;
    jest.restoreAllMocks();
  });

  it('--check-config reads the configuration and starts nothing', async () => {
    process.argv = ['node', 'probe', '--check-config'];
    const printed = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const start = jest.fn<() => never>();
    await runMain('probe', () => start);
    expect(start).not.toHaveBeenCalled();
    expect(printed).toHaveBeenCalledWith('probe: the configuration is valid\n');
  });

  it('ends with status 2 where a flag is not known, and names those that are', async () => {
    process.argv = ['node', 'probe', '--jsom'];
    const end = new Error('ended');
    const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
      throw end;
    });
    const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(runMain('probe', () => jest.fn<() => never>(), ['--json'])).rejects.toBe(end);
    expect(exit).toHaveBeenCalledWith(2);
    expect(printed).toHaveBeenCalledWith('probe: --jsom is not known; there is --check-config, --json\n');
  });

  it('ends with status 1 and the faults of the configuration, without a stack', async () => {
    process.argv = ['node', 'probe'];
    const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runMain('probe', () => {
      loadConfig(NeedsToken, {});
      throw new Error('not reached');
    });
    expect(exit).toHaveBeenCalledWith(1);
    expect(String(printed.mock.calls[0]?.[0])).toMatch(
      /^probe: The configuration has 1 fault\(s\):\n {2}FLEET_TOKEN/,
    );
    expect(String(printed.mock.calls[0]?.[0])).not.toContain('    at ');
  });

  it('issue 11 says what to do where HOST is an address of another machine', async () => {
    process.argv = ['node', 'probe'];
    jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await runMain('probe', () => async () => {
      const refused = { code: 'EADDRNOTAVAIL', address: '203.0.113.9', port: 8080 };
      throw Object.assign(new Error('listen EADDRNOTAVAIL'), refused);
    });
    expect(printed.mock.calls[0]?.[0]).toBe(
      'probe: 203.0.113.9 is no address of this machine: set HOST to one that is, 0.0.0.0 for all of them.\n',
    );
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s closes what runs and ends with status 0',
    async (signal) => {
      process.argv = ['node', 'probe'];
      const before = process.listeners(signal);
      const ended = new Promise((resolve) => {
        jest.spyOn(process, 'exit').mockImplementation(((code: number) => resolve(code)) as never);
      });
      const close = jest.fn(() => Promise.resolve());
      await runMain('probe', () => () => Promise.resolve({ close }));
      process.emit(signal);
      expect(await ended).toBe(0);
      expect(close).toHaveBeenCalledTimes(1);
      for (const listener of process.listeners(signal))
        if (!before.includes(listener)) process.removeListener(signal, listener);
    },
  );
});
