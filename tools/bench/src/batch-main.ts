// `npm run bench:batch -- [--lines 50000] [--kib 0.2] [--beside 20]`: one batch of so many lines of so many KiB, through a fleet of
// its own, with so many chats a second before it and beside it.
import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { startFleet, startGuard } from '@gateway/testing';
import { Client } from 'pg';
import { readFlags } from '@gateway/platform';
import { benchKey } from './fleet.js';
import { memoryMiB, processorSeconds } from './proc.js';
import { JAVA_OPTIONS } from './processes.js';

const USAGE = `usage: npm run bench:batch -- [--lines 50000] [--kib 0.2] [--beside 20]`;

const { values } = readFlags(USAGE, {
  lines: { type: 'string', default: '50000' },
  kib: { type: 'string', default: '0.2' },
  beside: { type: 'string', default: '0' },
});
const LINES = Number(values.lines);
const FILLER = 'a'.repeat(Math.max(0, Math.round(Number(values.kib) * 1_024) - 180));
const PIECE_LINES = 100;
const POLL_MS = 1_000;
const CHATS_A_SECOND = Number(values.beside);
/** Of chats alone, before the batch: the first ones of a fresh edge do not count. */
const ALONE_MS = { warm: 10_000, measured: 20_000 };
const APPS = ['catalogue', 'keys', 'usage', 'workers', 'edge'] as const;

type Json = Record<string, unknown>;

const CHAT = JSON.stringify({
  model: 'simulator/chat',
  messages: [{ role: 'user', content: 'beside a batch' }],
  max_tokens: 100,
});

/** Chats at a steady pace, whatever each takes. */
class Chats {
  private readonly tookMs: number[] = [];
  private readonly open = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private refused = 0;

  constructor(private readonly chat: () => Promise<Response>) {
    this.timer = setInterval(() => this.one(), 1_000 / CHATS_A_SECOND);
  }

  async ended(): Promise<Json> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    const sorted = [...this.tookMs].sort((a, b) => a - b);
    const at = (part: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
    return {
      chats: sorted.length,
      refused: this.refused,
      p50_ms: at(0.5),
      p95_ms: at(0.95),
      p99_ms: at(0.99),
    };
  }

  private one(): void {
    const startMs = performance.now();
    // One that a busy machine refuses is counted apart.
    const done = this.chat()
      .then((answer) => answer.arrayBuffer())
      .then(() => void this.tookMs.push(performance.now() - startMs))
      .catch(() => void (this.refused += 1));
    this.open.add(done);
    void done.finally(() => this.open.delete(done));
  }
}

process.env['_JAVA_OPTIONS'] = JAVA_OPTIONS;
const guard = startGuard();
const fleet = await startFleet({
  apps: APPS,
  hasOwnServers: true,
  env: { all: { KEYS_OPENING_CREDIT_USD: '1000000' } },
}).catch(async (failure: unknown) => {
  await guard.end();
  throw failure;
});
try {
  const { url } = fleet.process('edge');
  const { key } = await benchKey(url, fleet.databaseUrl, await fleet.firstLogin());
  process.stdout.write(`${JSON.stringify(await measure(url, key), null, 2)}\n`);
} finally {
  await fleet.stop();
  await guard.end();
}

