import { ApiError } from '@gateway/contracts';
import {
  EMBEDDINGS_DIALECTS,
  MODERATIONS_DIALECTS,
  RERANK_DIALECTS,
  SEARCH_DIALECTS,
  Unsupported,
  type RouteTarget,
} from '@gateway/dialects';
import { ENDPOINTS } from './registry.generated.js';
import { wholeBody } from './stored/stored-content-needed.js';

type Json = Record<string, unknown>;
type Path = (string | number)[];

const MARK = 'marked-4711';
const ELEMENTS: Readonly<Record<string, unknown>> = {
  'a string': MARK,
  null: null,
  'a number': 4711,
  'a list': [MARK],
  'an object without a type': { words: MARK },
  'an object of an unknown type': { type: 'telegram', words: MARK },
};
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Bodies in which every list of an endpoint stands, with something in it. Texts have a spec of their own, in dialects. */
const BODIES: readonly { path: string; dialects: readonly string[]; body: Json }[] = [
  ...[['one'], [1, 2], [[1, 2]]].map((input) => ({
    path: '/embeddings',
    dialects: [...EMBEDDINGS_DIALECTS.keys()],
    body: { input },
  })),
  ...[['one'], [{ type: 'text', text: 'one' }]].map((input) => ({
    path: '/moderations',
    dialects: [...MODERATIONS_DIALECTS.keys()],
    body: { input },
  })),
  {
    path: '/rerank',
    dialects: [...RERANK_DIALECTS.keys()],
    body: { query: 'x', documents: ['one', { text: 'two' }] },
  },
  {
    path: '/web/search',
    dialects: [...SEARCH_DIALECTS.keys()],
    body: { query: ['one'], include_domains: ['a.example'], exclude_domains: ['b.example'] },
  },
  {
    path: '/images/edits',
    dialects: [],
    body: {
      operation: 'mix',
      prompt: 'x',
      image: [PIXEL, PIXEL],
      images: [PIXEL],
      reference_images: [PIXEL],
    },
  },
  {
    path: '/video/generations',
    dialects: [],
    body: { model: 'm', content: [{ type: 'text', text: 'one' }] },
  },
];
const TEXTS = ['/chat/completions', '/messages', '/responses'];

const route = (dialect: string): RouteTarget => ({
  ...{ dialect, upstreamModel: 'm', maxOutputTokens: null, contextLength: 8_192 },
  ...{ reasoning: { style: 'none' }, fixesSampling: false, quirks: { takesTokenIds: true } },
});

function endpointAt(path: string): (typeof ENDPOINTS)[number] {
  const found = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (found === undefined) throw new TypeError(`no endpoint at ${path}`);
  return found;
}

function* listsOf(value: unknown, path: Path = []): Generator<Path> {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) yield path;
  for (const [name, member] of Object.entries(value))
    yield* listsOf(member, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** The body with the element at the end of the list, or in the place of its first. */
function withElement(body: Json, path: Path, element: unknown, isAlone: boolean): Json {
  const copy = structuredClone(body);
  let list: unknown = copy;
  for (const step of path) list = (list as Record<string | number, unknown>)[step];
  if (isAlone) (list as unknown[]).splice(0, 1, element);
  else (list as unknown[]).push(element);
  return copy;
}

/** Returns the places of rejections and the texts of what is sent, of the body on every route. */
function fates(path: string, dialects: readonly string[], body: Json): string[] {
  const endpoint = endpointAt(path);
  try {
    const headers = { 'content-type': 'application/json' };
    const asked = wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers }));
    return dialects.flatMap((dialect) => {
      const found = endpoint.translate(asked, route(dialect));
      // Nothing is sent, so nothing is lost.
      if (found instanceof Unsupported) return [];
      return [`sent to ${dialect}: ${Buffer.concat(found.request.pieces).toString()} ${found.request.path}`];
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [`refused: ${error.options.details?.[0]?.loc.join('.') ?? error.message}`];
  }
}

const CASES = BODIES.flatMap(({ path, dialects, body }) =>
  [...listsOf(body)].map((list) => ({ path, dialects, body, list, at: list.join('.') })),
);

describe('an element of a list of an endpoint beside the texts', () => {
  it.each(CASES)(
    'F7 of $path, in $at, is understood or refused with its place',
    ({ path, dialects, body, list, at }) => {
      const lost: string[] = [];
      for (const [title, element] of Object.entries(ELEMENTS))
        for (const isAlone of [true, false])
          for (const fate of fates(path, dialects, withElement(body, list, element, isAlone))) {
            const isRefused = fate.startsWith(`refused: ${at}`);
            const isSent = fate.startsWith('sent') && fate.includes('4711');
            if (!isRefused && !isSent) lost.push(`${title}${isAlone ? ', alone' : ''}: ${fate}`);
          }
      expect(lost).toEqual([]);
    },
  );

  it('F7 has a case for every list that a body of JSON may have', () => {
    const known = new Set(BODIES.flatMap(({ path, body }) => Object.keys(body).map((name) => path + name)));
    const missing = ENDPOINTS.filter(
      ({ docs, paths }) => docs.body === undefined && !TEXTS.includes(paths[0]),
    ).flatMap(({ docs, paths }) =>
      Object.entries((docs.schema as { properties: Record<string, unknown> }).properties)
        .filter(([, schema]) => /"array"/.test(JSON.stringify(schema)))
        .map(([name]) => paths[0] + name)
        .filter((name) => !known.has(name)),
    );
    expect(missing).toEqual([]);
  });
});
