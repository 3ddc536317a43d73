import { setTimeout as pause } from 'node:timers/promises';
import { send, type Sent } from './caller.js';
import { counted, falselyRefused, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import type { Work } from './work.js';

const RATE = 200;
/** A stream's frames, one a second: the first is under way until the last has begun. */
const FRAME_MS = 1_000;
const FRAMES_MORE = 12;
const LOOK_MS = 500;
/** An overloaded edge refuses with 503, and the stream is begun again. */
const SENDINGS = 5;
const AGAIN_MS = 1_000;
const OPEN_AT_LEAST = 0.95;

/** `streams`: so many streams at once over two edges, each some twenty seconds long; every one that began is whole. */
export async function runManyStreams(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, options, history } = run;
  const { requests } = options;
  const rate = options.rate ?? RATE;
  const frames = Math.ceil(requests / rate) + FRAMES_MORE;
  const startMs = performance.now();
  const all: Sent[] = [];
  const open = watchOpen(fleet.edges.map(({ url }) => url));
  const streams: Promise<void>[] = [];
  for (let begun = 0; begun < requests;) {
    const due = Math.min(requests, ((performance.now() - startMs) / 1_000) * rate);
    for (; begun < due; begun += 1) streams.push(stream(run, { seed, n: begun, frames }, all));
    await pause(5);
  }
  await Promise.all(streams);
  const most = await open.most();
  history.push(...all);
  const loadEndMs = performance.now();
  const settled = await untilSettled(run);
  const broken = all.filter(({ isWhole, status }) => !isWhole && status !== 503);
  notes.push(
    `at most ${most} streams were open to the provider at once, begun at ${rate}/s, ${frames} s each`,
  );
  return resultOf(run, {
    ...{ seed, case: 'streams', requests, kills: 0, stops: 0, startMs, loadEndMs, settled },
    answers: all,
    schedule: [`${requests} streams at once`],
    differences: [
      ...falselyRefused(all),
      ...(broken.length === 0 ? [] : [`streams that broke: ${JSON.stringify(counted(broken))}`]),
      ...(most >= requests * OPEN_AT_LEAST
        ? []
        : [`only ${most} of ${requests} streams were open at once: this machine needs a smaller --requests`]),
    ],
  });
}

async function stream(
  { fleet, organization }: Run,
  { seed, n, frames }: { seed: number; n: number; frames: number },
  all: Sent[],
): Promise<void> {
  const work: Work = {
    ...{ n, dialect: n % 2 === 0 ? 'chat' : 'messages', stream: true, ending: 'whole' },
    ...{ promptTokens: 200, cachedTokens: 0, completionTokens: 180, frames, gapMs: FRAME_MS },
  };
  const { id: keyId, secret: key } = organization.keys[n % organization.keys.length];
  for (let sendings = 0; sendings < SENDINGS; sendings += 1) {
    const { url, name: edge } = fleet.edges[(n + sendings) % fleet.edges.length];
    const one = await send(work, { url, edge, key, keyId, tag: `streams-${seed}-${n}-${sendings}` });
    all.push(one);
    if (one.status !== 503) return;
    await pause(AGAIN_MS);
  }
}

/** The most requests that the edges had under way to providers in one look. */
function watchOpen(urls: readonly string[]): { most(): Promise<number> } {
  let most = 0;
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      const counts = await Promise.all(urls.map(openAt));
      most = Math.max(
        most,
        counts.reduce((sum, count) => sum + count, 0),
      );
      await pause(LOOK_MS);
    }
  };
  const looking = look();
  return {
    most: async () => {
      isOver = true;
      await looking;
      return most;
    },
  };
}

async function openAt(url: string): Promise<number> {
  const text = await fetch(`${url}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  return Number(/^gateway_upstream_requests_in_flight(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1] ?? 0);
}
