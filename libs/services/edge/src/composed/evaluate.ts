import { spellBody, writeJson } from '@gateway/json-body';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, newAnswerId, type Clock, type Random } from '@gateway/contracts';
import { JSON_HEADERS, LazySchema, readJson } from '@gateway/dialects';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { ComposedEndpoint, ComposedHandler } from '../inference/composed-endpoint.js';
import { SubAnswers } from '../inference/sub-answer.js';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { Rejections } from '../units/rejections.js';
import { CHAT, contentOf, subRequest } from './compare.js';
import { judgeRequest, judged, type Criterion } from './judge.js';

const CRITERIA_MAX = 32;
const text = { type: 'string', nullable: true };

const SCHEMA = {
  type: 'object',
  required: ['input', 'output', 'criteria'],
  properties: {
    input: { type: ['string', 'array'], minLength: 1, minItems: 1 },
    output: { type: 'string' },
    expected: text,
    context: { type: 'array', nullable: true, maxItems: 100, items: { type: 'string' } },
    model: text,
    criteria: {
      type: 'array',
      minItems: 1,
      maxItems: CRITERIA_MAX,
      items: {
        type: 'object',
        required: ['name', 'type'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 100 },
          description: { ...text, maxLength: 4_000 },
          type: { enum: ['score', 'boolean', 'category'] },
          scale: {
            type: 'object',
            nullable: true,
            required: ['min', 'max'],
            properties: { min: { type: 'number' }, max: { type: 'number' } },
          },
          categories: {
            type: 'array',
            nullable: true,
            minItems: 1,
            maxItems: 50,
            items: { type: 'string', minLength: 1 },
          },
          weight: { type: 'number', minimum: 0, nullable: true },
          threshold: { type: 'number', nullable: true },
        },
      },
    },
    metadata: { type: 'object', nullable: true },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

@Injectable()
class EvaluateHandler implements ComposedHandler {
  constructor(
    private readonly answers: SubAnswers,
    private readonly rejections: Rejections,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async run(request: InferenceRequest, client: Client): Promise<void> {
    const { value, criteria } = this.rejections.whileReading(request, () => {
      const read = readJson(request.bytes, schema);
      spellBody(read);
      const body = read.value;
      return { value: body, criteria: (body.criteria as Criterion[]).map(checked) };
    });
    const model =
      typeof value.model === 'string' && value.model !== '' ? value.model : request.principal.defaultModel;
    const body = judgeRequest({ ...value, criteria }, model ?? 'auto');
    let answer = '';
    const sub = await this.answers.ask(subRequest(request, body, 0), client, (part) => void (answer += part));
    if (client.isGone) return;
    client.rateHeaders = sub.rateHeaders;
    if (sub.error !== null) throw sub.error;
    const completion = JSON.parse(answer) as Record<string, unknown>;
    const verdict = judged(contentOf(completion), criteria);
    if (verdict === null)
      throw new ApiError('upstream_error', {
        providerCode: 'bad_response',
        message: 'The judge did not answer in the form that it was asked for.',
      });
    const said = {
      id: newAnswerId('eval', this.clock, this.random),
      object: 'evaluation',
      created: Math.floor(request.receivedAtMs / 1_000),
      model: completion.model,
      ...verdict,
      usage: completion.usage,
      ...(value.metadata == null ? {} : { metadata: value.metadata }),
    };
    client.answer(writeJson(said), JSON_HEADERS);
  }
}

/** POST /v1/evaluate: a model judges an output by the caller's criteria. */
export const evaluate: ComposedEndpoint = {
  paths: ['/evaluate'],
  permission: 'evaluate:write',
  asks: CHAT,
  admits: true,
  docs: {
    summary: 'Judge an output by criteria',
    schemaName: 'EvaluateRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'One request to the judge, which is `model`, else the key’s default model, else `auto`.',
  },
  load: () => schema.load(),
  handler: EvaluateHandler,
};

/** Throws ApiError `validation_error` for a criterion that cannot be judged. */
function checked(criterion: Criterion, at: number): Criterion {
  const { type, scale, categories } = criterion;
  if (type === 'category' && !categories) throw fault(at, 'categories', 'a category needs its categories');
  if (scale && scale.min >= scale.max) throw fault(at, 'scale', 'min is below max');
  return criterion;
}

function fault(at: number, member: string, msg: string): ApiError {
  const loc = ['criteria', at, member];
  return new ApiError('validation_error', {
    message: `${loc.join('.')}: ${msg}`,
    details: [{ type: 'value_error', loc, msg }],
    param: loc.join('.'),
  });
}
