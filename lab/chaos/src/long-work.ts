import { setTimeout as pause } from 'node:timers/promises';
import { eventually, seededRandom } from '@gateway/testing';
import pg from 'pg';
import type { Part } from './fault-plan.js';
import { resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';

type Json = Record<string, unknown>;

const VIDEOS = 2;
const BACKGROUND = 4;
const LINES = 120;
/** Each at a provider that runs batches itself: in OpenAI's manner, and in Anthropic's, whose batches carry no name of ours. */
const BATCHES = [
  { endpoint: '/v1/chat/completions', model: 'simulator/chat' },
  { endpoint: '/v1/messages', model: 'simulator/claude' },
] as const;
const KILLS = 3;
/** Time from the begin of the work to its end, some seconds. */
const KILLED_WITHIN_MS = 1_500;
const AWAY_MS = { least: 50, most: 800 };
/** Leases that died, back-off, and units that are let in again once they are posted. */
const END_MS = 240_000;
/** Parts to kill: the workers most often, the edge with and without them. */
const TARGETS: readonly (readonly Part[])[] = [['workers'], ['workers'], ['workers', 'edge-0'], ['edge-0']];

interface Begun {
  videos: string[];
  responses: string[];
  batches: string[];
  /** Units to be paid of each task. */
  paid: Map<string, number>;
}

/** W01: workers and edges killed while videos, a batch and background responses are under way. */
export async function runLongWork(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization } = run;
  const startMs = performance.now();
  const random = seededRandom(seed);
  const call = callerOf(run, organization.keys[0].secret);
  const begun = await begin(call, seed);
  const schedule: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const waitMs = Math.floor(random.fraction() * KILLED_WITHIN_MS);
    const awayMs = AWAY_MS.least + Math.floor(random.fraction() * (AWAY_MS.most - AWAY_MS.least));
    const parts = TARGETS[Math.floor(random.fraction() * TARGETS.length)];
    await pause(waitMs);
    schedule.push(`after ${waitMs} ms kill ${parts.join(' and ')} for ${awayMs} ms`);
    const killed = parts.map((name) => {
      const part = fleet.parts.get(name);
      if (part === undefined) throw new Error(`This fleet has no ${name}.`);
      return part;
    });
    await Promise.all(killed.map(async (part) => part.kill()));
    await pause(awayMs);
    await Promise.all(killed.map((part) => part.restart()));
  }
  const loadEndMs = performance.now();
  const { whole, differences } = await ended(call, begun);
  differences.push(...(await paidOnce(fleet.databaseUrl, begun)));
  const settled = await untilSettled(run);
  notes.push(`seed ${seed}: ended ${Math.round(performance.now() - loadEndMs)} ms after the last kill`);
  const kills = schedule.join().split(/kill | and /).length - 1;
  return resultOf(run, {
    ...{
      seed,
      case: 'W01',
      requests: VIDEOS + BACKGROUND + BATCHES.length,
      kills,
      stops: 0,
      startMs,
      loadEndMs,
    },
    ...{
      settled,
      answers: [],
      sent: VIDEOS + BACKGROUND + BATCHES.length * LINES,
      whole,
      schedule,
      differences,
    },
  });
}

export type Call = (
  method: string,
  path: string,
  body?: object | FormData,
) => Promise<{ body: Json; text: string; id: string }>;

