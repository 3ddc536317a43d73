import { filled, isObject, wholeCount } from '@gateway/dialects';
import type { SeedModel } from '../seed/seed-record.js';
import { FREE } from './with-own.js';

/** A server that is asked for its models. */
export interface Discoverable {
  slug: string;
  /** Name for people. */
  name: string;
  dialect: 'ollama' | 'chat';
  baseUrl: string;
  /** "" for none. */
  key: string;
  /** Variable of the key; null where none is named. */
  keyEnv: string | null;
}

/** Failure of a server to say which models it has: it was not reached (null) or answered with this status. */
export class NotDiscovered extends Error {
  constructor(
    readonly status: number | null,
    options?: ErrorOptions,
  ) {
    super(status === null ? 'the server was not reached' : `the server answered ${status}`, options);
    this.name = 'NotDiscovered';
  }
}

const TIMEOUT_MS = 5_000;
const BYTES_MAX = 4_194_304;
const MODELS_MAX = 500;
/** Context of a model whose server does not report one. */
const USUAL_CONTEXT = 8_192;

type Json = Record<string, unknown>;

/**
 * Returns the models of a server, listed free, each under an id of its own. Rejects with NotDiscovered where it does
 * not answer.
 */
export async function discoverModels(server: Discoverable): Promise<SeedModel[]> {
  const found = await (server.dialect === 'ollama' ? ollamaModels(server) : chatModels(server));
  const ids = new Set<string>();
  // In the order of their names: what the server lists first today it may list last tomorrow.
  return found
    .sort((one, other) => (upstreamOf(one) < upstreamOf(other) ? -1 : 1))
    .map((model) => {
      let { id } = model;
      for (let number = 2; ids.has(id); number += 1) id = `${model.id}-${number}`;
      ids.add(id);
      return { ...model, id };
    });
}

function upstreamOf({ routes: [route] }: SeedModel): string {
  return route.upstream_model;
}

async function chatModels(server: Discoverable): Promise<SeedModel[]> {
  const root = /^https?:\/\/[^/]+$/.test(server.baseUrl) ? `${server.baseUrl}/v1` : server.baseUrl;
  const { data } = await json(server, `${root}/models`);
  return objects(data).flatMap((model) => {
    const name = filled(model.id);
    const length = model.max_model_len ?? model.context_length;
    return name === null
      ? []
      : [seedModel(server, name, { context: wholeCount(length), capabilities: ['tools'] })];
  });
}

async function ollamaModels(server: Discoverable): Promise<SeedModel[]> {
  const root = server.baseUrl.replace(/\/(?:v1|api)$/, '');
  const { models } = await json(server, `${root}/api/tags`);
  const found: SeedModel[] = [];
  for (const { name } of objects(models)) {
    const upstream = filled(name);
    if (upstream === null) continue;
    const shown = await json(server, `${root}/api/show`, { model: upstream });
    const info = isObject(shown.model_info) ? shown.model_info : {};
    const length = Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1];
    const capabilities = Array.isArray(shown.capabilities) ? shown.capabilities.map(String) : [];
    found.push(seedModel(server, upstream, { context: wholeCount(length), capabilities }));
  }
  return found;
}

function seedModel(
  { slug, dialect }: Discoverable,
  upstream: string,
  { context, capabilities }: { context: number | null; capabilities: readonly string[] },
): SeedModel {
  const has = (name: string): boolean => capabilities.includes(name);
  const isEmbedding = has('embedding');
  const name = upstream.replace(/:latest$/, '');
  return {
    id: `${slug}/${idOf(name)}`,
    name,
    brand: slug,
    model_type: isEmbedding ? 'embedding' : 'text',
    context_length: context || USUAL_CONTEXT,
    input_modalities: has('vision') ? ['text', 'image'] : ['text'],
    output_modalities: [isEmbedding ? 'embedding' : 'text'],
    supports: isEmbedding
      ? ['embeddings']
      : [
          'completions_api',
          'responses_api',
          'structured_output',
          ...(has('tools') ? ['tools'] : []),
          ...(has('thinking') ? ['thinking'] : []),
        ],
    reasoning: { style: has('thinking') ? 'effort' : 'none' },
    routes: [
      {
        provider: slug,
        upstream_model: upstream,
        dialect: isEmbedding ? 'embeddings' : dialect,
        price: FREE,
        source: 'discovered',
        source_date: '1970-01-01',
        effective_date: '1970-01-01',
      },
    ],
  };
}

/** Letters, digits, dots, dashes and underscores: `org/Model:8B` is `org-model-8b`. */
function idOf(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return id === '' ? 'model' : id;
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject).slice(0, MODELS_MAX) : [];
}

async function json({ key }: Discoverable, url: string, body?: Json): Promise<Json> {
  const response = await fetched(url, {
    method: body ? 'POST' : 'GET',
    headers: {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new NotDiscovered(response.status);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > BYTES_MAX) throw new Error(`${url} answered more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return isObject(value) ? value : {};
}

async function fetched(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (failure) {
    throw new NotDiscovered(null, { cause: failure });
  }
}
