import type { DialectName } from '@gateway/contracts';
import type { Exchange } from './exchange.js';
import type { TextFormat } from './facts/read.js';

/** The way in which a recorded exchange is replayed: provider's adapter and dialect. */
export type ExchangeKind =
  | { kind: 'text'; provider: string; dialect: TextFormat }
  | { kind: 'vectors'; provider: string; dialect: DialectName }
  | { kind: 'ranks'; provider: string; dialect: DialectName }
  | { kind: 'moderation'; provider: string; dialect: DialectName }
  /** A count of input: ours is an estimate and asks no upstream. */
  | { kind: 'count'; provider: string; dialect: TextFormat }
  | { kind: 'none'; why: string };

const PROVIDERS: readonly [RegExp, string][] = [
  [/^api\.openai\.com$/, 'openai'],
  [/(?:^|\.)openai\.azure\.com$/, 'azure'],
  [/^api\.anthropic\.com$/, 'anthropic'],
  [/^api\.groq\.com$/, 'groq'],
  [/^api\.mistral\.ai$/, 'mistral'],
  [/^api\.deepseek\.com$/, 'deepseek'],
  [/^api\.cerebras\.ai$/, 'cerebras'],
  [/^api\.perplexity\.ai$/, 'perplexity'],
  [/^api\.z\.ai$/, 'zai'],
  [/^api\.x\.ai$/, 'xai'],
  [/^api\.cohere\.com$/, 'cohere'],
  [/^api\.voyageai\.com$/, 'voyage'],
  [/^openrouter\.ai$/, 'openrouter'],
  [/^ollama\.com$/, 'ollama'],
  [/^localhost:11434$/, 'ollama'],
  [/^generativelanguage\.googleapis\.com$/, 'google'],
  [/^(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$/, 'google-vertex'],
  [/^bedrock-runtime\..*amazonaws\.com$/, 'amazon-bedrock'],
];

const TEXT: readonly [RegExp, TextFormat][] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/v1\/messages$/, 'messages'],
  [/:(?:streamG|g)enerateContent$/, 'gemini'],
  [/\/converse(?:-stream)?$/, 'converse'],
  [/\/v2\/chat$/, 'cohere'],
];
const VECTORS: readonly [RegExp, DialectName][] = [
  [/\/v2\/embed$/, 'cohere-embeddings'],
  [/\/embeddings$/, 'embeddings'],
  [/:batchEmbedContents$/, 'gemini-embeddings'],
  [/text-embedding[^/]*:predict$/, 'vertex-embeddings'],
  [/gemini-embedding[^/]*:embedContent$/, 'vertex-embeddings'],
  [/\/cohere\.embed[^/]*\/invoke$|\/us\.cohere\.embed[^/]*\/invoke$/, 'bedrock-cohere-embeddings'],
  [/\/amazon\.nova[^/]*\/invoke$/, 'nova-embeddings'],
  // The rest of what is invoked: Titan by name, and behind a profile.
  [/\/invoke$/, 'titan-embeddings'],
];
const COUNTS: readonly [RegExp, TextFormat][] = [
  [/\/messages\/count_tokens$/, 'messages'],
  [/\/responses\/input_tokens$/, 'responses'],
  [/:countTokens$/, 'gemini'],
];

function matching<T>(table: readonly [RegExp, T][], path: string): T | undefined {
  return table.find(([pattern]) => pattern.test(path))?.[1];
}

/** Returns the way in which an exchange is replayed, or the reason why it is not. */
export function kindOf({ host, request, response }: Exchange): ExchangeKind {
  const provider = matching(PROVIDERS, host);
  if (provider === undefined) return { kind: 'none', why: `no adapter for ${host}` };
  const path = request.path.split('?')[0];
  if (request.json === null) return { kind: 'none', why: 'the recording has no JSON request' };
  const text = matching(TEXT, path);
  if (text) return { kind: 'text', provider, dialect: text };
  const vectors = provider === 'perplexity' ? 'perplexity-embeddings' : matching(VECTORS, path);
  if (vectors) return { kind: 'vectors', provider, dialect: vectors };
  const counted = matching(COUNTS, path);
  if (counted)
    return response.status < 400
      ? { kind: 'count', provider, dialect: counted }
      : { kind: 'none', why: 'a refused count: the gateway counts by itself and asks no upstream' };
  if (path.endsWith('/rerank')) return { kind: 'ranks', provider, dialect: 'cohere-rerank' };
  if (path.endsWith('/moderations')) return { kind: 'moderation', provider, dialect: 'moderations' };
  return {
    kind: 'none',
    why: `${host} …${path.slice(path.lastIndexOf('/')).replace(/\/[^:]*:/, ':')}: no endpoint of the gateway calls it`,
  };
}
