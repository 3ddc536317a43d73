import { Injectable } from '@nestjs/common';
import { ApiError, type KeyPrincipal } from '@gateway/contracts';
import { JSON_HEADERS, LazySchema, readJson } from '@gateway/dialects';
import { wholeBody } from '@gateway/endpoints';
import { price, priceAt } from '@gateway/money';
import {
  accessOf,
  discountOn,
  OPTIMIZE,
  requireTargets,
  visibleTo,
  wantedBy,
  type CatalogueIndex,
  type Optimize,
  type RankedModel,
  type Wanted,
} from '@gateway/routing';
import type { ComposedEndpoint, ComposedHandler } from '../inference/composed-endpoint.js';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { CHAT } from './compare.js';

const TOP_MAX = 10;
const TOP_DEFAULT = 5;
const CANDIDATES_MAX = 100;
/** Name of the scoring, as docs/routing.md publishes it. */
const ROUTER = 'scoring-1';

const SCHEMA = {
  type: 'object',
  properties: {
    messages: { type: 'array', minItems: 1 },
    prompt: { type: 'string', minLength: 1 },
    candidates: {
      type: 'array',
      nullable: true,
      minItems: 1,
      maxItems: CANDIDATES_MAX,
      items: { type: 'string', minLength: 1 },
    },
    tools: { type: 'array', nullable: true },
    response_format: { type: 'object', nullable: true },
    preferences: {
      type: 'object',
      nullable: true,
      additionalProperties: false,
      properties: {
        optimize: { enum: [...OPTIMIZE, null] },
        max_cost_usd_per_1m: { type: 'string', pattern: '^[0-9]{1,9}(\\.[0-9]{1,12})?$', nullable: true },
        min_context: { type: 'integer', minimum: 0, nullable: true },
      },
    },
    top_k: { type: 'integer', minimum: 1, maximum: TOP_MAX, nullable: true },
  },
  anyOf: [{ required: ['messages'] }, { required: ['prompt'] }],
};
const schema = new LazySchema(SCHEMA, { strict: false });

interface Preferences {
  optimize?: Optimize | null;
  max_cost_usd_per_1m?: string | null;
  min_context?: number | null;
}

@Injectable()
class SelectHandler implements ComposedHandler {
  constructor(private readonly routes: RoutePlanner) {}

  async run(request: InferenceRequest, client: Client): Promise<void> {
    const { value } = readJson(request.bytes, schema);
    const { messages, prompt, tools, response_format } = value;
    const asking = {
      model: 'auto',
      messages: messages ?? [{ role: 'user', content: prompt }],
      ...(tools == null ? {} : { tools }),
      ...(response_format == null ? {} : { response_format }),
    };
    const bytes = Buffer.from(JSON.stringify(asking));
    const asked = wholeBody(CHAT.read({ bytes, headers: request.headers }));
    const { principal } = request;
    const preferences = (value.preferences ?? {}) as Preferences;
    const wanted = { ...wantedBy(asked), optimize: preferences.optimize ?? 'balanced' };
    const index = this.routes.index();
    const named =
      value.candidates == null
        ? null
        : permitted(value.candidates as string[], principal, index, request.receivedAtMs);
    const nowMs = request.receivedAtMs;
    const ranked = this.routes
      .candidates(asked, wanted, { principal, nowMs })
      .filter(
        (one) => (named === null || named.has(one.model.record.id)) && isWithin(one, preferences, nowMs),
      );
    if (ranked.length === 0)
      throw new ApiError('bad_request', {
        message: 'No candidate can serve this request within the preferences.',
      });
    const top = ranked.slice(0, typeof value.top_k === 'number' ? value.top_k : TOP_DEFAULT);
    const body = {
      object: 'router.selection',
      model: top[0].model.record.id,
      candidates: top.map((one) => ({
        model: one.model.record.id,
        score: one.score,
        reasons: one.reasons,
        estimated_cost_usd: estimatedCost(one, wanted, principal, request.receivedAtMs),
      })),
      router: ROUTER,
      created: Math.floor(request.receivedAtMs / 1_000),
    };
    client.answer(JSON.stringify(body), JSON_HEADERS);
  }
}

/** POST /v1/router/select: the models that the gateway would choose, without calling one. Costs nothing. */
export const select: ComposedEndpoint = {
  paths: ['/router/select'],
  permission: 'inference:write',
  asks: CHAT,
  admits: false,
  docs: {
    summary: 'Choose a model for a request',
    schemaName: 'RouterSelectRequest',
    schema: SCHEMA,
    answers: ['application/json'],
    description: 'Takes messages or a prompt. Nothing is generated and nothing is billed.',
  },
  load: () => schema.load(),
  handler: SelectHandler,
};

/** Ids of the candidates that the key may use. Throws 404 for an unknown name, 403 where it may use none. */
function permitted(
  names: readonly string[],
  principal: KeyPrincipal,
  index: CatalogueIndex,
  nowMs: number,
): ReadonlySet<string> {
  const { access } = principal;
  const isVisible = visibleTo(principal, nowMs);
  const ids = names.flatMap((name) => {
    const alias = index.alias(name, principal.orgId);
    if (alias === null) return [index.model(name, isVisible).record.id];
    return requireTargets(alias, { index, principal, nowMs }).map(({ model }) => model.record.id);
  });
  const allowed = ids.filter((id) => accessOf(access, id) === 'allowed');
  if (allowed.length === 0)
    throw new ApiError('forbidden', {
      message: 'The key may use none of these candidates.',
      param: 'candidates',
    });
  return new Set(allowed);
}

function isWithin(
  { model, route }: RankedModel,
  { max_cost_usd_per_1m: max, min_context: min }: Preferences,
  nowMs: number,
): boolean {
  if (model.record.context_length < (min ?? 0)) return false;
  const { prompt_usd_per_1m: prompt, completion_usd_per_1m: completion } = priceAt(route.price, nowMs).record;
  return max == null || [prompt, completion].every((rate) => Number(rate ?? 0) <= Number(max));
}

function estimatedCost(
  { route }: RankedModel,
  { inputTokens, outputTokens }: Wanted,
  { discount }: KeyPrincipal,
  nowMs: number,
): string {
  return price({
    usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens, requests: 1 },
    record: priceAt(route.price, nowMs).record,
    tier: 'default',
    discountPct: discountOn(route, discount),
    byok: { served: false, feePct: '0' },
    context: {},
  }).cost_usd;
}
