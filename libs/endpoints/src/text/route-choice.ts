import { ApiError, type ErrorDetail } from '@gateway/contracts';
import { isObject, LazySchema, schemaFault, type ModelRequest, type TextCaller } from '@gateway/dialects';
import { BodyFault, numberText, spellBody } from '@gateway/json-body';
import type { RouteChoice, RouteLimit } from '../endpoint.js';
import { CHOICE_MEMBERS, DECIMAL, SORTS } from './route-choice-schema.js';

type Value = Readonly<Record<string, unknown>>;
type Sort = RouteChoice['order']['sort'];
type MaxPrice = NonNullable<RouteLimit['policy']['max_price']>;

/** Slugs of OpenRouter for providers that have another one here. */
const OPENROUTER_SLUGS: ReadonlyMap<string, string> = new Map([
  ['google-ai-studio', 'google'],
  ['x-ai', 'xai'],
  ['z-ai', 'zai'],
  ['black-forest-labs', 'bfl'],
]);
/** Members that are promises which no route keeps. */
const UNKEPT = ['quantizations', 'enforce_distillable_text'];
const PRICES = [
  ['prompt', 'prompt_usd_per_1m'],
  ['completion', 'completion_usd_per_1m'],
  ['request', 'request_usd'],
] as const;
/** Members that are known, by the member that holds them. */
const KNOWN = {
  provider: Object.keys(CHOICE_MEMBERS.provider.properties),
  sort: ['by'],
  max_price: PRICES.map(([name]) => name),
};
/** Names that a header can repeat, and the most of them. */
const NAMEABLE = /^[\w.-]{1,64}$/;
const UNREAD_MAX = 32;

const schema = new LazySchema(
  { type: 'object', properties: CHOICE_MEMBERS },
  { strict: false, allowUnionTypes: true },
);

/** Compiles the schema now, so that no request waits for it. */
export function loadChoice(): void {
  schema.load();
}

/** Facts of a request about its routes. */
interface ReadChoice {
  /** Name of the first model; null = the key's default. */
  model: string | null;
  choice: RouteChoice;
  /** Members of `provider` that are not read. */
  unread: string[];
}

/**
 * Reads `models` and `provider`. Throws the caller's own error for a wrong type, ApiError unsupported_operation for a promise
 * that no route keeps.
 */
export function readChoice(
  caller: TextCaller,
  { model, body }: Pick<ModelRequest, 'model' | 'body'>,
): ReadChoice {
  const { models, provider } = body.value;
  const { validate } = schema;
  if (!validate({ models: models ?? null, provider: provider ?? null }))
    throw caller.bodyError(new BodyFault(schemaFault(validate.errors?.[0])));
  const member = isObject(provider) ? provider : {};
  for (const name of UNKEPT)
    if (asksFor(member[name]))
      throw new ApiError('unsupported_operation', {
        providerCode: 'unsupported_operation',
        message: `No provider promises provider.${name}.`,
        param: `provider.${name}`,
      });
  const { max_price: maxPrice } = member;
  if (isObject(maxPrice)) spellBody(body);
  const names = textsOf(models).map((name, at) => ({ name, param: `models.${at}` }));
  const first = model === null ? names.shift() : undefined;
  return {
    model: first?.name ?? model,
    choice: {
      param: first?.param ?? 'model',
      models: models == null ? null : names,
      allowFallbacks: member.allow_fallbacks !== false,
      order: orderOf(member),
      limits: limitsOf(member, (detail) => caller.bodyError(new BodyFault(detail))),
      requiresHints: member.require_parameters === true,
    },
    unread: unreadOf(member),
  };
}

function asksFor(value: unknown): boolean {
  return value != null && value !== false && !(Array.isArray(value) && value.length === 0);
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Slugs of providers here; what stands behind a slash names a variant of one. */
function slugsOf(value: unknown): string[] {
  return textsOf(value).map((slug) => {
    const [name] = slug.toLowerCase().split('/');
    return OPENROUTER_SLUGS.get(name) ?? name;
  });
}

function orderOf({ order, sort }: Value): RouteChoice['order'] {
  const by = isObject(sort) ? sort.by : sort;
  const known: Sort = SORTS.find((one) => one === by);
  const first = slugsOf(order);
  return { ...(first.length > 0 && { provider_order: first }), ...(known !== undefined && { sort: known }) };
}

function limitsOf(member: Value, rejection: (detail: ErrorDetail) => Error): RouteLimit[] {
  const { only, ignore, max_price: maxPrice, zdr, data_collection: collection } = member;
  const limits: RouteLimit[] = [];
  if (only != null) limits.push({ param: 'provider.only', policy: { only_providers: slugsOf(only) } });
  if (ignore != null)
    limits.push({ param: 'provider.ignore', policy: { ignore_providers: slugsOf(ignore) } });
  if (isObject(maxPrice))
    limits.push({ param: 'provider.max_price', policy: { max_price: pricesOf(maxPrice, rejection) } });
  const retention = { require_zero_retention: true };
  if (zdr === true) limits.push({ param: 'provider.zdr', policy: retention });
  if (collection === 'deny') limits.push({ param: 'provider.data_collection', policy: retention });
  return limits;
}

/** Ceilings as decimal text: a number is read as it was written, never as a float. */
function pricesOf(maxPrice: Value, rejection: (detail: ErrorDetail) => Error): MaxPrice {
  const prices: MaxPrice = {};
  for (const [name, field] of PRICES) {
    const value = maxPrice[name];
    if (value == null) continue;
    const text = typeof value === 'number' ? (numberText(maxPrice, name) ?? String(value)) : value;
    if (typeof text !== 'string' || !DECIMAL.test(text))
      throw rejection({
        type: 'pattern',
        loc: ['provider', 'max_price', name],
        msg: 'must be an amount in USD with at most 12 decimals, such as 0.5',
      });
    prices[field] = text;
  }
  return prices;
}

function unreadOf(member: Value): string[] {
  const among = (holder: unknown, known: readonly string[], path: string): string[] =>
    isObject(holder)
      ? Object.keys(holder)
          .filter((name) => !known.includes(name) && holder[name] != null && NAMEABLE.test(name))
          .map((name) => `${path}.${name}`)
      : [];
  const top = among(member, [...KNOWN.provider, ...UNKEPT], 'provider');
  return [
    ...top,
    ...among(member.sort, KNOWN.sort, 'provider.sort'),
    ...among(member.max_price, KNOWN.max_price, 'provider.max_price'),
  ].slice(0, UNREAD_MAX);
}
