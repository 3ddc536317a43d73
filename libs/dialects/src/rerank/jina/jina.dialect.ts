import { objectOf, countOfSome } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { JSON_TYPE, jsonBody } from '../../translation/upstream-body.js';
import { ranksOf } from '../ranks.js';
import type { RerankDialect } from '../rerank-dialect.js';

/** The format that Jina began and hosts of open rerankers speak (vLLM, Together), billed by tokens. */
export const dialect: RerankDialect = {
  name: 'rerank',
  unsupported: ({ maxTokensPerDocument }) => (maxTokensPerDocument === null ? null : 'max_tokens_per_doc'),
  encode: ({ query, documents, topN }, { upstreamModel }) =>
    jsonBody('/rerank', JSON_TYPE, {
      model: upstreamModel,
      query,
      documents,
      top_n: topN,
      return_documents: false,
    }),
  decode: (bytes, request) => {
    const answer = parseUpstreamObject(bytes);
    const ranks = ranksOf(answer?.results, request);
    if (answer === null || ranks === null) return null;
    const tokens = countOfSome(objectOf(answer.usage).total_tokens);
    return {
      ranks,
      usage: { completion_tokens: 0, ...(tokens === null ? {} : { prompt_tokens: tokens }) },
    };
  },
};
