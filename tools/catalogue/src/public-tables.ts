import { readSeed } from '@gateway/catalogue';

type Json = Record<string, unknown>;
type Models = ReturnType<typeof readSeed>['models'];
type Prices = Record<string, string>;

/** A price of a public table beside ours. */
export interface Candidate {
  /** Slug of ours where the table's name is known, else the table's. */
  provider: string;
  upstream_model: string;
  /** Our model; null where we have no such route. */
  model: string | null;
  source: string;
  theirs: Prices;
  ours: Prices | null;
  /** Names of the rates that both have and that differ, and of those that one of them lacks. */
  differs: string[];
}

/** Names of providers in the tables, where they are not ours. */
const SLUGS: Readonly<Record<string, string>> = {
  gemini: 'google',
  'vertex_ai-language-models': 'google-vertex',
  vertex_ai: 'google-vertex',
  bedrock: 'amazon-bedrock',
  bedrock_converse: 'amazon-bedrock',
  together_ai: 'together',
  togetherai: 'together',
  fireworks_ai: 'fireworks',
  'fireworks-ai': 'fireworks',
  dashscope: 'alibaba',
  moonshot: 'moonshotai',
  zhipuai: 'zai',
};

const MODELS_DEV: Readonly<Record<string, string>> = {
  input: 'prompt_usd_per_1m',
  output: 'completion_usd_per_1m',
  cache_read: 'cache_read_input_usd_per_1m',
  cache_write: 'cache_write_input_usd_per_1m',
};
const LITELLM: Readonly<Record<string, string>> = {
  input_cost_per_token: 'prompt_usd_per_1m',
  output_cost_per_token: 'completion_usd_per_1m',
  cache_read_input_token_cost: 'cache_read_input_usd_per_1m',
  cache_creation_input_token_cost: 'cache_write_input_usd_per_1m',
};

/**
 * Returns the rows of a public table as candidates. Numbers are taken from the text of the file, so that no rate is
 * rounded. Throws SyntaxError for a file that is not JSON.
 */
export function candidates(kind: 'models.dev' | 'litellm', text: string, ours: Models): Candidate[] {
  const table = exactJson(text);
  const rows = kind === 'litellm' ? litellmRows(table) : modelsDevRows(table);
  const routes = new Map(
    ours.flatMap((model) =>
      model.routes.map((route) => [`${route.provider} ${route.upstream_model}`, { model, route }]),
    ),
  );
  return rows.map(({ provider, upstream_model, theirs }) => {
    const known = routes.get(`${provider} ${upstream_model}`);
    const mine = known === undefined ? null : tokenRates(known.route.price);
    return {
      ...{ provider, upstream_model, model: known?.model.id ?? null, source: kind },
      ...{ theirs, ours: mine, differs: mine === null ? [] : differences(mine, theirs) },
    };
  });
}

function* entries(value: unknown): Generator<[string, Json]> {
  for (const [name, entry] of Object.entries(isJson(value) ? value : {}))
    if (isJson(entry)) yield [name, entry];
}

type Row = Pick<Candidate, 'provider' | 'upstream_model' | 'theirs'>;

function modelsDevRows(table: unknown): Row[] {
  return [...entries(table)].flatMap(([provider, { models }]) =>
    [...entries(models)].flatMap(([upstream_model, { cost }]) => {
      const theirs = rates(isJson(cost) ? cost : {}, MODELS_DEV, 0);
      return theirs === null ? [] : [{ provider: SLUGS[provider] ?? provider, upstream_model, theirs }];
    }),
  );
}

function litellmRows(table: unknown): Row[] {
  return [...entries(table)].flatMap(([name, entry]) => {
    const { litellm_provider: provider } = entry;
    const theirs = rates(entry, LITELLM, 6);
    if (typeof provider !== 'string' || theirs === null) return [];
    const upstream_model = name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
    return [{ provider: SLUGS[provider] ?? provider, upstream_model, theirs }];
  });
}

/** Returns the rates of an entry per million tokens; null where it has none. */
function rates(entry: Json, fields: Readonly<Record<string, string>>, shift: number): Prices | null {
  const found = Object.entries(fields).flatMap(([theirs, ours]) => {
    const { [theirs]: rate } = entry;
    return rate instanceof ExactNumber ? [[ours, shifted(rate.text, shift)]] : [];
  });
  return found.length === 0 ? null : (Object.fromEntries(found) as Prices);
}

function tokenRates(price: object): Prices {
  const names = new Set(Object.values(MODELS_DEV));
  return Object.fromEntries(
    Object.entries(price).flatMap(([name, rate]: [string, unknown]) =>
      names.has(name) && typeof rate === 'string' ? [[name, shifted(rate, 0)]] : [],
    ),
  );
}

function differences(ours: Prices, theirs: Prices): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].filter((name) => ours[name] !== theirs[name]).sort();
}

/** A number as it stands in the file. */
class ExactNumber {
  constructor(readonly text: string) {}
}

function exactJson(text: string): unknown {
  const revive = (_key: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? new ExactNumber(context.source) : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Returns a JSON number, with exponent or without, times ten to this power as a plain decimal. */
export function shifted(text: string, power: number): string {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(exponent) + power;
  const padded = digits.padStart(digits.length + Math.max(0, -point), '0').padEnd(point, '0');
  const at = Math.max(point, 0);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const right = padded.slice(at).replace(/0+$/, '');
  return right === '' ? left : `${left}.${right}`;
}

function isJson(value: unknown): value is Json {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}
