import { Decimal } from 'decimal.js';
import { isTree, listOf, textOf, treeOf, type ConfigFile, type Path, type Tree } from './config-file.js';
import { upstreamNameOf } from './provider-names.js';
import type { Note } from '../plan.js';

/** A secret of the file: the variable that holds it, or that it is written out. */
type Secret = { variable: string } | 'written out' | null;

/** One entry of `model_list`. */
export interface Deployment {
  at: Path;
  /** `model_name`. */
  group: string;
  provider: string;
  upstreamModel: string;
  secret: Secret;
  apiBase: string | null;
  query: Record<string, string>;
  headers: Record<string, string | { env: string }>;
  weight: Decimal | null;
  /** Rates per million tokens; null where the file has none. */
  prices: Record<string, unknown> | null;
  info: Tree;
  accessGroups: string[];
}

const VARIABLE = /^os\.environ\/([A-Z][A-Z0-9_]{0,99})$/;
const RATES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'prompt_usd_per_1m',
  output_cost_per_token: 'completion_usd_per_1m',
  cache_read_input_token_cost: 'cache_read_input_usd_per_1m',
  cache_creation_input_token_cost: 'cache_write_input_usd_per_1m',
};
/** Members of an entry that are read; every other one is told. */
const READ = new Set([
  ...['model', 'api_key', 'api_base', 'base_url', 'api_version', 'extra_headers', 'headers', 'weight'],
  ...['custom_llm_provider', 'litellm_credential_name', 'tags', ...Object.keys(RATES), 'off_peak_pricing'],
]);
const CREDENTIAL = /^(authorization|cookie)$|key|token|secret|password/i;
const HOURS = /^\d\d:\d\d-\d\d:\d\d$/;
const MILLION = new Decimal(1_000_000);

/** Returns the variable of a text such as `os.environ/NAME`. */
export function variableOf(text: string | null): string | null {
  return VARIABLE.exec(text ?? '')?.[1] ?? null;
}

/** Reads `model_list`; what has no counterpart goes into `notes`. */
export function readDeployments(file: ConfigFile, notes: Note[]): Deployment[] {
  const named = new Map(
    listOf(file.root, 'credential_list')
      .filter(isTree)
      .map((entry) => [textOf(entry, 'credential_name'), treeOf(entry, 'credential_values')]),
  );
  return listOf(file.root, 'model_list').flatMap((entry, index) => {
    const at = ['model_list', index];
    if (!isTree(entry)) return [];
    const own = treeOf(entry, 'litellm_params');
    const params = { ...named.get(textOf(own, 'litellm_credential_name')), ...own };
    const [group, model] = [textOf(entry, 'model_name'), textOf(params, 'model')];
    const { provider, model: upstreamModel } = upstreamNameOf(
      model ?? '',
      textOf(params, 'custom_llm_provider'),
    );
    if (group === null || model === null || provider === null) {
      notes.push({ place: file.place(at), words: 'the provider of this model is not known; name it here' });
      return [];
    }
    for (const name of Object.keys(params))
      if (!READ.has(name))
        notes.push({ place: file.place([...at, 'litellm_params', name]), words: leftOut(name) });
    const info = treeOf(entry, 'model_info');
    return [
      {
        ...{ at, group, provider, upstreamModel, info },
        secret: secretOf(params),
        apiBase: textOf(params, 'api_base') ?? textOf(params, 'base_url'),
        query: queryOf(params),
        headers: headersOf({ ...treeOf(params, 'headers'), ...treeOf(params, 'extra_headers') }, (name) =>
          notes.push({
            place: file.place([...at, 'litellm_params']),
            words: `the header ${name} carries a credential that is written out: it is not copied`,
          }),
        ),
        weight: decimalOf(textOf(params, 'weight')),
        prices: pricesOf({ ...info, ...params }, file.place(at), notes),
        accessGroups: listOf(info, 'access_groups').map(String),
      },
    ];
  });
}

