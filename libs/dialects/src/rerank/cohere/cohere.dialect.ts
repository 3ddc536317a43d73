import { objectOf, wholeCount } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { ranksOf } from '../ranks.js';
import type { RerankDialect } from '../rerank-dialect.js';

/** Cohere's rerank, billed by searches: up to 100 documents each. */
export const dialect: RerankDialect = {
  name: 'cohere-rerank',
  unsupported: () => null,
  encode: ({ query, documents, topN, maxTokensPerDocument }, { upstreamModel }) =>
    jsonBody('/rerank', JSON_TYPE, {
      model: upstreamModel,
      query,
      documents,
      top_n: topN,
      ...(maxTokensPerDocument === null ? {} : { max_tokens_per_doc: maxTokensPerDocument }),
    }),
  decode: (bytes, request) => {
    const answer = parseUpstreamObject(bytes);
    const ranks = ranksOf(answer?.results, request);
    if (answer === null || ranks === null) return null;
    const searches = wholeCount(objectOf(objectOf(answer.meta).billed_units).search_units);
    // An order is at least one search: without a count it would cost nothing.
    return {
      ranks,
      usage: { prompt_tokens: 0, completion_tokens: 0, searches: searches || request.searches },
    };
  },
};
