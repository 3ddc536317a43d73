import { openAiError } from '../errors-openai.js';
import { painted } from '../images/painted.js';
import { objectsOf, textOf, type JsonObject } from '../json.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** Members that OpenAI knows nothing of: sent on, they are a fault of who sent them. */
const UNKNOWN = ['response_format', 'operation', 'upscale_factor', 'mask_feather', 'reference_images'];

/** Edits: OpenAI's form, and JSON. */
export const simulated: SimEndpoint = {
  path: '/images/edits',
  answer: ({ body, contentType, json, ...asking }) => {
    if (json !== undefined) return ofJson(json, asking);
    const form = formOf(body, contentType);
    if (form === null) return invalid('invalid_content_type', 'body');
    const unknown = UNKNOWN.find((name) => form.fields[name] !== undefined);
    if (unknown !== undefined) return invalid('unknown_parameter', unknown);
    const sent = form.files.filter((name) => name === 'image' || name === 'image[]').length;
    if (sent === 0) return invalid('missing_required_parameter', 'image');
    if (textOf(form.fields.prompt) === '') return invalid('missing_required_parameter', 'prompt');
    return painted(form.fields, sent, asking);
  },
};

/** Paints for xAI's form of the request: images are data URLs. */
function ofJson(json: JsonObject, asking: Parameters<typeof painted>[2]): ReturnType<SimEndpoint['answer']> {
  const sent = [...objectsOf(json.images), ...objectsOf([json.image ?? null])];
  if (sent.length === 0) return invalid('missing_required_parameter', 'image');
  if (textOf(json.prompt) === '') return invalid('missing_required_parameter', 'prompt');
  return painted(json, sent.length, asking);
}

function formOf(body: Buffer, contentType: string): { fields: JsonObject; files: string[] } | null {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return null;
  const fields: Record<string, string> = {};
  const files: string[] = [];
  for (const part of body.toString('latin1').split(`--${boundary}`)) {
    const name = /name="([^"]+)"/.exec(part)?.[1];
    if (name === undefined) continue;
    const from = part.indexOf('\r\n\r\n') + 4;
    if (part.includes('; filename="')) files.push(name);
    else fields[name] = Buffer.from(part.slice(from).trimEnd(), 'latin1').toString('utf8');
  }
  return { fields, files };
}

function invalid(code: string, param: string): ReturnType<typeof openAiError> {
  return openAiError(400, 'invalid_request_error', code, `Invalid parameter: '${param}'.`, param);
}
