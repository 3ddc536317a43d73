import { objectOf, countOfSome } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { ranksOf } from '../ranks.js';
import type { RerankDialect } from '../rerank-dialect.js';

/** Voyage's rerankers, billed by tokens. */
export const dialect: RerankDialect = {
  name: 'voyage-rerank',
  unsupported: ({ maxTokensPerDocument }) => (maxTokensPerDocument === null ? null : 'max_tokens_per_doc'),
  encode: ({ query, documents, topN }, { upstreamModel }) =>
    jsonBody('/rerank', JSON_TYPE, { model: upstreamModel, query, documents, top_k: topN }),
  decode: (bytes, request) => {
    const answer = parseUpstreamObject(bytes);
    const ranks = ranksOf(answer?.data, request);
    if (answer === null || ranks === null) return null;
    const tokens = countOfSome(objectOf(answer.usage).total_tokens);
    return {
      ranks,
      usage: { completion_tokens: 0, ...(tokens === null ? {} : { prompt_tokens: tokens }) },
    };
  },
};