/** Asks until it is answered: what is asked while the edge is away is asked again, but nothing is begun then. */
function callerOf({ fleet }: Run, secret: string): Call {
  const [{ url }] = fleet.edges;
  return (method, path, body) =>
    eventually(
      async () => {
        const isForm = body instanceof FormData;
        const answer = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${secret}`,
            ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : isForm ? body : JSON.stringify(body),
        }).catch(() => null);
        if (answer === null || answer.status >= 500) return null;
        const text = await answer.text().catch(() => null);
        if (text === null) return null;
        const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
        if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
        return {
          body: isJson ? (JSON.parse(text) as Json) : {},
          text,
          id: answer.headers.get('x-request-id') ?? '',
        };
      },
      { timeoutMs: 120_000, intervalMs: 100 },
    );
}

async function begin(call: Call, seed: number): Promise<Begun> {
  const paid = new Map<string, number>();
  const batches: string[] = [];
  for (const { endpoint, model } of BATCHES) {
    const lines = Array.from({ length: LINES }, (_, n) => {
      const messages = [{ role: 'user', content: `${seed} ${n}` }];
      const body = { model, max_tokens: 64, messages };
      return JSON.stringify({ custom_id: `c-${n}`, method: 'POST', url: endpoint, body });
    });
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new Blob([lines.join('\n')]), 'in.jsonl');
    const file = await call('POST', '/v1/files', form);
    const asked = { input_file_id: file.body.id, endpoint, completion_window: '24h' };
    const batch = await call('POST', '/v1/batches', asked);
    batches.push(String(batch.body.id));
    paid.set(batch.id, LINES);
  }
  const videos: string[] = [];
  for (let n = 0; n < VIDEOS; n += 1) {
    const made = await call('POST', '/v1/video/generations', {
      ...{ model: 'simulator/video', prompt: `a fox ${seed} ${n}`, duration: 4 },
    });
    videos.push(String(made.body.id));
    paid.set(made.id, 1);
  }
  const responses: string[] = [];
  for (let n = 0; n < BACKGROUND; n += 1) {
    const made = await call('POST', '/v1/responses', {
      ...{ model: 'simulator/chat', input: `tell me ${seed} ${n}`, background: true },
    });
    responses.push(String(made.body.id));
    paid.set(made.id, 1);
  }
  return { videos, responses, batches, paid };
}

/** Pieces that ended as they should have: one for each task and each answered line of a batch. */
interface Ended {
  whole: number;
  differences: string[];
}

export async function ended(
  call: Call,
  { videos, responses, batches }: Pick<Begun, 'videos' | 'responses' | 'batches'>,
): Promise<Ended> {
  let whole = 0;
  const differences: string[] = [];
  const untilEnd = async (path: string): Promise<Json> => {
    const ends = ['completed', 'failed', 'cancelled', 'expired', 'incomplete'];
    let seen: Json = {};
    await eventually(
      async () => {
        seen = (await call('GET', path)).body;
        return ends.includes(String(seen.status));
      },
      { timeoutMs: END_MS, intervalMs: 250 },
    ).catch(() => undefined);
    if (seen.status !== 'completed')
      differences.push(
        `${path} is ${String(seen.status)}: ${JSON.stringify(seen.errors ?? seen.error ?? null)}`,
      );
    return seen;
  };
  const tasks = [
    ...videos.map((id) => `/v1/video/generations/${id}`),
    ...responses.map((id) => `/v1/responses/${id}`),
  ];
  for (const task of tasks) if ((await untilEnd(task)).status === 'completed') whole += 1;
  for (const id of batches) {
    const batch = await linesOf(await untilEnd(`/v1/batches/${id}`), call);
    whole += batch.whole;
    differences.push(...batch.differences);
  }
  return { whole, differences };
}

/** Returns the answers of an ended batch, and the lines that it does not answer as it should. */
async function linesOf({ request_counts: counts, output_file_id: output }: Json, call: Call): Promise<Ended> {
  const differences: string[] = [];
  const wanted = { total: LINES, completed: LINES, failed: 0 };
  if (JSON.stringify(counts) !== JSON.stringify(wanted))
    differences.push(`the batch has ${JSON.stringify(counts)}`);
  if (typeof output !== 'string') return { whole: 0, differences };
  const { text } = await call('GET', `/v1/files/${output}/content`);
  const ids = text
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as Json).custom_id);
  const whole = new Set(ids).size;
  if (whole !== LINES || ids.length !== LINES)
    differences.push(`the batch answers ${ids.length} lines, ${whole} of them once`);
  return { whole, differences };
}

/** Checks that every unit of each piece of work is paid for once, and no unanswered piece is. */
async function paidOnce(databaseUrl: string, { paid }: Begun): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let found = '';
  try {
    await eventually(
      async () => {
        const { rows } = await client.query<{ request_id: string; paid: number }>(
          `SELECT request_id, count(*) FILTER (WHERE cost > 0)::int AS paid FROM usage.usage_event
           WHERE request_id = ANY ($1) GROUP BY 1`,
          [[...paid.keys()]],
        );
        const seen = new Map(rows.map(({ request_id, paid: units }) => [request_id, units]));
        const wrong = [...paid].filter(([id, units]) => seen.get(id) !== units);
        found = wrong.map(([id, units]) => `${id}: ${seen.get(id) ?? 0} paid, not ${units}`).join('; ');
        return wrong.length === 0;
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
    return [];
  } catch {
    return [`units are paid for otherwise than once: ${found}`];
  } finally {
    await client.end();
  }
}
