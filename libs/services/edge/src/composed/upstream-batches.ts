import { parseSpelled } from '@gateway/json-body';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  HOLD_UNIT,
  ObjectStore,
  type Clock,
  type KeyPrincipal,
  type ObjectKey,
  type Random,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import { BATCHES_DIALECTS, type UpstreamBody } from '@gateway/dialects';
import { CLOCK, Pressure, RANDOM, textLines, unavailable } from '@gateway/platform';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import type { PricedPlan } from '../admission/admission.js';
import { AccountShare } from '../state/account-share.js';
import type { BatchRoom } from './batch-room.js';
import { BatchResults } from './batch-results.js';
import { BatchTargets, callBounds, isFinal, type Bounds, type Target } from './batch-target.js';
import { LinePlans } from './line-plans.js';
import { sentText, Unanswered } from './sent-lines.js';
import { ServiceRequests } from './service-requests.js';

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

/** The place that takes a batch: that of its first line that can be sent. */
interface First {
  target: Target;
  credential: string;
  path: string;
  room: BatchRoom;
}

/** Batches that a provider runs itself, step by step: where one is stands with whoever asks. */
@Injectable()
export class UpstreamBatches {
  /** Running steps: a caller that asks again waits for the step. */
  private readonly running = new Map<string, Promise<UpstreamBatch>>();
  private readonly uploads: SerialQueue;
  private readonly begins: SerialQueue;

  constructor(
    private readonly requests: ServiceRequests,
    private readonly plans: LinePlans,
    private readonly targets: BatchTargets,
    private readonly results: BatchResults,
    private readonly objects: ObjectStore,
    private readonly pressure: Pressure,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.uploads = new SerialQueue(random);
    this.begins = new SerialQueue(random);
  }

  async step(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    if (this.pressure.refusesSome) throw unavailable(this.random, new Error('overloaded'));
    const name = `${call.batch_id}/${call.step}`;
    const known = this.running.get(name);
    if (known !== undefined) return known;
    const step = this.renewed(call).finally(() => this.running.delete(name));
    this.running.set(name, step);
    return step;
  }

  /** The provider and credential of a batch; null where the credential was removed. */
  private targetOf(call: UpstreamBatchCall, credential: string): Promise<Target | null> {
    return this.targets.of(credential, (): Promise<KeyPrincipal> => this.requests.keyOf(call));
  }

  /** Runs a step under what is held for the batch, which is let go where no provider runs it. */
  private async renewed(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    const { state } = call;
    if (state === null) return this.run(call);
    await this.keepHeld(call, state, BigInt(state.held_nano ?? 0));
    const at = await this.run(call);
    if (at.kind === 'none') await this.keepHeld(call, state, 0n);
    return at;
  }

