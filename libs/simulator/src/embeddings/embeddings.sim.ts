import { createHash } from 'node:crypto';
import { openAiError } from '../errors-openai.js';
import { textOf, type Json } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

const DIMENSIONS = 8;

/** OpenAI's embeddings: vectors of length 1 that are the same for the same input. */
export const simulated: SimEndpoint = {
  path: '/embeddings',
  answer: ({ json, script }) => {
    const inputs = inputsOf(json?.input);
    if (inputs === undefined)
      return openAiError(400, 'invalid_request_error', null, "'$.input' is invalid.", 'input');
    const asked = typeof json?.dimensions === 'number' ? json.dimensions : DIMENSIONS;
    const data = inputs.map((input, index) => {
      const vector = vectorOf(JSON.stringify(input), asked);
      const embedding = json?.encoding_format === 'base64' ? base64Of(vector) : vector;
      return { object: 'embedding', index, embedding };
    });
    const tokens = inputs.reduce<number>((sum, input) => sum + tokensOf(input), 0);
    const usage =
      script.values.get('usage') === 'none' ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
    const body = JSON.stringify({ object: 'list', data, model: textOf(json?.model), ...usage });
    return { contentType: JSON_TYPE, body };
  },
};

function inputsOf(input: Json | undefined): Json[] | undefined {
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return undefined;
  return typeof input[0] === 'number' ? [input] : (input as Json[]);
}

function tokensOf(input: Json): number {
  return Array.isArray(input) ? input.length : Math.ceil(Buffer.byteLength(textOf(input)) / 4);
}

function vectorOf(text: string, length: number): number[] {
  const bytes = createHash('shake256', { outputLength: length }).update(text).digest();
  const raw = Array.from(bytes, (byte) => byte - 127.5);
  const norm = Math.hypot(...raw);
  return raw.map((value) => Math.fround(value / norm));
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
