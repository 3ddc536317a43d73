import { parseSpelled, spellBody, writeJson } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, errorEnvelope, newAnswerId, type Clock, type Random } from '@gateway/contracts';
import { isObject, JSON_HEADERS, LazySchema, readJson } from '@gateway/dialects';
import { EVENT_STREAM_HEADERS } from '@gateway/endpoints';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { CatalogueIndex } from '@gateway/routing';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import { WholeFrames } from '../request/whole-frames.js';
import type { ComposedEndpoint, ComposedHandler } from '../inference/composed-endpoint.js';
import { SubAnswers, type SubAnswer } from '../inference/sub-answer.js';
import { endpointAt } from '../request/endpoint-at.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { Rejections } from '../units/rejections.js';

const MODELS_MIN = 2;
const MODELS_MAX = 8;

const SCHEMA = {
  type: 'object',
  required: ['models'],
  // A template may bring them.
  anyOf: [{ required: ['models', 'messages'] }, { required: ['models', 'template'] }],
  properties: {
    models: {
      type: 'array',
      minItems: 1,
      maxItems: MODELS_MAX,
      items: { type: 'string', minLength: 1 },
    },
    messages: { type: 'array', minItems: 1 },
    template: { type: 'string', nullable: true },
    stream: { type: 'boolean', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** The endpoint that answers for each model. */
export const CHAT = endpointAt('/chat/completions');

@Injectable()
class CompareHandler implements ComposedHandler {
  constructor(
    private readonly answers: SubAnswers,
    private readonly routes: RoutePlanner,
    private readonly rejections: Rejections,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async run(request: InferenceRequest, client: Client): Promise<void> {
    const { value, models } = this.rejections.whileReading(request, () => {
      const read = readJson(request.bytes, schema);
      spellBody(read);
      const body = read.value;
      return { value: body, models: expanded(body.models as string[], this.routes.index()) };
    });
    const calls = models.map((model, unit) =>
      subRequest(request, { ...value, models: undefined, model }, unit),
    );
    if (value.stream === true) await this.streamed(request, client, models, calls);
    else await this.plain(request, client, models, calls);
  }

  private async plain(
    request: InferenceRequest,
    client: Client,
    models: readonly string[],
    calls: readonly InferenceRequest[],
  ): Promise<void> {
    const texts = calls.map(() => '');
    const answers = await Promise.all(
      calls.map((sub, at) => this.answers.ask(sub, client, (text) => void (texts[at] += text))),
    );
    if (client.isGone) return;
    client.rateHeaders = answers.at(-1)?.rateHeaders ?? {};
    const completions = answers.map(({ error }, at) =>
      error === null ? (parseSpelled(texts[at]) as Record<string, unknown>) : null,
    );
    if (completions.every((completion) => completion === null)) throw bestOf(answers);
    const results = answers.map((answer, index) => ({
      index,
      model: completions[index]?.model ?? models[index],
      status: completions[index] === null ? 'error' : 'success',
      completion: completions[index],
      error: completions[index] === null ? shown(answer.error, request) : null,
      latency_ms: answer.latencyMs,
      ttft_ms: answer.ttftMs,
    }));
    const body = {
      id: newAnswerId('cmp', this.clock, this.random),
      object: 'chat.compare',
      created: Math.floor(request.receivedAtMs / 1_000),
      results,
      usage: summed(completions),
    };
    client.answer(writeJson(body), JSON_HEADERS);
  }

  private async streamed(
    request: InferenceRequest,
    client: Client,
    models: readonly string[],
    calls: readonly InferenceRequest[],
  ): Promise<void> {
    // One write at a time: the caller's connection has one place for who waits for it.
    let last = Promise.resolve();
    const send = (text: string): Promise<void> => {
      client.open(EVENT_STREAM_HEADERS);
      return (last = last.then(() => client.write(text)));
    };
    const answers = await Promise.all(
      calls.map(async (sub, index) => {
        const frames = new Frames(index, models[index]);
        const answer = await this.answers.ask(sub, client, (text) => {
          const out = frames.push(text);
          return out === '' ? Promise.resolve() : send(out);
        });
        return { answer, frames };
      }),
    );
    if (client.isGone) return;
    if (!client.isOpen) throw bestOf(answers.map(({ answer }) => answer));
    for (const { answer, frames } of answers)
      if (answer.error !== null) await send(frames.frame({ error: shown(answer.error, request) }));
    await send('data: [DONE]\n\n');
    client.end();
  }
}

/** POST /v1/chat/compare: one request, answered by several models. */
export const compare: ComposedEndpoint = {
  paths: ['/chat/compare'],
  permission: 'inference:write',
  asks: CHAT,
  admits: true,
  docs: {
    summary: 'One chat request to several models',
    schemaName: 'CompareRequest',
    schema: SCHEMA,
    answers: ['application/json', 'text/event-stream'],
    description: `Takes ${MODELS_MIN} to ${MODELS_MAX} models beside any chat parameter. Each is billed and limited as one request.`,
  },
  load: () => schema.load(),
  handler: CompareHandler,
};

/** A composite stands for its members. Throws ApiError `validation_error` for too few or too many. */
function expanded(named: readonly string[], index: CatalogueIndex): string[] {
  const models = named.flatMap((name) => {
    const record = index.find(name)?.record;
    return record?.is_composite ? record.composite_models : [name];
  });
  if (models.length >= MODELS_MIN && models.length <= MODELS_MAX) return models;
  const msg = `name ${MODELS_MIN} to ${MODELS_MAX} models; these are ${models.length}`;
  throw new ApiError('validation_error', {
    message: `models: ${msg}`,
    details: [{ type: models.length < MODELS_MIN ? 'min_items' : 'max_items', loc: ['models'], msg }],
    param: 'models',
  });
}

/** The request of one model: a unit of its own. */
export function subRequest(request: InferenceRequest, body: object, unitIndex: number): InferenceRequest {
  return { ...request, endpoint: CHAT, unitIndex, bytes: Buffer.from(writeJson(body)) };
}

function summed(completions: readonly (Record<string, unknown> | null)[]): Record<string, number> {
  const total = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  for (const completion of completions) {
    const usage = completion?.usage;
    if (!isObject(usage)) continue;
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += Number(usage[name] ?? 0);
  }
  return total;
}

/** Cuts the event stream of one model into frames, and says in each whose it is. */
class Frames {
  private readonly whole = new WholeFrames();

  constructor(
    private readonly index: number,
    private readonly model: string,
  ) {}

  push(text: string): string {
    return this.whole
      .push(text)
      .map((frame) => this.named(frame))
      .join('');
  }

  frame(content: object): string {
    return `data: ${writeJson({ index: this.index, model: this.model, ...content })}\n\n`;
  }

  private named(frame: string): string {
    if (!frame.startsWith('data: ')) return `${frame}\n\n`;
    const data = frame.slice('data: '.length);
    if (data === '[DONE]') return '';
    const chunk = parseSpelled(data) as Record<string, unknown>;
    return this.frame('error' in chunk ? { error: chunk.error } : { chunk });
  }
}

function shown(error: ApiError | null, { requestId }: InferenceRequest): unknown {
  return error && errorEnvelope(error, requestId).error;
}

/** Returns the error when nobody answered: one that a retry may mend, before others. */
function bestOf(answers: readonly SubAnswer[]): ApiError {
  const errors = answers.flatMap(({ error }) => error ?? []);
  const found = [503, 502, 504, 429].map((status) => errors.find((error) => error.status === status));
  return found.find((error) => error !== undefined) ?? errors[0];
}

/** Returns the text of a completion; "" where it has none. */
export function contentOf({ choices }: Record<string, unknown>): string {
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const message = isObject(choice) ? choice.message : null;
  return isObject(message) && typeof message.content === 'string' ? message.content : '';
}
