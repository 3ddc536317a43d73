import { textOf, type JsonObject } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import { numberOf } from '../script.js';
import type { SimAnswer, SimRequest } from '../sim-endpoint.js';
import { picture } from './picture.js';

type Asking = Pick<SimRequest, 'script' | 'createdAt'>;

/** One transparent pixel: the image of tools, which name no size. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=';
const TOKENS_PER_IMAGE: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const TOKENS_PER_SENT_IMAGE = 323;

/** Returns the answer to a prompt and the images sent with it. */
export function painted(json: JsonObject, sent: number, { script, createdAt }: Asking): SimAnswer {
  const n = Number(json.n ?? 1);
  const quality = chosen(json, 'quality', 'medium');
  const text = Math.ceil(Buffer.byteLength(textOf(json.prompt)) / 4);
  const image = sent * TOKENS_PER_SENT_IMAGE;
  const input = numberOf(script, 'prompt', text + image);
  const output = numberOf(script, 'completion', n * (TOKENS_PER_IMAGE[quality] ?? TOKENS_PER_IMAGE.high));
  const size = chosen(json, 'size', '1024x1024');
  const answer = {
    created: createdAt,
    background: chosen(json, 'background', 'opaque'),
    data: Array.from({ length: n }, () => ({ b64_json: picture(size) })),
    output_format: 'png',
    quality,
    size,
    usage: {
      input_tokens: input,
      input_tokens_details: { image_tokens: Math.min(image, input), text_tokens: Math.max(0, input - image) },
      output_tokens: output,
      output_tokens_details: { image_tokens: output, text_tokens: 0 },
      total_tokens: input + output,
    },
  };
  const isCounted = script.values.get('usage') !== 'none';
  return {
    contentType: JSON_TYPE,
    body: JSON.stringify(isCounted ? answer : { ...answer, usage: undefined }),
  };
}

/** Returns the requested value, else the model's default. */
function chosen(json: JsonObject, name: string, otherwise: string): string {
  const asked = textOf(json[name]);
  return asked === '' || asked === 'auto' ? otherwise : asked;
}
