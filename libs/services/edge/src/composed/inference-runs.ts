import { parseSpelled } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  BackgroundResponses,
  errorEnvelope,
  messagesErrorEnvelope,
  uuidv7,
  type Clock,
  type InferenceAnswer,
  type InferenceCall,
  type Random,
} from '@gateway/contracts';
import { CLOCK, Pressure, RANDOM, unavailable } from '@gateway/platform';
import { BatchPace } from '../admission/batch-pace.js';
import { SubAnswers, type SubAnswer } from '../inference/sub-answer.js';
import { asApiError } from '../request/as-api-error.js';
import type { InferenceRequest, Origin, TurnMemory } from '../request/inference-request.js';
import { BackgroundFeed } from './background-feed.js';
import { EdgeTasks } from './edge-tasks.js';
import { remember } from './remember.js';
import { ServiceRequests } from './service-requests.js';

type Json = Record<string, unknown>;

/** Number of answers remembered for a repeat after a crash. */
const ANSWERS_MAX = 512;
const ANSWER_BYTES_MAX = 64 * 1024;

/** The failure of a run, and whether its unit had begun. */
interface Failed {
  error: ApiError | null;
  isUnit: boolean;
}

/** Runs of requests of other services, each once however often it is asked for. */
@Injectable()
export class InferenceRuns {
  private readonly running = new Map<string, Promise<InferenceAnswer>>();
  private readonly answers = new Map<string, InferenceAnswer>();

  constructor(
    private readonly requests: ServiceRequests,
    private readonly subAnswers: SubAnswers,
    private readonly tasks: EdgeTasks,
    private readonly responses: BackgroundResponses,
    private readonly pace: BatchPace,
    private readonly pressure: Pressure,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async run(call: InferenceCall): Promise<InferenceAnswer> {
    const name = nameOf(call);
    const known = this.answers.get(name) ?? this.running.get(name);
    if (known !== undefined) return known;
    if (call.is_repeat && call.task === null && !this.tasks.has(name)) {
      const error = unavailable(this.random, new Error('another edge may have begun it'));
      return { ...rejection(call, error, false), is_unknown: true };
    }
    if (call.task !== undefined) return this.tasks.answer(name, call, (begun) => this.runTask(call, begun));
    const { background } = call;
    const run = background ? this.runBackground(call, background.response_id) : this.runPlain(call);
    const answer = run.finally(() => this.running.delete(name));
    this.running.set(name, answer);
    return answer;
  }

  private async runPlain(call: InferenceCall): Promise<InferenceAnswer> {
    if (call.is_batch && this.pressure.refusesSome) throw unavailable(this.random, new Error('overloaded'));
    if (call.is_batch) await this.pace.turn(call.account_id);
    let text = '';
    const nobody = { upstream: new AbortController() };
    const { error, isUnit } = await this.asked(call, {}, (request) =>
      this.subAnswers.ask(request, nobody, (part) => void (text += part)),
    );
    if (error !== null) return rejection(call, error, isUnit);
    const body = parseSpelled(text) as Json;
    const answer = { status: 200, body, retry_after_seconds: null, unit_ended: true };
    if (text.length <= ANSWER_BYTES_MAX) this.remember(call, answer);
    return answer;
  }

  /** Its events and its end go to where the response is stored. */
  private async runBackground(call: InferenceCall, responseId: string): Promise<InferenceAnswer> {
    const { clock, random, responses: store } = this;
    const run = { key_id: call.key_id, response_id: responseId, run: uuidv7(clock, random) };
    const first = await store.take(run);
    const over = { status: 200, body: {}, retry_after_seconds: null };
    if (first === null) return over;
    const upstream = new AbortController();
    const feed = new BackgroundFeed({ store, run, first, clock, onGone: () => upstream.abort() });
    const memory: TurnMemory = {
      recall: (_link, look) => look(),
      store: (response) => void (feed.kept = response),
    };
    const { error, isUnit } = await this.asked(
      call,
      { memory },
      (request) => this.subAnswers.ask(request, { upstream }, (text) => feed.write(text)),
      asApiError,
    );
    if (await feed.finish()) return over;
    return rejection(call, error ?? unavailable(random, new Error('the run was cut off')), isUnit);
  }

  /** Runs the task from its begin, or from where it is, to its result in the object store. */
  private async runTask(call: InferenceCall, begun: (task: Json) => void): Promise<InferenceAnswer> {
    const chunks: Buffer[] = [];
    const sink = this.subAnswers.sink(async (chunk) => void chunks.push(Buffer.from(chunk)));
    const body = call.task == null ? call.body : { ...call.body, $task: call.task };
    const note = async (task: object): Promise<void> => begun({ ...task });
    const nobody = { upstream: new AbortController() };
    const { error, isUnit } = await this.asked({ ...call, body }, { note }, (request) =>
      this.subAnswers.askInto(sink, request, nobody),
    );
    const answer =
      error === null
        ? await this.tasks.store(call, chunks, sink.head)
        : rejection(call, contentRoleOf(error), isUnit);
    // What was refused before it was a unit may be asked for again.
    if (answer.unit_ended) this.remember(call, answer);
    return answer;
  }

  /** Makes the request of a call and runs it. An ApiError is returned; any other failure goes through `otherwise`, or is thrown. */
  private async asked(
    call: InferenceCall,
    told: Omit<Origin, 'kind'>,
    run: (request: InferenceRequest) => Promise<SubAnswer>,
    otherwise: (failure: unknown) => ApiError = thrown,
  ): Promise<Failed> {
    let isUnit = false;
    const opened = (): void => void (isUnit = true);
    try {
      const { error } = await run(await this.requests.of(call, { ...told, opened }));
      return { error, isUnit };
    } catch (failure) {
      return { error: failure instanceof ApiError ? failure : otherwise(failure), isUnit };
    }
  }

  private remember(call: InferenceCall, answer: InferenceAnswer): void {
    remember(this.answers, nameOf(call), answer, ANSWERS_MAX);
  }
}

function nameOf({ request_id, unit }: InferenceCall): string {
  return `${request_id}/${unit}`;
}

function thrown(failure: unknown): never {
  throw failure;
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

function rejection(
  { endpoint, request_id }: InferenceCall,
  error: ApiError,
  isUnit: boolean,
): InferenceAnswer {
  const isMessages = endpoint === '/v1/messages';
  const body = isMessages ? messagesErrorEnvelope(error, request_id) : errorEnvelope(error, request_id);
  return {
    status: error.status,
    body: JSON.parse(JSON.stringify(body)) as Record<string, unknown>,
    retry_after_seconds: error.options.retryAfterSeconds ?? null,
    unit_ended: isUnit,
  };
}
