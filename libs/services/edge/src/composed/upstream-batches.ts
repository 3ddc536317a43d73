import { parseSpelled } from '@gateway/json-body';
import { Readable } from 'node:stream';
import {
  ApiError,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import { BATCHES_DIALECTS, type UpstreamBody } from '@gateway/dialects';
import { textLines, unavailable } from '@gateway/platform';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import { AccountShare } from '../state/account-share.js';
import { look, lookAmong } from './batch-results.js';
import {
  callBounds,
  callsOf,
  isFinal,
  targetOf,
  type Bounds,
  type StepParts,
  type Target,
} from './batch-target.js';
import { linePlan } from './line-plan.js';
import { sentText, Unanswered } from './sent-lines.js';

const MIB = 1_048_576;
/** Size of a sent line. */
const LINE_BYTES_MAX = 8 * MIB;
/** Lines that are made ready before requests of others get their turn. */
const LINES_A_TURN = 16;
/**
 * Uploads are held whole, and so are lines with which a batch begins: one at a time, and no more than so many wait, half
 * of them of one account.
 */
const WAITING_MAX = 8;
/**
 * A begin takes less altogether than whoever finds it unanswered waits before it looks for the batch: that one finds it, or
 * there is none.
 */
const BEGIN_MS = { ready: 5_000, call: 25_000 };
const CALL_MS = 15_000;
const UPLOAD: Bounds = { ...callBounds(1_500_000), idleMs: 60_000 };

/** Batches that a provider runs itself, step by step: where one is stands with whoever asks. */
export class UpstreamBatches {
  /** Running steps: a caller that asks again waits for the step. */
  private readonly running = new Map<string, Promise<UpstreamBatch>>();
  private readonly uploads = new SerialQueue();
  private readonly begins = new SerialQueue();

  step(call: UpstreamBatchCall, parts: StepParts): Promise<UpstreamBatch> {
    const name = `${call.batch_id}/${call.step}`;
    const known = this.running.get(name);
    if (known !== undefined) return known;
    const step = this.run(call, parts).finally(() => this.running.delete(name));
    this.running.set(name, step);
    return step;
  }

  private async run(call: UpstreamBatchCall, parts: StepParts): Promise<UpstreamBatch> {
    const { clock, random } = parts.deps;
    const startMs = clock.monotonic();
    try {
      const { state, step } = call;
      if (state === null) return await this.uploads.take(call, () => upload(call, parts), parts);
      const target = await targetOf(state.credential, parts);
      if (target === null) throw unavailable(random, new Error('the credential of a batch is away'));
      if (step === 'create') return await this.begin(call, { state, startMs }, target, parts);
      if (step === 'find') return await find(call, state, target, parts);
      const { id, maybe } = state;
      if (id === null && maybe !== undefined && step === 'look')
        return await lookAmong(call, { maybe, state }, target, parts);
      if (id === null) return { kind: 'none' };
      if (step === 'look') return await look(call, { id, state }, target, parts);
      await target.dialect.cancel(callsOf(target, callBounds(CALL_MS), parts.deps), id);
      return { kind: 'at', state };
    } catch (failure) {
      if (failure instanceof ApiError) throw failure;
      if (isFinal(failure)) return call.step === 'look' ? { kind: 'ended', results: null } : { kind: 'none' };
      throw unavailable(random, failure);
    }
  }

  private async begin(
    call: UpstreamBatchCall,
    { state, startMs }: { state: UpstreamBatchState; startMs: number },
    target: Target,
    parts: StepParts,
  ): Promise<UpstreamBatch> {
    const { clock, random } = parts.deps;
    const { batch_id: name } = call;
    const { file, path } = state;
    const create = async (lines: Uint8Array): Promise<UpstreamBatch> => {
      if (clock.monotonic() - startMs > BEGIN_MS.ready)
        throw unavailable(random, new Error('it took too long'));
      const calls = callsOf(target, callBounds(BEGIN_MS.call), parts.deps);
      const id = await target.dialect.create(calls, { name, file, path, lines });
      return { kind: 'at', state: { ...state, id } };
    };
    if (target.dialect.beginsWithLines !== true) return create(new Uint8Array(0));
    return this.begins.take(
      call,
      async () => {
        const lines = await wholeOf(call.lines, parts);
        return lines === null ? { kind: 'none' } : create(lines);
      },
      parts,
    );
  }
}

/** Work that is done one after the other. */
class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private readonly waiting = new AccountShare(WAITING_MAX);

  async take(
    { account_id: accountId }: UpstreamBatchCall,
    work: () => Promise<UpstreamBatch>,
    { deps }: StepParts,
  ): Promise<UpstreamBatch> {
    if (!this.waiting.take(accountId))
      throw unavailable(deps.random, new Error('too many batches wait for their turn'));
    const turn = this.last.then(work).finally(() => this.waiting.release(accountId));
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** The lines as the first route of the first of them takes them. Lines that it cannot take are left to whoever runs the rest. */
async function upload(call: UpstreamBatchCall, parts: StepParts): Promise<UpstreamBatch> {
  const found = await parts.objects.get(call.input as ObjectKey);
  if (found === null) return { kind: 'none' };
  const lines: Uint8Array[] = [];
  const sent: number[] = [];
  let [number, size] = [0, 0];
  let first: { target: Target; credential: string; path: string } | null = null;
  try {
    for await (const text of textLines(found.content, LINE_BYTES_MAX)) {
      const at = number++;
      if (at % LINES_A_TURN === 0) await parts.deps.clock.sleep(0);
      const routes = await routesOf(text, at, parts);
      first ??= await firstOf(routes, parts);
      if (first === null && routes.length > 0) return { kind: 'none' };
      const request = first === null ? null : requestOf(routes, first);
      if (first === null || request === null) continue;
      const line = first.target.dialect.line(at, request, call.batch_id);
      lines.push(line);
      sent.push(at);
      size += line.byteLength;
      if (size > first.target.dialect.bytesMax) return { kind: 'none' };
    }
  } finally {
    found.content.destroy();
  }
  if (first === null) return { kind: 'none' };
  const { target, credential, path } = first;
  const { dialect } = target;
  if (sent.length < (dialect.linesMin ?? 0)) return { kind: 'none' };
  if (dialect.beginsWithLines === true)
    await parts.objects.put(call.lines as ObjectKey, Readable.from(lines), { maxBytes: dialect.bytesMax });
  const file = await dialect.upload(callsOf(target, UPLOAD, parts.deps), lines, call.batch_id);
  return { kind: 'at', state: { credential, file, path, sent: sentText(sent), id: null } };
}

/**
 * Returns the routes of one line; none where it would be refused, and where it names files: a batch is held whole while
 * it is uploaded.
 */
async function routesOf(text: string, unit: number, { callOf, deps }: StepParts): Promise<PlannedRoute[]> {
  try {
    const { body } = parseSpelled(text) as { body: Record<string, unknown> };
    const { asked, plan } = await linePlan(await callOf(body, unit), deps);
    return asked.files ? [] : plan.routes;
  } catch (failure) {
    if (failure instanceof ApiError && failure.status < 500) return [];
    throw failure;
  }
}

async function firstOf(
  routes: readonly PlannedRoute[],
  parts: StepParts,
): Promise<{ target: Target; credential: string; path: string } | null> {
  const planned = routes.at(0);
  const dialect = BATCHES_DIALECTS.get(planned?.provider.batches ?? '');
  if (planned === undefined || dialect === undefined) return null;
  const request = requestOf(routes, { credential: credentialOf(planned), path: null });
  if (request === null || !dialect.takes(request.path)) return null;
  const target = await targetOf(credentialOf(planned), parts);
  return target === null ? null : { target, credential: credentialOf(planned), path: request.path };
}

/** Returns the request of a line with this credential; null where it is called otherwise, or in several calls. */
function requestOf(
  routes: readonly PlannedRoute[],
  { credential, path }: { credential: string; path: string | null },
): UpstreamBody | null {
  const planned = routes.find((one) => credentialOf(one) === credential);
  if (planned === undefined || planned.translation.exchange) return null;
  try {
    const { request } = planned.translation;
    return path === null || request.path === path ? request : null;
  } catch (failure) {
    if (failure instanceof ApiError) return null;
    throw failure;
  }
}

async function find(
  { batch_id: name }: UpstreamBatchCall,
  state: UpstreamBatchState,
  { dialect, ...target }: Target,
  { deps }: StepParts,
): Promise<UpstreamBatch> {
  const calls = callsOf({ dialect, ...target }, callBounds(CALL_MS), deps);
  const count = new Unanswered(state.sent).left;
  const sinceSeconds = Math.floor(mintedAtMs(name) / 1_000);
  const found = await dialect.find(calls, { name, file: state.file, count, sinceSeconds });
  if (found.length === 0) return { kind: 'none' };
  const known = dialect.owns === undefined ? { id: found[0] } : { maybe: [...found] };
  return { kind: 'at', state: { ...state, ...known } };
}

/** Its id is a UUID of version 7. */
function mintedAtMs(name: string): number {
  const digits = name.replace(/^batch_/, '').replaceAll('-', '');
  return Number.parseInt(digits.slice(0, 12), 16) || 0;
}

async function wholeOf(key: string, { objects }: StepParts): Promise<Uint8Array | null> {
  const found = await objects.get(key as ObjectKey);
  if (found === null) return null;
  const pieces: Uint8Array[] = [];
  for await (const piece of found.content) pieces.push(piece);
  return Buffer.concat(pieces);
}