/** Returns the number that stands in the file, exactly; null where none does. */
export function decimalOf(text: string | null): Decimal | null {
  return text !== null && /^[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
    ? new Decimal(text.replaceAll('_', ''))
    : null;
}

function secretOf(params: Tree): Secret {
  const text = textOf(params, 'api_key');
  if (text === null || /^(none|empty|dummy|anything|fake.*|sk-1234)$/i.test(text)) return null;
  const variable = variableOf(text);
  return variable === null ? 'written out' : { variable };
}

function queryOf(params: Tree): Record<string, string> {
  const version = textOf(params, 'api_version');
  return version === null || version.startsWith('os.environ/') ? {} : { 'api-version': version };
}

function headersOf(given: Tree, refuse: (name: string) => void): Deployment['headers'] {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, string | { env: string }][] => {
      const text = String(value);
      const env = variableOf(text);
      if (env !== null) return [[name, { env }]];
      if (!CREDENTIAL.test(name)) return [[name, text]];
      refuse(name);
      return [];
    }),
  );
}

function pricesOf(given: Tree, place: string, notes: Note[]): Record<string, unknown> | null {
  const rates = ratesOf(given);
  const { prompt_usd_per_1m: prompt } = rates;
  for (const name of Object.keys(given))
    if (/cost_per|_cost$/.test(name) && !(name in RATES))
      notes.push({ place, words: `${name} is not carried over: write the price in gateway.yaml` });
  if (prompt === undefined) return null;
  const base = { completion_usd_per_1m: prompt === '0' ? '0' : null, ...rates };
  const windows = windowsOf(given.off_peak_pricing, base, place, notes);
  return { ...base, ...(windows.length === 0 ? {} : { windows }) };
}

function ratesOf(given: Tree): Record<string, string> {
  return Object.fromEntries(
    Object.entries(RATES).flatMap(([theirs, ours]) => {
      const rate = decimalOf(textOf(given, theirs));
      return rate === null || rate.isNegative() ? [] : [[ours, rate.times(MILLION).toFixed()]];
    }),
  );
}

/** Returns the hours of another price. Its rates that are absent are those of the base. */
function windowsOf(given: unknown, base: Record<string, unknown>, place: string, notes: Note[]): object[] {
  if (!isTree(given)) return [];
  const { hours_utc: written } = given;
  const hours = (Array.isArray(written) ? written : [written]).map(String);
  const known = [...Object.keys(RATES), 'hours_utc'];
  if (!hours.every((one) => HOURS.test(one)) || Object.keys(given).some((name) => !known.includes(name))) {
    notes.push({ place, words: 'off_peak_pricing: write what is more than daily hours as windows by hand' });
    return [];
  }
  return [{ name: 'off-peak', hours_utc: hours, prices: { ...base, ...ratesOf(given) } }];
}

const PLACES: Readonly<Record<string, string>> = {
  rpm: 'a limit of one deployment has no counterpart: limit keys, teams or organizations',
  tpm: 'a limit of one deployment has no counterpart: limit keys, teams or organizations',
  timeout: 'write timeouts of the provider in gateway.yaml, or total_timeout_ms of a routing policy',
  stream_timeout: 'write timeouts.first_byte_ms of the provider in gateway.yaml',
  max_retries: 'max_retries of a routing policy counts for all models of a key',
  max_budget: 'a budget of one deployment has no counterpart',
  aws_region_name: 'set AWS_REGION',
  aws_access_key_id: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK',
  aws_secret_access_key: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK',
  vertex_project: 'set GOOGLE_CLOUD_PROJECT',
  vertex_location: 'set GOOGLE_CLOUD_LOCATION',
  vertex_credentials: 'set GOOGLE_VERTEX_API_KEY',
};

function leftOut(name: string): string {
  return PLACES[name] ?? 'has no counterpart: callers send it with their requests, or it is left out';
}
