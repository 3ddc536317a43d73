import fc from 'fast-check';
import { RERANK_DIALECTS } from '../families.generated.js';
import type { RouteTarget } from '../translation/translation.js';
import type { RerankDialect, RerankRequest } from './rerank-dialect.js';

const REQUEST: RerankRequest = {
  query: 'q',
  documents: ['a', 'b', 'c'],
  topN: 2,
  returnsDocuments: false,
  maxTokensPerDocument: null,
  searches: 3,
};
const ROUTE = { upstreamModel: 'up' } as RouteTarget;

function dialect(name: string): RerankDialect {
  const found = RERANK_DIALECTS.get(name);
  if (!found) throw new Error(`no dialect ${name}`);
  return found;
}

function sent(name: string, request: RerankRequest): unknown {
  const { path, pieces } = dialect(name).encode(request, ROUTE);
  return { path, ...(JSON.parse(Buffer.concat(pieces).toString()) as object) };
}

const ranked = [
  { index: 2, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
];
const ranks = [
  { index: 2, score: 0.9 },
  { index: 0, score: 0.1 },
];

describe('rerank dialects', () => {
  it('send the query and the documents', () => {
    const common = { path: '/rerank', model: 'up', query: 'q', documents: ['a', 'b', 'c'] };
    expect(sent('cohere-rerank', { ...REQUEST, maxTokensPerDocument: 7 })).toEqual({
      ...common,
      top_n: 2,
      max_tokens_per_doc: 7,
    });
    expect(sent('voyage-rerank', REQUEST)).toEqual({ ...common, top_k: 2 });
    expect(sent('rerank', REQUEST)).toEqual({ ...common, top_n: 2, return_documents: false });
    expect(dialect('rerank').unsupported({ ...REQUEST, maxTokensPerDocument: 7 })).toBe('max_tokens_per_doc');
  });

  it.each([
    [
      'cohere-rerank',
      { results: ranked, meta: { billed_units: { search_units: 1 } } },
      { prompt_tokens: 0, completion_tokens: 0, searches: 1 },
    ],
    ['cohere-rerank', { results: ranked }, { prompt_tokens: 0, completion_tokens: 0, searches: 3 }],
    [
      'cohere-rerank',
      { results: ranked, meta: { billed_units: { search_units: 0 } } },
      { prompt_tokens: 0, completion_tokens: 0, searches: 3 },
    ],
    [
      'voyage-rerank',
      { data: ranked, usage: { total_tokens: 9 } },
      { prompt_tokens: 9, completion_tokens: 0 },
    ],
    ['rerank', { results: ranked, usage: { total_tokens: 9 } }, { prompt_tokens: 9, completion_tokens: 0 }],
    ['rerank', { results: ranked }, { completion_tokens: 0 }],
    // No query has no tokens.
    ['rerank', { results: ranked, usage: { total_tokens: 0 } }, { completion_tokens: 0 }],
    ['voyage-rerank', { data: ranked, usage: { total_tokens: 0 } }, { completion_tokens: 0 }],
  ])('%s reads order and counts', (name, answer, usage) => {
    expect(dialect(name).decode(Buffer.from(JSON.stringify(answer)), REQUEST)).toEqual({ ranks, usage });
  });

  it.each([
    [[{ index: 3, relevance_score: 1 }]],
    [
      [
        { index: 0, relevance_score: 1 },
        { index: 0, relevance_score: 1 },
      ],
    ],
    [[{ index: 0 }]],
    [[]],
    ['none'],
  ])('refuses ranks of documents that were not sent: %j', (results) => {
    expect(dialect('rerank').decode(Buffer.from(JSON.stringify({ results })), REQUEST)).toBeNull();
  });

  it('refuses a score that is too large for a number, which would be written as null', () => {
    const answer = Buffer.from('{"results":[{"index":0,"relevance_score":1e999}]}');
    expect(dialect('rerank').decode(answer, REQUEST)).toBeNull();
  });

  it('reads any bytes without throwing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RERANK_DIALECTS.values()), fc.json(), (one, text) => {
        one.decode(Buffer.from(text), REQUEST);
      }),
    );
  });
});
