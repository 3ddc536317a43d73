import { readFileSync } from 'node:fs';
import { jsonBody } from '@gateway/dialects';
import { AWS_REGIONS, VERTEX_LOCATIONS } from './credentials/regions.js';
import type { Provider } from './provider.js';
import { PROVIDERS } from './registry.generated.js';

/**
 * Facts of the makers' documents on a provider: address, variables, headers, the meaning of a status or an error's
 * name. None of it follows from code, so it is written a second time: one wrong letter is noticed.
 */
const FACTS = new URL('provider-facts.json', import.meta.url);
const STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 422, 424, 429, 498, 499, 500, 502, 503, 504, 529];
const NAMED_STATUSES = [400, 404, 422, 429, 500, 503];
const PATHS = ['/chat/completions', '/messages', '/models', '/v2/chat'];

function meaning(provider: Provider, status: number, code = ''): string {
  const body = Buffer.from(JSON.stringify({ error: { code, type: code, message: 'x' } }));
  const signal = { kind: 'status' as const, status, headers: {}, body, byok: false, nowMs: 0 };
  const { options } = provider.classify(signal);
  return `${options.code} ${options.providerCode} ${options.fault}${options.retryable ? ' again' : ''}`;
}

async function requestTo(provider: Provider, path: string): Promise<string> {
  const access = { baseUrl: provider.defaultBaseUrl, credential: { kind: 'api_key' as const, key: 'k' } };
  try {
    const { url, headers } = await provider.prepare(jsonBody(path, 'application/json', {}), access);
    const own = Object.entries(headers).filter(([name]) => !['content-type', 'accept'].includes(name));
    return [url, ...own.map(([name, value]) => `${name}: ${value}`)].join(' ');
  } catch (failure) {
    if (failure instanceof Error) return failure.message;
    throw failure;
  }
}

/** `<word> <meaning>`: the statuses that mean it with this word and something else without. */
function namedOf(provider: Provider, word: string): [string, string][] {
  const found = new Map<string, number[]>();
  for (const status of NAMED_STATUSES) {
    const means = meaning(provider, status, word);
    if (means !== meaning(provider, status)) found.set(means, [...(found.get(means) ?? []), status]);
  }
  return [...found].map(([means, statuses]) => [`${word} ${means}`, statuses.join(' ')]);
}

async function factsOf(provider: Provider, words: readonly string[]) {
  const { slug, name, credentialEnv, baseUrlEnv, defaultBaseUrl } = provider;
  const statuses = Object.fromEntries(STATUSES.map((status) => [status, meaning(provider, status)]));
  const named = Object.fromEntries(words.flatMap((word) => namedOf(provider, word)));
  const requests = await Promise.all(PATHS.map((path) => requestTo(provider, path)));
  return {
    ...{ slug, name, credentialEnv, baseUrlEnv, defaultBaseUrl, requests },
    meanings: { statuses, named },
  };
}

interface Facts {
  words: string[];
  aws: string[];
  vertex: string[];
  providers: { slug: string; meanings: number }[];
  meanings: unknown[];
}

describe('what the makers say of their providers', () => {
  it('stands in provider-facts.json as in the code', async () => {
    const written = JSON.parse(readFileSync(FACTS, 'utf8')) as Facts;
    const providers = await Promise.all(PROVIDERS.map((provider) => factsOf(provider, written.words)));
    // Most share a protocol, and with it what errors mean.
    const tables = [...new Set(providers.map(({ meanings }) => JSON.stringify(meanings)))];
    const found = {
      words: written.words,
      aws: [...AWS_REGIONS],
      vertex: [...VERTEX_LOCATIONS],
      providers: providers.map(({ meanings, ...rest }) => ({
        ...rest,
        meanings: tables.indexOf(JSON.stringify(meanings)),
      })),
      meanings: tables.map((table) => JSON.parse(table) as unknown),
    };
    expect(found).toEqual(written);
  });
});
