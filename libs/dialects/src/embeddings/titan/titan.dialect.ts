import { objectOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { textsOf, translatedAnswer } from '../translated-answer.js';

/** Titan's text embeddings on Bedrock: one text a call, and only the second version takes a length. */
export const dialect: EmbeddingsDialect = {
  name: 'titan-embeddings',
  unsupported: (request, { upstreamModel }) => {
    if (textsOf(request)?.length !== 1) return 'input';
    return request.dimensions !== null && upstreamModel.includes('-v1') ? 'dimensions' : null;
  },
  encode: (request, { upstreamModel }) =>
    jsonBody(`/model/${encodeURIComponent(upstreamModel)}/invoke`, 'application/json', {
      inputText: textsOf(request)?.[0],
      ...(request.dimensions === null ? {} : { dimensions: request.dimensions }),
    }),
  decode: (bytes, request, facts) => {
    const { embedding, inputTextTokenCount } = objectOf(parseUpstreamObject(bytes));
    return translatedAnswer([embedding], inputTextTokenCount, request, facts);
  },
};
