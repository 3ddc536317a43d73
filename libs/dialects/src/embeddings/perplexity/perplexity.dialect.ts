import { objectOf, objectsOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect } from '../embeddings-dialect.js';
import { textsOf, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 512;

/** Perplexity's embeddings: whole numbers of one byte each, which are shown as the numbers they are. */
export const dialect: EmbeddingsDialect = {
  name: 'perplexity-embeddings',
  unsupported: (request) => {
    const texts = textsOf(request);
    return texts === null || texts.length > INPUTS_MAX ? 'input' : null;
  },
  encode: (request, { upstreamModel }) =>
    jsonBody('/embeddings', 'application/json', {
      model: upstreamModel,
      input: textsOf(request),
      encoding_format: 'base64_int8',
      ...(request.dimensions === null ? {} : { dimensions: request.dimensions }),
    }),
  decode: (bytes, request, facts) => {
    const answer = objectOf(parseUpstreamObject(bytes));
    const vectors = objectsOf(answer.data).map(({ embedding }) =>
      typeof embedding === 'string' ? [...new Int8Array(Buffer.from(embedding, 'base64'))] : null,
    );
    return translatedAnswer(vectors, objectOf(answer.usage).prompt_tokens, request, facts);
  },
};
