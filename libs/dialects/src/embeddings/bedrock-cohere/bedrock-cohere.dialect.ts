import { objectOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import { inputTypeOf } from '../cohere/cohere.dialect.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { textsOf, tokensInHeader, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 96;

/** Cohere's embeddings on Bedrock: the third version has one length and answers a bare list. */
export const dialect: EmbeddingsDialect = {
  name: 'bedrock-cohere-embeddings',
  unsupported: (request, { upstreamModel }) => {
    const texts = textsOf(request);
    if (texts === null || texts.length > INPUTS_MAX) return 'input';
    return request.dimensions !== null && upstreamModel.includes('-v3') ? 'dimensions' : null;
  },
  encode: (request, { upstreamModel }) =>
    jsonBody(`/model/${encodeURIComponent(upstreamModel)}/invoke`, 'application/json', {
      texts: textsOf(request),
      input_type: inputTypeOf(request),
      embedding_types: ['float'],
      ...(request.dimensions === null ? {} : { output_dimension: request.dimensions }),
    }),
  decode: (bytes, request, facts, head) => {
    const { embeddings } = objectOf(parseUpstreamObject(bytes));
    const vectors = Array.isArray(embeddings) ? embeddings : objectOf(embeddings).float;
    return translatedAnswer(Array.isArray(vectors) ? vectors : null, tokensInHeader(head), request, facts);
  },
};