async function measure(url: string, key: string): Promise<Json> {
  const pids = { workers: fleet.process('workers').pid ?? 0, edge: fleet.process('edge').pid ?? 0 };
  const most = { workers: 0, edge: 0 };
  const look = (): void => {
    for (const name of ['workers', 'edge'] as const) most[name] = Math.max(most[name], memoryMiB(pids[name]));
  };
  const call = async (method: string, path: string, body?: string | FormData): Promise<Response> => {
    const json = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${key}`, ...json };
    const answer = await fetch(`${url}${path}`, { method, headers, body, duplex: 'half' });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  look();
  const idle = { ...most };
  const sampler = setInterval(look, 100);
  const beganMs = performance.now();
  const file = (await (await upload(call)).json()) as { id: string; bytes: number };
  const uploadSeconds = (performance.now() - beganMs) / 1_000;
  const chat = (): Promise<Response> => call('POST', '/v1/chat/completions', CHAT);
  const alone = CHATS_A_SECOND > 0 ? await chatsAlone(chat, pids.edge) : null;
  const beside = alone === null ? null : new Chats(chat);
  const spentBefore = { workers: processorSeconds(pids.workers), edge: processorSeconds(pids.edge) };
  const startMs = performance.now();
  const asked = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const made = await call('POST', '/v1/batches', JSON.stringify(asked));
  const request = made.headers.get('x-request-id') ?? '';
  const { id } = (await made.json()) as { id: string };
  let held = 0;
  let batch: Json;
  do {
    await pause(POLL_MS);
    batch = (await (await call('GET', `/v1/batches/${id}`)).json()) as Json;
    const { reserved_usd: reserved } = (await (await call('GET', '/v1/balance')).json()) as Json;
    held = Math.max(held, Number(reserved));
  } while (!['completed', 'failed', 'expired'].includes(String(batch.status)));
  const seconds = (performance.now() - startMs) / 1_000;
  clearInterval(sampler);
  const besideIt = (await beside?.ended()) ?? null;
  const counted = await countedEvents(request);
  const balance = (await (await call('GET', '/v1/balance')).json()) as Json;
  const spent = (name: 'workers' | 'edge'): number =>
    (processorSeconds(pids[name]) - spentBefore[name]) / seconds;
  return {
    status: batch.status,
    counts: batch.request_counts,
    errors: batch.errors,
    file_mib: file.bytes / 1_048_576,
    upload_seconds: uploadSeconds,
    batch_seconds: seconds,
    lines_per_second: LINES / seconds,
    events: counted,
    held_usd_at_most: held,
    reserved_usd_at_the_end: balance.reserved_usd,
    cores: { workers: spent('workers'), edge: spent('edge') },
    memory_mib: { idle, most },
    ...(alone !== null && { chats: { a_second: CHATS_A_SECOND, alone, beside: besideIt } }),
  };
}

async function chatsAlone(chat: () => Promise<Response>, edge: number): Promise<Json> {
  const warm = new Chats(chat);
  await pause(ALONE_MS.warm);
  await warm.ended();
  const [chats, before] = [new Chats(chat), processorSeconds(edge)];
  await pause(ALONE_MS.measured);
  const cores = (processorSeconds(edge) - before) / (ALONE_MS.measured / 1_000);
  return { ...(await chats.ended()), edge_cores: cores };
}

function upload(
  call: (method: string, path: string, body: FormData) => Promise<Response>,
): Promise<Response> {
  const form = new FormData();
  form.append('purpose', 'batch');
  const pieces: Blob[] = [];
  for (let from = 0; from < LINES; from += PIECE_LINES) {
    const count = Math.min(PIECE_LINES, LINES - from);
    pieces.push(new Blob([Array.from({ length: count }, (_, n) => `${line(from + n)}\n`).join('')]));
  }
  form.append('file', new Blob(pieces), 'in.jsonl');
  return call('POST', '/v1/files', form);
}

function line(n: number): string {
  const messages = [{ role: 'user', content: `${n} ${FILLER}` }];
  const body = { model: 'simulator/chat', messages, max_tokens: 100 };
  return JSON.stringify({ custom_id: `c-${n}`, method: 'POST', url: '/v1/chat/completions', body });
}

/** Of the request: how many, of how many units, what they cost and what was transferred for them, once all are posted. */
async function countedEvents(request: string): Promise<Json> {
  const database = new Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  try {
    for (let tries = 0; ; tries += 1) {
      const { rows } = await database.query<Json>(
        `SELECT count(*)::int AS events, count(DISTINCT unit)::int AS units, sum(cost)::text AS cost_usd
         FROM usage.usage_event WHERE request_id = $1`,
        [request],
      );
      if (rows[0].events === LINES || tries === 60) return rows[0];
      await pause(POLL_MS);
    }
  } finally {
    await database.end();
  }
}
