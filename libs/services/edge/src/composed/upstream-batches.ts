import {
  ApiError,
  objectName,
  type KeyPrincipal,
  type ObjectKey,
  type ObjectStore,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import {
  badReply,
  BATCHES_DIALECTS,
  parseUpstreamObject,
  type BatchCalls,
  type BatchesDialect,
  type UpstreamBody,
} from '@gateway/dialects';
import { StoredContentNeeded } from '@gateway/endpoints';
import { textLines, unavailable } from '@gateway/platform';
import {
  TransportFailure,
  type Provider,
  type ProviderAccess,
  type UpstreamResponse,
} from '@gateway/providers';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import type { InferDeps } from '../inference/infer.js';
import type { Call } from '../request/call.js';
import { linePlan } from './line-plan.js';
import { sentText, Unanswered } from './sent-lines.js';

const MIB = 1_048_576;
/** Of a line that is sent, and of one that comes back, also as it is kept: a line and its answer go in one body. */
const LINE_BYTES_MAX = { sent: 8 * MIB, answered: 16 * MIB };
/** Of all answers. What comes after it, or in a line that is too long, is asked for again, line by line. */
const RESULTS_BYTES_MAX = 8_192 * MIB;
const REPLY_BYTES_MAX = 16 * MIB;
/** Lines that are made ready before requests of others get their turn. */
const LINES_A_TURN = 16;
/** Uploads are held whole: one at a time, and no more than so many wait. */
const UPLOADS_WAITING_MAX = 8;
/**
 * Looking for a batch and beginning it take less together than the lease of a worker that died over it: who looks for it
 * afterwards finds it.
 */
const BEGIN_MS = 8_000;
const CALL_MS = 15_000;
const TRANSFER_MS = { idle: 60_000, total: 1_500_000 };
/** A refusal that may pass. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

interface Bounds {
  idleMs: number;
  totalMs: number;
  maxBytes: number;
}

const CALL: Bounds = { idleMs: CALL_MS, totalMs: CALL_MS, maxBytes: REPLY_BYTES_MAX };
const BEGIN: Bounds = { ...CALL, idleMs: BEGIN_MS, totalMs: BEGIN_MS };
const TRANSFER: Bounds = {
  idleMs: TRANSFER_MS.idle,
  totalMs: TRANSFER_MS.total,
  maxBytes: RESULTS_BYTES_MAX,
};

/** A provider and a credential that takes batches. */
interface Target {
  provider: Provider;
  dialect: BatchesDialect;
  access: ProviderAccess;
}

interface Parts {
  callOf: (body: Record<string, unknown>, unit: number) => Promise<Call>;
  /** The key as it is, also where it may call no more. */
  principal: () => Promise<KeyPrincipal>;
  objects: ObjectStore;
  deps: InferDeps;
}

/** The provider answered with a status of failure. */
class BatchRefused extends Error {
  constructor(readonly status: number) {
    super(`the provider answered ${status} to a step of a batch`);
    this.name = 'BatchRefused';
  }
}

/** Batches that a provider runs itself, step by step: where one is stands with whoever asks. */
export class UpstreamBatches {
  /** Who asks again while a step runs waits for it. */
  private readonly running = new Map<string, Promise<UpstreamBatch>>();
  private uploads: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  step(call: UpstreamBatchCall, parts: Parts): Promise<UpstreamBatch> {
    const name = `${call.batch_id}/${call.step}`;
    const known = this.running.get(name);
    if (known !== undefined) return known;
    const step = this.run(call, parts).finally(() => this.running.delete(name));
    this.running.set(name, step);
    return step;
  }

  private async run(call: UpstreamBatchCall, parts: Parts): Promise<UpstreamBatch> {
    const { random } = parts.deps;
    try {
      if (call.state === null) return await this.inTurn(() => upload(call, parts), parts);
      const { state } = call;
      const target = await targetOf(state.credential, parts);
      if (target === null) throw unavailable(random, new Error('the credential of a batch is away'));
      if (call.step === 'create') return await begin(call, state, target, parts);
      const { id } = state;
      if (id === null) return { kind: 'none' };
      if (call.step === 'cancel') await target.dialect.cancel(callsOf(target, CALL, parts), id);
      return call.step === 'cancel' ? { kind: 'at', state } : await look(call, { id, state }, target, parts);
    } catch (failure) {
      if (failure instanceof ApiError) throw failure;
      if (isFinal(failure)) return call.step === 'look' ? { kind: 'ended', results: null } : { kind: 'none' };
      throw unavailable(random, failure);
    }
  }

  private async inTurn(work: () => Promise<UpstreamBatch>, { deps }: Parts): Promise<UpstreamBatch> {
    if (this.waiting >= UPLOADS_WAITING_MAX)
      throw unavailable(deps.random, new Error('too many batches are being uploaded'));
    this.waiting += 1;
    const turnOf = this.uploads.then(work).finally(() => (this.waiting -= 1));
    this.uploads = turnOf.catch(() => undefined);
    return turnOf;
  }
}

/** Refused for good: what asks again gets the same. A look at what a provider does not know ends it, too. */
function isFinal(failure: unknown): boolean {
  return failure instanceof BatchRefused && failure.status < 500 && !PASSING.has(failure.status);
}

/** The lines as the first route of the first of them takes them. Lines that it cannot take are left to whoever runs the rest. */
async function upload(call: UpstreamBatchCall, parts: Parts): Promise<UpstreamBatch> {
  const found = await parts.objects.get(call.input as ObjectKey);
  if (found === null) return { kind: 'none' };
  const lines: Uint8Array[] = [];
  const sent: number[] = [];
  let [number, size] = [0, 0];
  let first: { target: Target; credential: string; path: string } | null = null;
  try {
    for await (const text of textLines(found.content, LINE_BYTES_MAX.sent)) {
      const at = number++;
      if (at % LINES_A_TURN === 0) await parts.deps.clock.sleep(0);
      const routes = await routesOf(text, at, parts);
      first ??= await firstOf(routes, parts);
      if (first === null && routes.length > 0) return { kind: 'none' };
      const request = first === null ? null : requestOf(routes, first);
      if (first === null || request === null) continue;
      const line = first.target.dialect.line(at, request);
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
  const file = await target.dialect.upload(callsOf(target, TRANSFER, parts), lines, call.batch_id);
  return { kind: 'at', state: { credential, file, path, sent: sentText(sent), id: null } };
}

/** Of one line; none where it would be refused. */
async function routesOf(text: string, unit: number, { callOf, deps }: Parts): Promise<PlannedRoute[]> {
  try {
    const { body } = JSON.parse(text) as { body: Record<string, unknown> };
    const planned = linePlan(await callOf(body, unit), deps);
    return planned instanceof StoredContentNeeded ? [] : planned.plan.routes;
  } catch (failure) {
    if (failure instanceof ApiError && failure.status < 500) return [];
    throw failure;
  }
}

async function firstOf(
  routes: readonly PlannedRoute[],
  parts: Parts,
): Promise<{ target: Target; credential: string; path: string } | null> {
  const planned = routes.at(0);
  const dialect = BATCHES_DIALECTS.get(planned?.provider.batches ?? '');
  if (planned === undefined || dialect === undefined) return null;
  const request = requestOf(routes, { credential: credentialOf(planned), path: null });
  if (request === null || !dialect.takes(request.path)) return null;
  const target = await targetOf(credentialOf(planned), parts);
  return target === null ? null : { target, credential: credentialOf(planned), path: request.path };
}

/** What is sent of a line with this credential; null where it is called otherwise, or in several calls. */
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

async function begin(
  { batch_id: name, finds_only }: UpstreamBatchCall,
  state: UpstreamBatchState,
  target: Target,
  parts: Parts,
): Promise<UpstreamBatch> {
  const { clock, random } = parts.deps;
  const calls = callsOf(target, BEGIN, parts);
  const startMs = clock.monotonic();
  const found = await target.dialect.find(calls, name, Math.floor(mintedAtMs(name) / 1_000));
  if (found !== null) return { kind: 'at', state: { ...state, id: found } };
  if (finds_only) return { kind: 'none' };
  if (clock.monotonic() - startMs > BEGIN_MS) throw unavailable(random, new Error('looking took too long'));
  const { file, path } = state;
  return { kind: 'at', state: { ...state, id: await target.dialect.create(calls, { name, file, path }) } };
}

/** Its id is a UUID of version 7. */
function mintedAtMs(name: string): number {
  return (
    Number.parseInt(
      name
        .replace(/^batch_/, '')
        .replaceAll('-', '')
        .slice(0, 12),
      16,
    ) || 0
  );
}

async function look(
  call: UpstreamBatchCall,
  { id, state }: { id: string; state: UpstreamBatchState },
  target: Target,
  parts: Parts,
): Promise<UpstreamBatch> {
  const files = await target.dialect.look(callsOf(target, CALL, parts), id);
  if (files === null) return { kind: 'at', state };
  if (files.length === 0) return { kind: 'ended', results: null };
  const results = objectName('results', call.account_id, `${call.batch_id}-answers.jsonl`);
  const answers = answersIn(files, new Unanswered(state.sent), target, parts);
  await parts.objects.put(results, answers, { maxBytes: RESULTS_BYTES_MAX + LINE_BYTES_MAX.answered });
  return { kind: 'ended', results };
}

/** Each line that was sent, once, whatever the files hold: the first answer of it stands. */
async function* answersIn(
  files: readonly UpstreamBody[],
  unanswered: Unanswered,
  target: Target,
  parts: Parts,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for (const file of files)
    for await (const text of linesIn(file, target, parts)) {
      const answer = target.dialect.answer(text);
      if (answer === null || !unanswered.take(answer.line)) continue;
      const kept = Buffer.from(`${JSON.stringify(answer)}\n`);
      if (kept.byteLength > LINE_BYTES_MAX.answered) continue;
      yield kept;
      size += kept.byteLength;
      if (unanswered.isEmpty || size > RESULTS_BYTES_MAX) return;
    }
}

/** Of a file that the provider gives; what breaks off is tried again. */
async function* linesIn(file: UpstreamBody, target: Target, parts: Parts): AsyncGenerator<string> {
  try {
    const response = await send(target, file, TRANSFER, parts);
    yield* textLines(response.chunks(), LINE_BYTES_MAX.answered, 'passed over');
  } catch (failure) {
    const isTooLarge = failure instanceof TransportFailure && failure.fault === 'too_large';
    if (!isTooLarge && !isFinal(failure)) throw failure;
  }
}

/** Null where the credential is gone. */
async function targetOf(credential: string, { principal, deps }: Parts): Promise<Target | null> {
  const [slug, keyId] = credential.split('#', 2);
  const provider = deps.providers.get(slug) ?? deps.byok.providers.get(slug);
  const dialect = BATCHES_DIALECTS.get(provider?.batches ?? '');
  if (provider === undefined || dialect === undefined) return null;
  if (keyId === undefined) {
    const access = deps.access.get(slug);
    return access === undefined ? null : { provider, dialect, access };
  }
  const { accountId, providerKeys } = await principal();
  const grant = providerKeys?.find(({ id }) => id === keyId);
  const baseUrl = deps.addresses.get(slug);
  if (grant === undefined || baseUrl === undefined) return null;
  return {
    provider,
    dialect,
    access: { baseUrl, credential: await deps.openedKeys.credentialOf(accountId, grant) },
  };
}

function callsOf(target: Target, bounds: Bounds, parts: Parts): BatchCalls {
  return {
    send: async (request) => {
      const response = await send(target, request, { ...bounds, maxBytes: REPLY_BYTES_MAX }, parts);
      const answer = parseUpstreamObject(await response.bytes());
      if (answer === null) throw badReply('the answer is no JSON object.');
      return answer;
    },
  };
}

async function send(
  { provider, access }: Target,
  request: UpstreamBody,
  { idleMs, totalMs, maxBytes }: Bounds,
  { deps }: Parts,
): Promise<UpstreamResponse> {
  const prepared = await provider.prepare(request, access);
  const response = await deps.transport.send(prepared, {
    connectTimeoutMs: Math.min(totalMs, deps.config.UPSTREAM_CONNECT_TIMEOUT_MS),
    firstByteTimeoutMs: totalMs,
    idleTimeoutMs: idleMs,
    totalTimeoutMs: totalMs,
    maxBytes,
    signal: deps.drainDeadline,
  });
  if (response.status >= 200 && response.status < 300) return response;
  response.cancel();
  throw new BatchRefused(response.status);
}
