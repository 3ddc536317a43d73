import { objectOf } from '../../body/json-object.js';
import { parseUpstreamObject } from '../../body/upstream-json.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { EmbeddingsDialect, EmbeddingsRequest } from '../embeddings-dialect.js';
import { purposeOf, textsOf, translatedAnswer } from '../translated-answer.js';

const INPUTS_MAX = 96;
const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    query: 'search_query',
    document: 'search_document',
    classification: 'classification',
    clustering: 'clustering',
  }),
);

/** Returns the purpose of the vector for Cohere: a document where the caller names none. */
export function inputTypeOf(request: EmbeddingsRequest): string {
  return TYPES.get(purposeOf(request) ?? 'document') ?? 'search_document';
}

/** Cohere's /v2/embed. */
export const dialect: EmbeddingsDialect = {
  name: 'cohere-embeddings',
  unsupported: (request) => {
    const texts = textsOf(request);
    return texts === null || texts.length > INPUTS_MAX ? 'input' : null;
  },
  encode: (request, { upstreamModel }) =>
    jsonBody('/embed', 'application/json', {
      model: upstreamModel,
      texts: textsOf(request),
      input_type: inputTypeOf(request),
      embedding_types: ['float'],
      ...(request.dimensions === null ? {} : { output_dimension: request.dimensions }),
    }),
  decode: (bytes, request, facts) => {
    const answer = objectOf(parseUpstreamObject(bytes));
    const { float } = objectOf(answer.embeddings);
    const { input_tokens } = objectOf(objectOf(answer.meta).billed_units);
    return translatedAnswer(Array.isArray(float) ? float : null, input_tokens, request, facts);
  },
};
