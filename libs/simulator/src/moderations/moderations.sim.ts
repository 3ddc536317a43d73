import { openAiError } from '../errors-openai.js';
import { textOf, type JsonObject } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

const CATEGORIES = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
];
/** Word that makes an answer flagged. */
const FLAGGED = /\bviolence\b/i;

/** OpenAI's moderations: an input that names violence is flagged for it, nothing else is. */
export const simulated: SimEndpoint = {
  path: '/moderations',
  answer: ({ json, id }) => {
    const inputs = inputsOf(json);
    if (inputs === undefined)
      return openAiError(400, 'invalid_request_error', null, "Missing required parameter: 'input'.", 'input');
    const results = inputs.map(resultOf);
    const body = JSON.stringify({ id: `modr-sim${id}`, model: textOf(json?.model), results });
    return { contentType: JSON_TYPE, body };
  },
};

/** Texts that are judged one by one; the parts of a mixed input are judged together. */
function inputsOf(json: JsonObject | undefined): string[] | undefined {
  const input = json?.input;
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  return input.every((part) => typeof part === 'string') ? input.map(String) : [JSON.stringify(input)];
}

function resultOf(text: string): object {
  const flagged = FLAGGED.test(text);
  const of = <T>(value: (isHit: boolean) => T): Record<string, T> =>
    Object.fromEntries(CATEGORIES.map((name) => [name, value(flagged && name === 'violence')]));
  return {
    flagged,
    categories: of((isHit) => isHit),
    category_scores: of((isHit) => (isHit ? 0.97 : 0.0001)),
    category_applied_input_types: of((isHit) => (isHit ? ['text'] : [])),
  };
}
