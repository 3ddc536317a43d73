import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Footprint } from './one-completion.fixture.js';

/**
 * Bounds of what one completion runs of the build, platform and libraries included. They only go down, except for a
 * feature that every request takes part in. Since November 2026 these are: measured routes (2 files, 7 functions);
 * settled facts before a rejection for money (1, 10); JSON kept as it was written (2, 9); earlier reasoning (2, 2); openings
 * of streams (1, 2); faults by account, doubted counts and stop sequences (0, 8); a route's translation (1, 0); the price of the
 * hour (1, 1); keys that end under way (1, 3); routes that the request chooses (1, 4); connections that end by themselves
 * (0, 1); the times of one upstream (0, 1). The goal is 75 files and 285 functions.
 */
const FILES_MAX = { plain: 89, streamed: 92 };
const FUNCTIONS_MAX = { plain: 391, streamed: 414 };

/**
 * Bounds of what one completion allocates on V8's heap in files of ours and what they call, the journal's way into the
 * event log included. After 300 requests of warm-up; V8 goes on compiling, and with 1,500 it is an eighth less. They only
 * go down as well. A slow machine adds what timers allocate meanwhile.
 */
const BYTES_MAX = { plain: 108_000, streamed: 210_000 };

/** Runs a program of this folder from the build; returns what it prints. */
function printed(program: string): unknown {
  const file = new URL(`../../../../dist/libs/services/edge/src/${program}.js`, import.meta.url);
  return JSON.parse(
    execFileSync(process.execPath, [fileURLToPath(file)], { encoding: 'utf8', timeout: 240_000 }),
  );
}

function filesOf(footprint: Footprint): number {
  return Object.keys(footprint).length;
}

function functionsOf(footprint: Footprint): number {
  return Object.values(footprint).reduce((sum, functions) => sum + Object.keys(functions).length, 0);
}

describe('one chat completion in the built edge', () => {
  const { plain, streamed, frames } = printed('one-completion.fixture') as {
    plain: Footprint;
    streamed: Footprint;
    frames: number;
  };

  it('runs no more files and functions than before', () => {
    expect(filesOf(plain)).toBeLessThanOrEqual(FILES_MAX.plain);
    expect(functionsOf(plain)).toBeLessThanOrEqual(FUNCTIONS_MAX.plain);
    expect(filesOf(streamed)).toBeLessThanOrEqual(FILES_MAX.streamed);
    expect(functionsOf(streamed)).toBeLessThanOrEqual(FUNCTIONS_MAX.streamed);
  });

  it('allocates no more bytes than before', () => {
    const bytes = printed('allocated-bytes.fixture') as Record<keyof typeof BYTES_MAX, [string, number][]>;
    const sum = (files: [string, number][]): number => files.reduce((all, [, of]) => all + of, 0);
    // The files that allocate most are named where a bound is passed.
    const isWithin = (kind: keyof typeof BYTES_MAX): unknown =>
      sum(bytes[kind]) <= BYTES_MAX[kind] || [sum(bytes[kind]), bytes[kind].slice(0, 10)];
    expect({ plain: isWithin('plain'), streamed: isWithin('streamed') }).toEqual({
      plain: true,
      streamed: true,
    });
  });

  it('reads its ten files, in docs/architecture.md', () => {
    for (const file of [
      'libs/services/edge/src/inference/endpoint.js',
      'libs/services/edge/src/inference/inference.js',
      'libs/endpoints/src/text/read.js',
      'libs/routing/src/plan.js',
      'libs/services/edge/src/admission/admission.js',
      'libs/services/edge/src/units/unit.js',
      'libs/services/edge/src/inference/deliveries.js',
      'libs/routing/src/run-attempts.js',
      'libs/services/edge/src/upstream/attempt.js',
      'libs/endpoints/src/text/translate.js',
    ])
      expect([Object.keys(plain), Object.keys(streamed)]).toEqual([
        expect.arrayContaining([file]),
        expect.arrayContaining([file]),
      ]);
  });

  it('decodes each answer once: one parse and one reading of a plain answer and of each frame', () => {
    const parse = 'libs/dialects/src/body/upstream-json.js';
    const decoder = 'libs/dialects/src/text/chat/chat-decoder.js';
    expect(plain[parse].parseUpstreamJson).toBe(1);
    expect(plain[decoder].read).toBe(1);
    expect(streamed[parse].parseUpstreamJson).toBe(frames);
    expect(streamed[decoder].read).toBe(frames);
  });

  it('judges its usage once, and makes no id that its provider gives', () => {
    expect(plain['libs/money/src/plausible-usage.js'].plausibleUsage).toBe(1);
    // Of the request and of its usage event.
    expect(plain['libs/contracts/src/ids.js'].uuidv7).toBe(2);
  });
});
