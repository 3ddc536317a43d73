import type { RequestContents, UnitContent } from '@gateway/contracts';
import { Deadlines } from '@gateway/platform';
import { fixedClock, type FixedClock } from '@gateway/testing/plain';
import type { AdmittedUnit } from '../admission/admission.js';
import { testPrincipal } from '../edge.fixture.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import { ContentLog } from './content-log.js';

const MIB = 1_048_576;

let clock: FixedClock;
let kept: UnitContent[];
let lost: number;
let isUnavailable: boolean;
let log: ContentLog;

beforeEach(() => {
  clock = fixedClock('2026-11-01T12:00:00Z');
  kept = [];
  lost = 0;
  isUnavailable = false;
  const store: Pick<RequestContents, 'keep'> = {
    keep: async (contents) => {
      if (isUnavailable) throw new Error('away');
      kept.push(...contents);
    },
  };
  log = new ContentLog({
    store,
    deadlines: new Deadlines(clock),
    onStored: () => undefined,
    onDropped: (count) => (lost += count),
  });
});

function begin(
  requestId: string,
  bytes = '{}',
): { write: (out: string | Uint8Array) => void; end: () => void } {
  const client = { tee: null } as unknown as Client;
  const principal = testPrincipal('key_1', { requestLogging: { retentionDays: 1, redact: false } });
  const call = { requestId, unit: 0, path: '/v1/x', bytes: Buffer.from(bytes), receivedAtMs: clock.now() };
  const admitted = { principal, asked: { endUser: null } };
  const transcript = log.begin(
    call as unknown as InferenceRequest,
    admitted as unknown as AdmittedUnit,
    client,
  );
  return { write: (out) => client.tee?.(out), end: () => transcript.end() };
}

const of = (id: string): UnitContent | undefined => kept.find(({ request_id }) => request_id === id);

describe('the log of contents', () => {
  it('holds at most 64 MiB of answers under way: later ones leave their size, and room comes back', async () => {
    const long = 'x'.repeat(MIB);
    const open = Array.from({ length: 64 }, (_, n) => begin(`req_${n}`));
    open.forEach(({ write }) => write(long));
    const late = begin('req_late');
    late.write('x');
    late.write('y');
    late.end();
    await log.flush();
    expect(of('req_late')).toMatchObject({ response: null, response_bytes: 2 });
    open[0].end();
    const next = begin('req_next');
    next.write('x');
    next.end();
    await log.flush();
    expect([of('req_0')?.response?.length, of('req_next')?.response]).toEqual([MIB, 'x']);
  });

  it('keeps bytes that are no text, and a request that is no JSON, as their size', async () => {
    const audio = begin('req_audio', '--boundary');
    audio.write(new Uint8Array(10));
    audio.write('x');
    audio.end();
    await log.flush();
    expect(of('req_audio')).toMatchObject({
      request: null,
      request_bytes: 10,
      response: null,
      response_bytes: 11,
    });
  });

  it('loses what is too much while nobody takes it, counts it, and never throws', async () => {
    isUnavailable = true;
    for (let n = 0; n < 100; n += 1) {
      const one = begin(`req_${n}`);
      one.write('x'.repeat(MIB - 1));
      one.end();
    }
    expect(lost).toBeGreaterThan(60);
    await clock.advance(300);
    isUnavailable = false;
    await clock.advance(300);
    await log.flush();
    expect(kept.length + lost).toBe(100);
    expect(of('req_0')).toBeDefined();
  });

  it('gives up after ten seconds, and goes on', async () => {
    isUnavailable = true;
    begin('req_lost').end();
    for (let tries = 0; tries < 60; tries += 1) await clock.advance(250);
    expect(lost).toBe(1);
    isUnavailable = false;
    begin('req_next').end();
    await clock.advance(10);
    await log.flush();
    expect(kept.map(({ request_id }) => request_id)).toEqual(['req_next']);
  });
});
