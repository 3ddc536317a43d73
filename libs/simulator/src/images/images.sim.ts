import { openAiError } from '../errors-openai.js';
import { textOf, type JsonObject } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import { numberOf } from '../script.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** One transparent pixel. Every image is this one, whatever size is reported. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=';
const CREATED = 1_795_000_000;
const TOKENS_PER_IMAGE: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };

/** OpenAI's images, with the manners of its models of today: base64 only, sizes and tokens reported. */
export const simulated: SimEndpoint = {
  path: '/images/generations',
  answer: ({ json = {}, script }) => {
    const prompt = textOf(json.prompt);
    if (prompt === '') return invalid('missing_required_parameter', 'prompt');
    if (json.response_format !== undefined) return invalid('unknown_parameter', 'response_format');
    const n = typeof json.n === 'number' ? json.n : 1;
    const quality = chosen(json, 'quality', 'medium');
    const input = numberOf(script, 'prompt', Math.ceil(Buffer.byteLength(prompt) / 4));
    const output = numberOf(script, 'completion', n * (TOKENS_PER_IMAGE[quality] ?? TOKENS_PER_IMAGE.high));
    const answer = {
      created: CREATED,
      background: chosen(json, 'background', 'opaque'),
      data: Array.from({ length: n }, () => ({ b64_json: PIXEL })),
      output_format: 'png',
      quality,
      size: chosen(json, 'size', '1024x1024'),
      usage: {
        input_tokens: input,
        input_tokens_details: { image_tokens: 0, text_tokens: input },
        output_tokens: output,
        output_tokens_details: { image_tokens: output, text_tokens: 0 },
        total_tokens: input + output,
      },
    };
    const isCounted = script.values.get('usage') !== 'none';
    const body = JSON.stringify(isCounted ? answer : { ...answer, usage: undefined });
    return { contentType: JSON_TYPE, body };
  },
};

/** As asked for, else what the model takes by itself. */
function chosen(json: JsonObject, name: string, otherwise: string): string {
  const asked = textOf(json[name]);
  return asked === '' || asked === 'auto' ? otherwise : asked;
}

function invalid(code: string, param: string): ReturnType<typeof openAiError> {
  return openAiError(400, 'invalid_request_error', code, `Invalid parameter: '${param}'.`, param);
}
