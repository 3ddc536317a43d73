import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, write } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';
import { startProbe } from '../boot/probe-app.fixture.js';
import { createLogger } from './logger.js';
import { LogWriter, type LogFile } from './log-writer.js';

afterEach(() => jest.useRealTimers());

/** A file whose writes are answered one by one, as the test says. */
function file() {
  const asked: { text: string; done: (error: Error | null, taken?: number) => void }[] = [];
  let taken = '';
  const double: LogFile = {
    open: () => 7,
    write: (_fd, bytes, offset, done) => {
      const text = bytes.toString('utf8', offset);
      const answer = (error: Error | null, count = text.length): void => {
        if (error === null) taken += text.slice(0, count);
        done(error, error === null ? count : 0);
      };
      asked.push({ text, done: answer });
    },
  };
  return { double, asked, taken: () => taken };
}

const refused = (code: string): Error => Object.assign(new Error(`${code}, write`), { code });

describe('log lines on their way', () => {
  let writer: LogWriter;

  it('outlive a device that is full: the process goes on, and lines beyond 1 MiB are counted', async () => {
    const answers: (Error | null)[] = [];
    const first = new Promise<void>((resolve) => {
      const full: LogFile = {
        open: () => openSync('/dev/full', 'a'),
        write: (fd, bytes, offset, done) =>
          write(fd, bytes, offset, (error, taken) => {
            answers.push(error);
            done(error, taken);
            resolve();
          }),
      };
      writer = new LogWriter(full);
    });
    const logger = createLogger({ service: 'probe', level: 'info' }, writer);
    const reason = 'x'.repeat(1_000);
    logger.info({ reason }, 'full');
    await first;
    for (let line = 0; line < 2_000; line += 1) logger.info({ reason }, 'full');
    expect(answers[0]).toMatchObject({ code: 'ENOSPC' });
    expect(writer.dropped).toBeGreaterThan(900);
    expect(writer.dropped).toBeLessThan(1_200);
    writer.flushSync();
  });

  it('go out whole and in order once there is room again, also after half a line was taken', () => {
    jest.useFakeTimers();
    const { double, asked, taken } = file();
    const lines = new LogWriter(double);
    lines.write('one\n');
    lines.write('two\n');
    asked[0].done(null, 2);
    asked[1].done(refused('ENOSPC'));
    lines.write('three\n');
    expect(asked).toHaveLength(2);
    jest.advanceTimersByTime(1_000);
    asked[2].done(null);
    asked[3].done(null);
    expect(taken()).toBe('one\ntwo\nthree\n');
    expect(lines.dropped).toBe(0);
  });

  it('are dropped and counted where nobody reads the pipe any more', () => {
    const { double, asked, taken } = file();
    const lines = new LogWriter(double);
    lines.write('one\n');
    lines.write('two\n');
    asked[0].done(refused('EPIPE'));
    expect(lines.dropped).toBe(2);
    lines.write('three\n');
    asked[1].done(null);
    expect(taken()).toBe('three\n');
  });

  it('end no process whose reader has gone: it goes on and counts them', async () => {
    const loader = join(repository, 'tools/infra/run-ts.mjs');
    const fixture = join(import.meta.dirname, 'log-until-closed.fixture.ts');
    const child = spawn(process.execPath, ['--no-warnings', '--import', loader, fixture]);
    child.stdout.once('data', () => child.stdout.destroy());
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, said]).toEqual([0, expect.stringMatching(/^dropped \d+\n$/)]);
  });

  it('wait where no file can be opened, because no descriptor is free', () => {
    jest.useFakeTimers();
    const { double, asked, taken } = file();
    let isFree = false;
    const open = (): number => {
      if (!isFree) throw refused('EMFILE');
      return 7;
    };
    const lines = new LogWriter({ ...double, open });
    lines.write('one\n');
    isFree = true;
    jest.advanceTimersByTime(1_000);
    asked[0].done(null);
    expect(taken()).toBe('one\n');
  });

  it('end with the process: a device that takes nothing does not hold its end', () => {
    const full = new LogWriter({ open: () => openSync('/dev/full', 'a'), write: () => undefined });
    full.write('one\n');
    full.write('two\n');
    full.flushSync();
  });

  it('that were given up are counted in the metrics', async () => {
    const probe = await startProbe();
    try {
      const metrics = await (await fetch(`${probe.url}/metrics`)).text();
      expect(metrics).toContain('gateway_log_lines_dropped_total 0');
    } finally {
      await probe.close();
    }
  });
});
