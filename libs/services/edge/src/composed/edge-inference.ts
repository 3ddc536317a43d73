import { parseSpelled, writeJson } from '@gateway/json-body';
import { Writable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  errorEnvelope,
  Inference,
  messagesErrorEnvelope,
  ObjectStore,
  PrincipalReader,
  uuidv7,
  type HoldCall,
  type InferenceAnswer,
  type InferenceCall,
  type InferencePlan,
  type KeyPrincipal,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import { permit, Pressure, unavailable } from '@gateway/platform';
import { INFER_DEPS, type InferDeps } from '../inference/infer-deps.js';
import type { InferenceRequest, Origin, TurnMemory } from '../request/inference-request.js';
import { Client } from '../request/client.js';
import { BackgroundFeed } from './background-feed.js';
import { hold, worthOf } from './batch-holds.js';
import { EdgeTasks, storeResult } from './edge-tasks.js';
import { linePlan } from './line-plan.js';
import { askInto, askOne, SubSink } from '../inference/sub-answer.js';
import { UpstreamBatches } from './upstream-batches.js';

type Json = Record<string, unknown>;

const VERSION = '2026-09';
/** Age up to which a record is not read again: admission compares it with the newest. */
const PRINCIPAL_AGE_MS = 30_000;
const PRINCIPALS_MAX = 1_000;
/** Number of answers remembered for a repeat after a crash. */
const ANSWERS_MAX = 512;
const ANSWER_BYTES_MAX = 64 * 1024;

interface Known {
  principal: KeyPrincipal;
  readAtMs: number;
}

/** Inference of this process for work that outlives a request. */
@Injectable()
export class EdgeInference extends Inference {
  private readonly known = new Map<string, Known>();
  private readonly running = new Map<string, Promise<InferenceAnswer>>();
  private readonly tasks = new EdgeTasks();
  private readonly batches = new UpstreamBatches();
  private readonly answers = new Map<string, InferenceAnswer>();

  constructor(
    private readonly principals: PrincipalReader,
    private readonly pressure: Pressure,
    private readonly objects: ObjectStore,
    @Inject(INFER_DEPS) private readonly deps: InferDeps,
  ) {
    super();
  }

  override async infer(call: InferenceCall): Promise<InferenceAnswer> {
    const name = `${call.request_id}/${call.unit}`;
    const known = this.answers.get(name) ?? this.running.get(name);
    if (known !== undefined) return known;
    if (call.is_repeat && call.task === null && !this.tasks.has(name)) {
      const error = unavailable(this.deps.random, new Error('another edge may have begun it'));
      return { ...refusal(call, error, false), is_unknown: true };
    }
    if (call.task !== undefined) return this.tasks.answer(name, call, (begun) => this.runTask(call, begun));
    const { background } = call;
    const run = background ? this.runBackground(call, background.response_id) : this.run(call);
    const answer = run.finally(() => this.running.delete(name));
    this.running.set(name, answer);
    return answer;
  }

  override async plan(call: InferenceCall): Promise<InferencePlan> {
    const { deps } = this;
    const { plan } = await linePlan(await this.callOf(call, deps), deps);
    return { model: plan.model.record.id, provider: plan.routes[0].route.provider };
  }

  override async worth(call: InferenceCall, bodies: readonly Json[]): Promise<string> {
    const { deps } = this;
    return String(await worthOf(call, bodies, (one) => this.callOf(one, deps), deps));
  }

  override async hold(call: HoldCall): Promise<void> {
    const { deps } = this;
    await hold(call, (isNew) => this.principalOf(call, isNew, 'batches:write', deps), deps);
  }

  override async upstreamBatch(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    const { deps, pressure, objects } = this;
    if (pressure.refusesSome) throw unavailable(deps.random, new Error('overloaded'));
    const line = { ...call, recorded_path: '/v1/batches', is_batch: true };
    return this.batches.step(call, {
      callOf: (body, unit) => this.callOf({ ...line, unit, body }, deps),
      principal: () => this.principals.keyById(call.key_id, [call.account_id]),
      objects,
      deps,
    });
  }

  private async run(call: InferenceCall): Promise<InferenceAnswer> {
    const { deps } = this;
    if (call.is_batch && this.pressure.refusesSome) throw unavailable(deps.random, new Error('overloaded'));
    if (call.is_batch) await deps.pace.turn(call.account_id);
    let text = '';
    let error: ApiError | null;
    let isUnit = false;
    try {
      const made = await this.callOf(call, deps, { opened: () => void (isUnit = true) });
      ({ error } = await askOne(made, nobody(deps), deps, async (part) => void (text += part)));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      error = failure;
    }
    if (error !== null) return refusal(call, error, isUnit);
    const body = parseSpelled(text) as Json;
    const answer = { status: 200, body, retry_after_seconds: null, unit_ended: true };
    if (text.length <= ANSWER_BYTES_MAX)
      remember(this.answers, `${call.request_id}/${call.unit}`, answer, ANSWERS_MAX);
    return answer;
  }

  /** Its events and its end go to where the response is kept. */
  private async runBackground(call: InferenceCall, responseId: string): Promise<InferenceAnswer> {
    const { deps } = this;
    const { background: store, clock, random } = deps;
    const run = { key_id: call.key_id, response_id: responseId, run: uuidv7(clock, random) };
    const first = await store.take(run);
    const over = { status: 200, body: {}, retry_after_seconds: null };
    if (first === null) return over;
    const caller = nobody(deps);
    const feed = new BackgroundFeed({ store, run, first, clock, onGone: () => caller.upstream.abort() });
    let error: ApiError | null;
    let isUnit = false;
    try {
      const memory: TurnMemory = {
        recall: (_link, look) => look(),
        keep: (response) => void (feed.kept = response),
      };
      const opened = (): void => void (isUnit = true);
      const made = await this.callOf(call, deps, { memory, opened });
      ({ error } = await askOne(made, caller, deps, (text) => feed.write(text)));
    } catch (failure) {
      error = failure instanceof ApiError ? failure : new ApiError('internal_error', { cause: failure });
    }
    if (await feed.finish()) return over;
    return refusal(call, error ?? unavailable(deps.random, new Error('the run was cut off')), isUnit);
  }

  /** Runs the task from its begin, or from where it is, to its result in the object store. */
  private async runTask(call: InferenceCall, begun: (task: Json) => void): Promise<InferenceAnswer> {
    const { deps } = this;
    const chunks: Buffer[] = [];
    const sink = new SubSink(
      async (chunk) => void chunks.push(Buffer.from(chunk)),
      () => deps.clock.monotonic(),
    );
    let error: ApiError | null;
    let isUnit = false;
    const opened = (): void => void (isUnit = true);
    try {
      const body = call.task == null ? call.body : { ...call.body, $task: call.task };
      const note = async (task: object): Promise<void> => begun({ ...task });
      const made = await this.callOf({ ...call, body }, deps, { opened, note });
      ({ error } = await askInto(sink, made, nobody(deps), deps));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      error = failure;
    }
    const { clock, random } = deps;
    const answer =
      error === null
        ? await storeResult(call, { chunks, head: sink.head }, { objects: this.objects, clock, random })
        : refusal(call, contentRoleOf(error), isUnit);
    // What was refused before it was a unit may be asked for again.
    if (answer.unit_ended) remember(this.answers, `${call.request_id}/${call.unit}`, answer, ANSWERS_MAX);
    return answer;
  }

  private async callOf(
    call: InferenceCall,
    deps: InferDeps,
    told: Omit<Origin, 'kind'> = {},
  ): Promise<InferenceRequest> {
    const endpoint = endpointAt(call.endpoint);
    const { key_id, account_id, request_id: requestId, unit, recorded_path: path } = call;
    // What was done for a key is billed to it, also where it may call no more by now.
    const permission = call.given === undefined ? endpoint.permission : null;
    const principalOf = (isNew: boolean): Promise<KeyPrincipal> =>
      this.principalOf({ key_id, account_id }, isNew, permission, deps);
    const principal = await principalOf(false);
    return {
      requestId,
      unit,
      endpoint,
      path,
      principal,
      apiVersion: principal.apiVersion ?? VERSION,
      receivedAtMs: deps.clock.now(),
      startedMs: deps.clock.monotonic(),
      headers: { 'content-type': 'application/json' },
      bytes: Buffer.from(writeJson(call.body)),
      origin: { ...told, ...originOf(call) },
      reload: () => principalOf(true),
    };
  }

  /**
   * Returns the principal with the key's present rights; a record that is not older than others' is not read again.
   * Throws ApiError.
   */
  private async principalOf(
    { key_id, account_id }: Pick<InferenceCall, 'key_id' | 'account_id'>,
    isNew: boolean,
    permission: Endpoint['permission'] | null,
    deps: InferDeps,
  ): Promise<KeyPrincipal> {
    const known = this.known.get(key_id);
    const isFresh = known !== undefined && deps.clock.monotonic() - known.readAtMs < PRINCIPAL_AGE_MS;
    if (isFresh && !isNew) return known.principal;
    const principal = await this.principals.keyById(key_id, [account_id]);
    remember(this.known, key_id, { principal, readAtMs: deps.clock.monotonic() }, PRINCIPALS_MAX);
    if (permission === null) return principal;
    const allowed = permit(principal, { key: { permission } }, deps.clock);
    if (allowed.kind !== 'key') throw new ApiError('forbidden');
    return allowed;
  }
}

function originOf({ is_batch: isBatch = false, given: answer }: InferenceCall): Origin {
  if (answer !== undefined) return { kind: 'given', answer, isBatch };
  return { kind: isBatch ? 'batch' : 'background', isBatch };
}

/** The oldest goes where there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max) map.delete(oldest);
}

function endpointAt(path: string): Endpoint {
  const found = ENDPOINTS.find(({ paths }) => paths.includes(path.replace(/^\/v1/, '')));
  if (found === undefined) throw new ApiError('not_found');
  return found;
}

/** An item whose role no route takes is a fault of the body, which is named by its position. */
function contentRoleOf(error: ApiError): ApiError {
  const position = /^content\.(\d+)\.role$/.exec(error.options.param ?? '')?.[1];
  if (error.code !== 'unsupported_operation' || position === undefined) return error;
  const msg = 'The model does not accept this role.';
  return new ApiError('validation_error', {
    message: `content.${position}.role: ${msg}`,
    details: [{ type: 'content_invalid', loc: ['content', Number(position), 'role'], msg }],
    param: error.options.param,
  });
}

function nobody({ clock, deadlines }: InferDeps): Client {
  return new Client(sink(), () => ({}), clock, deadlines, 0);
}

/** Returns a sink that nobody reads: the answer is taken before it. */
function sink(): Client['raw'] {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.assign(nowhere, { socket: null, writeHead: () => nowhere });
}

function refusal({ endpoint, request_id }: InferenceCall, error: ApiError, isUnit: boolean): InferenceAnswer {
  const isMessages = endpoint === '/v1/messages';
  const body = isMessages ? messagesErrorEnvelope(error, request_id) : errorEnvelope(error, request_id);
  return {
    status: error.status,
    body: JSON.parse(JSON.stringify(body)) as Record<string, unknown>,
    retry_after_seconds: error.options.retryAfterSeconds ?? null,
    unit_ended: isUnit,
  };
}
