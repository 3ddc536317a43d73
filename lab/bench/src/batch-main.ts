// `npm run bench:batch -- [--lines 50000] [--kib 0.2] [--beside 20 [--rounds 5]]`: a batch of so many lines of so many KiB, through a
// fleet of its own; with chats beside it, as many seconds of them alone and beside a batch in turn, so many times.
import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run bench:batch -- [--lines 50000] [--kib 0.2] [--beside 20 [--rounds 5]]`;

const { values } = readFlags(USAGE, {
  lines: { type: 'string', default: '50000' },
  kib: { type: 'string', default: '0.2' },
  beside: { type: 'string', default: '0' },
  rounds: { type: 'string', default: '5' },
});

// After the flags: what it loads takes most of a second.
const { Usd } = await import('@gateway/money');
const { startFleet, startGuard } = await import('@gateway/testing');
const { benchKey } = await import('./fleet.js');
const { memoryMiB, processorSeconds } = await import('./proc.js');
const { JAVA_OPTIONS } = await import('./processes.js');

const LINES = Number(values.lines);
const FILLER = 'a'.repeat(Math.max(0, Math.round(Number(values.kib) * 1_024) - 180));
const PIECE_LINES = 100;
const POLL_MS = 1_000;
const CHATS_A_SECOND = Number(values.beside);
const ROUNDS = CHATS_A_SECOND > 0 ? Number(values.rounds) : 1;
/** Time of chats alone, before each batch: the first ones of a fresh edge do not count. */
const ALONE_MS = { warm: 20_000, measured: 20_000 };
/** Lines of a batch that ended are still being posted then, which is no work of the chats. */
const POSTED_MS = 3_000;
const MEMORY_PARTS = 5;
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

  async ended(): Promise<{ tookMs: number[]; refused: number }> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    return { tookMs: this.tookMs, refused: this.refused };
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

/** Times of chats in windows of one kind, and the edge's figures meanwhile. */
class Windows {
  private readonly tookMs: number[] = [];
  private readonly cores: number[] = [];
  private refused = 0;

  add(chats: { tookMs: number[]; refused: number }, cores: number): void {
    this.tookMs.push(...chats.tookMs);
    this.refused += chats.refused;
    this.cores.push(cores);
  }

  figures(): Json {
    const at = (part: number): number => partOf(this.tookMs, part);
    return {
      ...{ chats: this.tookMs.length, refused: this.refused },
      ...{ p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) },
      edge_cores: this.cores,
      edge_cores_mean: this.cores.reduce((sum, one) => sum + one, 0) / this.cores.length,
    };
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

type Call = (method: string, path: string, body?: string | FormData) => Promise<Response>;

async function measure(url: string, key: string): Promise<Json> {
  const pids = { workers: fleet.process('workers').pid ?? 0, edge: fleet.process('edge').pid ?? 0 };
  const call: Call = async (method, path, body) => {
    const json = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${key}`, ...json };
    const answer = await fetch(`${url}${path}`, { method, headers, body, duplex: 'half' });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const chat = (): Promise<Response> => call('POST', '/v1/chat/completions', CHAT);
  const idle = { workers: memoryMiB(pids.workers), edge: memoryMiB(pids.edge) };
  const uploadMs = performance.now();
  const file = (await (await upload(call)).json()) as { id: string; bytes: number };
  const uploadSeconds = (performance.now() - uploadMs) / 1_000;
  const [alone, beside] = [new Windows(), new Windows()];
  if (CHATS_A_SECOND > 0) await chatsFor(chat, ALONE_MS.warm);
  const batches: Json[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (CHATS_A_SECOND > 0) {
      const before = processorSeconds(pids.edge);
      alone.add(
        await chatsFor(chat, ALONE_MS.measured, () => looked(call, '/v1/batches?limit=1')),
        (processorSeconds(pids.edge) - before) / (ALONE_MS.measured / 1_000),
      );
    }
    const chats = CHATS_A_SECOND > 0 ? new Chats(chat) : null;
    const { cores, ...batch } = await runBatch(call, { file: file.id, pids });
    if (chats !== null) beside.add(await chats.ended(), cores.edge);
    batches.push({ ...batch, cores });
    if (chats !== null) await pause(POSTED_MS);
  }
  return {
    ...{ file_mib: file.bytes / 1_048_576, upload_seconds: uploadSeconds, idle_mib: idle, batches },
    ...(CHATS_A_SECOND > 0 && {
      chats: { a_second: CHATS_A_SECOND, alone: alone.figures(), beside: beside.figures() },
    }),
  };
}

