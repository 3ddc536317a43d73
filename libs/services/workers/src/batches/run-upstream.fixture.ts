// Run from the build by upstream-killed.drill.spec.ts: runs a batch that a provider runs itself, and is killed at a step of it.
import 'reflect-metadata';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectKey, UpstreamBatch, UpstreamBatchCall } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { FastClock, InferenceDouble, served } from '@gateway/testing';
import { startWorkersApp } from '../workers.fixture.js';

/** `dies`: at which step, before or after the provider has done it; `fromMs` and `speed`: of the clock that all workers share. */
const [url, folder, key, dies, lineCount, fromMs, speed] = process.argv.slice(2);
const inference = new InferenceDouble();
inference.worthNano = 1_000n;
// It may die before it is ready.
process.stdout.write('starting\n');
const begun = join(folder, 'begun');
const holds = join(folder, 'holds');
const state = { credential: 'acme', file: 'mark', path: '/messages', sent: 'Dw==', id: null };

/** Returns the ids that the provider has begun, oldest first. It keeps no name of ours. */
function ids(): string[] {
  return existsSync(begun) ? readFileSync(begun, 'utf8').split('\n').filter(Boolean) : [];
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

async function done(call: UpstreamBatchCall): Promise<UpstreamBatch> {
  if (call.step === 'upload') return { kind: 'at', state };
  if (call.step === 'find') {
    const maybe = ids();
    return maybe.length === 0 ? { kind: 'none' } : { kind: 'at', state: { ...state, maybe } };
  }
  if (call.step === 'create') {
    const id = `up-${ids().length}`;
    appendFileSync(begun, `${id}\n`);
    return { kind: 'at', state: { ...state, id } };
  }
  const results = `results/${call.account_id}/${call.batch_id}-answers.jsonl` as ObjectKey;
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for (let line = 0; line < Number(lineCount); line += 1)
      yield Buffer.from(`${JSON.stringify({ line, status: 200, body: '{}' })}\n`);
  };
  await app.objects.put(results, content(), { maxBytes: 1_000_000 });
  return { kind: 'ended', results };
}

inference.hold = async ({ nano }) => appendFileSync(holds, `${nano}\n`);
inference.upstream = async (call) => {
  process.stdout.write(`step ${call.step}\n`);
  if (dies === `before ${call.step}`) return die();
  const answer = await done(call);
  return dies === `after ${call.step}` ? die() : answer;
};
inference.answer = async (call) => {
  process.stdout.write(
    `unit ${call.request_id} ${call.unit} ${call.given === undefined ? 'run' : 'given'}\n`,
  );
  return dies === 'after unit' ? die() : { ...served(call), unit_ended: true };
};
const clock = new FastClock(new SystemClock(), Number(speed), {
  machineMs: Number(fromMs),
  shownMs: Number(fromMs),
});
const config = { WORKERS_LEASE_MS: 6_000, WORKERS_BATCH_LINES: 2 };
const app = await startWorkersApp(url, { inference, folder, config, clock });
app.keyOf('key_killed', key);
process.stdout.write(`ready ${app.url}\n`);