  private async run(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    const { clock, random } = this;
    const startMs = clock.monotonic();
    try {
      const { state, step } = call;
      if (state === null) return await this.uploads.take(call, () => this.upload(call));
      const target = await this.targetOf(call, state.credential);
      if (target === null) throw unavailable(random, new Error('the credential of a batch was removed'));
      if (step === 'create') return await this.begin(call, { state, startMs }, target);
      if (step === 'find') return await this.find(call, state, target);
      const { id, maybe } = state;
      if (id === null && maybe !== undefined && step === 'look')
        return await this.results.lookAmong(call, { maybe, state }, target);
      if (id === null) return { kind: 'none' };
      if (step === 'look') return await this.results.look(call, { id, state }, target);
      await target.dialect.cancel(this.targets.callsTo(target, callBounds(CALL_MS)), id);
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
  ): Promise<UpstreamBatch> {
    const { clock, random } = this;
    const { batch_id: name } = call;
    const { file, path } = state;
    const create = async (lines: Uint8Array): Promise<UpstreamBatch> => {
      if (clock.monotonic() - startMs > BEGIN_MS.ready)
        throw unavailable(random, new Error('it took too long'));
      const calls = this.targets.callsTo(target, callBounds(BEGIN_MS.call));
      const id = await target.dialect.create(calls, { name, file, path, lines });
      return { kind: 'at', state: { ...state, id } };
    };
    if (target.dialect.beginsWithLines !== true) return create(new Uint8Array(0));
    return this.begins.take(call, async () => {
      const lines = await this.wholeOf(call.lines);
      return lines === null ? { kind: 'none' } : create(lines);
    });
  }

  /** The lines as the first route of the first of them takes them. Lines that it cannot take are left to whoever runs the rest. */
  private async upload(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    const found = await this.objects.get(call.input as ObjectKey);
    if (found === null) return { kind: 'none' };
    const lines: Uint8Array[] = [];
    const sent: number[] = [];
    let [number, size] = [0, 0];
    let first: First | null = null;
    try {
      for await (const text of textLines(found.content, LINE_BYTES_MAX)) {
        const at = number++;
        if (at % LINES_A_TURN === 0) await this.clock.sleep(0);
        const planned = await this.plannedOf(call, text, at);
        if (planned === null) continue;
        const { routes } = planned.plan;
        first ??= await this.firstOf(call, routes);
        if (first === null) return { kind: 'none' };
        const request = requestOf(routes, first);
        if (request === null) continue;
        first.room.add(planned);
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
    const { target, credential, path, room } = first;
    const { dialect } = target;
    if (sent.length < (dialect.linesMin ?? 0)) return { kind: 'none' };
    if (dialect.beginsWithLines === true)
      await this.objects.put(call.lines as ObjectKey, Readable.from(lines), { maxBytes: dialect.bytesMax });
    // One by one they are admitted, so that the provider's budgets are passed by one line at most.
    const held = await room.take();
    if (held === null) return { kind: 'none' };
    const file = await dialect
      .upload(this.targets.callsTo(target, UPLOAD), lines, call.batch_id)
      .catch(async (failure: unknown) => {
        await room.keep(0n).catch(() => undefined);
        throw failure;
      });
    const holds = held === 0n ? {} : { held_nano: held.toString() };
    return { kind: 'at', state: { credential, file, path, sent: sentText(sent), ...holds, id: null } };
  }

  /**
   * Returns the plan of one line; null where it would be refused, and where it names files: a batch is held whole while
   * it is uploaded.
   */
  private async plannedOf(call: UpstreamBatchCall, text: string, unit: number): Promise<PricedPlan | null> {
    try {
      const { body } = parseSpelled(text) as { body: Record<string, unknown> };
      const line = { ...call, recorded_path: '/v1/batches', is_batch: true, unit, body };
      const request = await this.requests.of(line);
      const { asked, plan } = await this.plans.of(request);
      // An alias may have moved when the answers come: its lines run one by one.
      if (asked.files || plan.alias !== null || plan.routes.length === 0) return null;
      return { principal: request.principal, asked, plan };
    } catch (failure) {
      if (failure instanceof ApiError && failure.status < 500) return null;
      throw failure;
    }
  }

  private async firstOf(call: UpstreamBatchCall, routes: readonly PlannedRoute[]): Promise<First | null> {
    const plannedRoute = routes.at(0);
    const dialect = BATCHES_DIALECTS.get(plannedRoute?.provider.batches ?? '');
    if (plannedRoute === undefined || dialect === undefined) return null;
    const request = requestOf(routes, { credential: credentialOf(plannedRoute), path: null });
    if (request === null || !dialect.takes(request.path)) return null;
    const credential = this.targets.credentialFor(plannedRoute);
    const target = credential === null ? null : await this.targetOf(call, credential);
    if (target === null || credential === null) return null;
    return { target, credential, path: request.path, room: this.roomFor(call, credential) };
  }

  private roomFor(call: UpstreamBatchCall, credential: string): BatchRoom {
    const unitId = `${call.request_id}/${HOLD_UNIT}`;
    return this.targets.roomOn(credential, { unitId, requestedAtMs: this.clock.now() });
  }

  /** Renews what is held at the provider. Where that fails the step goes on, and the next one tries again. */
  private async keepHeld(call: UpstreamBatchCall, state: UpstreamBatchState, nano: bigint): Promise<void> {
    if (state.held_nano === undefined) return;
    await this.roomFor(call, state.credential)
      .keep(nano)
      .catch(() => undefined);
  }

  private async find(
    { batch_id: name }: UpstreamBatchCall,
    state: UpstreamBatchState,
    target: Target,
  ): Promise<UpstreamBatch> {
    const { dialect } = target;
    const calls = this.targets.callsTo(target, callBounds(CALL_MS));
    const count = new Unanswered(state.sent).left;
    const sinceSeconds = Math.floor(mintedAtMs(name) / 1_000);
    const found = await dialect.find(calls, { name, file: state.file, count, sinceSeconds });
    if (found.length === 0) return { kind: 'none' };
    const known = dialect.owns === undefined ? { id: found[0] } : { maybe: [...found] };
    return { kind: 'at', state: { ...state, ...known } };
  }

  private async wholeOf(key: string): Promise<Uint8Array | null> {
    const found = await this.objects.get(key as ObjectKey);
    if (found === null) return null;
    const pieces: Uint8Array[] = [];
    for await (const piece of found.content) pieces.push(piece);
    return Buffer.concat(pieces);
  }
}

/** Work that is done one after the other. */
class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private readonly waiting = new AccountShare(WAITING_MAX);

  constructor(private readonly random: Random) {}

  async take(
    { account_id: accountId }: UpstreamBatchCall,
    work: () => Promise<UpstreamBatch>,
  ): Promise<UpstreamBatch> {
    if (!this.waiting.take(accountId))
      throw unavailable(this.random, new Error('too many batches wait for their turn'));
    const turn = this.last.then(work).finally(() => this.waiting.release(accountId));
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

/** Returns the request of a line with this credential; null where it is called otherwise, or in several calls. */
function requestOf(
  routes: readonly PlannedRoute[],
  { credential, path }: { credential: string; path: string | null },
): UpstreamBody | null {
  const [slug] = credential.split('@', 1);
  const plannedRoute = routes.find(
    (one) => credentialOf(one) === credential || (one.pooled?.id === null && one.route.provider === slug),
  );
  if (plannedRoute === undefined || plannedRoute.translation.exchange) return null;
  try {
    const { request } = plannedRoute.translation;
    return path === null || request.path === path ? request : null;
  } catch (failure) {
    if (failure instanceof ApiError) return null;
    throw failure;
  }
}

/** Its id is a UUID of version 7. */
function mintedAtMs(name: string): number {
  const digits = name.replace(/^batch_/, '').replaceAll('-', '');
  return Number.parseInt(digits.slice(0, 12), 16) || 0;
}