/** One batch from its begin to its last posted event. */
async function runBatch(
  call: Call,
  { file, pids }: { file: string; pids: { workers: number; edge: number } },
): Promise<Json & { cores: { workers: number; edge: number } }> {
  const memory = { workers: [] as number[], edge: [] as number[] };
  const sampler = setInterval(() => {
    for (const name of ['workers', 'edge'] as const) memory[name].push(memoryMiB(pids[name]));
  }, 100);
  const spentBefore = { workers: processorSeconds(pids.workers), edge: processorSeconds(pids.edge) };
  const startMs = performance.now();
  const before = await balanceOf(call);
  const asked = { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const made = await call('POST', '/v1/batches', JSON.stringify(asked));
  const request = made.headers.get('x-request-id') ?? '';
  const { id } = (await made.json()) as { id: string };
  let held = 0;
  let batch: Json;
  do {
    await pause(POLL_MS);
    const seen = await looked(call, `/v1/batches/${id}`);
    batch = seen.answer;
    held = Math.max(held, seen.held);
  } while (!['completed', 'failed', 'expired'].includes(String(batch.status)));
  const seconds = (performance.now() - startMs) / 1_000;
  clearInterval(sampler);
  const spent = (name: 'workers' | 'edge'): number =>
    (processorSeconds(pids[name]) - spentBefore[name]) / seconds;
  const cores = { workers: spent('workers'), edge: spent('edge') };
  const events = await countedEvents(request);
  const after = await balanceOf(call);
  return {
    ...{ status: batch.status, counts: batch.request_counts, errors: batch.errors },
    ...{ batch_seconds: seconds, lines_per_second: LINES / seconds, events, cores },
    ...{ held_usd_at_most: held, reserved_usd_at_the_end: after.reserved_usd },
    // Chats beside it are in it as well.
    balance_change_usd: Usd.parse(before.balance_usd).minus(Usd.parse(after.balance_usd)).toString(),
    memory_mib: { workers: overTime(memory.workers), edge: overTime(memory.edge) },
  };
}

/** Polls once a second beside the chats, and also without a batch, because it costs the edge as well. */
async function looked(call: Call, path: string): Promise<{ answer: Json; held: number }> {
  const answer = (await (await call('GET', path)).json()) as Json;
  return { answer, held: Number((await balanceOf(call)).reserved_usd) };
}

async function balanceOf(call: Call): Promise<{ balance_usd: string; reserved_usd: string }> {
  const answer = await call('GET', '/v1/balance');
  return (await answer.json()) as { balance_usd: string; reserved_usd: string };
}

/** The most, and the median of each fifth of the time: memory that grows is seen in the last ones. */
function overTime(samples: readonly number[]): Json {
  const size = Math.ceil(samples.length / MEMORY_PARTS);
  const medians = Array.from({ length: MEMORY_PARTS }, (_, part) =>
    partOf(samples.slice(part * size, (part + 1) * size), 0.5),
  );
  return { most: Math.max(...samples), medians };
}

function partOf(samples: readonly number[], part: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

async function chatsFor(
  chat: () => Promise<Response>,
  forMs: number,
  look: () => Promise<unknown> = () => Promise.resolve(),
): Promise<{ tookMs: number[]; refused: number }> {
  const chats = new Chats(chat);
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    await pause(Math.min(POLL_MS, Math.max(0, endMs - performance.now())));
    await look();
  }
  return chats.ended();
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

/** Returns the request's events: how many, of how many units, their cost, once all are posted. */
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
