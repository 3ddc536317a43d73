import { openAiError } from '../errors-openai.js';
import { isObject, listOf, textOf, type Json } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

const TOKEN_BYTES = 4;

/** Jina's format, and Voyage's where `top_k` is asked for: what shares more words with the query goes first. */
export const simulated: SimEndpoint = {
  path: '/rerank',
  answer: ({ json, id }) => {
    const query = textOf(json?.query);
    const documents = listOf(json?.documents).map(textAt);
    if (query === '' || documents.length === 0)
      return openAiError(400, 'invalid_request_error', null, 'query and documents are needed.', 'documents');
    const wanted = wordsOf(query);
    const scored = documents.map((text, index) => ({ index, relevance_score: share(wanted, wordsOf(text)) }));
    scored.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
    const bytes = documents.reduce(
      (sum, text) => sum + Buffer.byteLength(text) + Buffer.byteLength(query),
      0,
    );
    const usage = { total_tokens: Math.ceil(bytes / TOKEN_BYTES) };
    const most = json?.top_n ?? json?.top_k;
    const results = scored.slice(0, typeof most === 'number' ? most : documents.length);
    const model = textOf(json?.model);
    const body =
      json?.top_k === undefined
        ? { id: `rerank-sim${id}`, model, results, usage, meta: { billed_units: { search_units: 1 } } }
        : { object: 'list', data: results, model, usage };
    return { contentType: JSON_TYPE, body: JSON.stringify(body) };
  },
};

function textAt(document: Json): string {
  return isObject(document) ? textOf(document.text) : textOf(document);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}+/gu));
}

function share(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  const hits = [...wanted].filter((word) => found.has(word)).length;
  return Math.round((hits / Math.max(1, wanted.size)) * 1_000) / 1_000;
}
