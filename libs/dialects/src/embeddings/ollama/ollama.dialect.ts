import { objectOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { textsOf, translatedAnswer } from '../translated-answer.js';

/** Ollama's /api/embed. */
export const dialect: EmbeddingsDialect = {
  name: 'ollama-embeddings',
  unsupported: (request) => (textsOf(request) === null ? 'input' : null),
  encode: (request, { upstreamModel }) =>
    jsonBody('/api/embed', 'application/json', {
      model: upstreamModel,
      input: textsOf(request),
      ...(request.dimensions === null ? {} : { dimensions: request.dimensions }),
    }),
  decode: (bytes, request, facts) => {
    const { embeddings, prompt_eval_count } = objectOf(parseUpstreamObject(bytes));
    return translatedAnswer(Array.isArray(embeddings) ? embeddings : null, prompt_eval_count, request, facts);
  },
};
