import { openAiError } from '../errors-openai.js';
import { textOf } from '../json.js';
import type { SimEndpoint } from '../sim-endpoint.js';
import { painted } from './painted.js';

/** Marks a request of Recraft's or xAI's form, where base64 has to be asked for: addresses come otherwise. */
const ASKED_FOR_BASE64 = 'sim-picture';

/** OpenAI's images, with the manners of its models of today: base64 only, sizes and tokens reported. */
export const simulated: SimEndpoint = {
  path: '/images/generations',
  answer: ({ json = {}, ...asking }) => {
    if (textOf(json.prompt) === '') return invalid('missing_required_parameter', 'prompt');
    const isAsked = textOf(json.model) === ASKED_FOR_BASE64 && json.response_format === 'b64_json';
    if (json.response_format !== undefined && !isAsked)
      return invalid('unknown_parameter', 'response_format');
    return painted(json, 0, asking);
  },
};

function invalid(code: string, param: string): ReturnType<typeof openAiError> {
  return openAiError(400, 'invalid_request_error', code, `Invalid parameter: '${param}'.`, param);
}
