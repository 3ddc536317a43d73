import { parseUpstreamObject } from '../body/upstream-json.js';
import { objectsOf, type JsonObject } from '../body/json-object.js';
import { badReply } from '../translation/exchange.js';
import type { UpstreamReply } from '../translation/translation.js';
import type { ImageOperation, ImagesRequest } from './images-dialect.js';

/** Prompts for an upstream that cannot do without one, where the caller needs none. */
const PROMPTS: Partial<Record<ImageOperation, string>> = {
  inpaint: 'Fill the marked area so that it fits what is around it.',
  reframe: 'Extend the picture to the new format. Keep everything that it shows.',
  remove_background: 'Remove the background. Keep the subject exactly as it is.',
};

export function promptOf({ prompt, operation }: ImagesRequest): string {
  return prompt || (PROMPTS[operation] ?? '');
}

/** `3:2` and the like: as asked for, else of the size; undefined leaves it to the model. */
export function ratioOf({ aspectRatio, options }: ImagesRequest): string | undefined {
  if (aspectRatio !== null) return aspectRatio;
  const size = sizeOf(options);
  if (size === null) return undefined;
  const by = divisor(size.width, size.height);
  return `${size.width / by}:${size.height / by}`;
}

export function sizeOf({ size }: JsonObject): { width: number; height: number } | null {
  const found = /^(\d+)x(\d+)$/.exec(typeof size === 'string' ? size : '');
  return found ? { width: Number(found[1]), height: Number(found[2]) } : null;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** Members whose value is neither null nor undefined. */
export function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value != null));
}

/** Throws ExchangeFailure where it is no JSON object. */
export function objectIn(reply: UpstreamReply): JsonObject {
  const answer = parseUpstreamObject(reply.bytes);
  if (answer === null) throw badReply('the answer is no JSON.');
  return answer;
}

/** Images that were sent, the mask not counted. */
export function sentCount({ images, references }: ImagesRequest): number {
  return images.length + references.length;
}

/** The objects of a list that hold at least one. Throws ExchangeFailure. */
export function someOf(value: unknown): readonly JsonObject[] {
  const found = objectsOf(value);
  if (found.length === 0) throw badReply('the answer holds no image.');
  return found;
}
