import type { UnitUsage } from '@gateway/contracts';
import { isObject, objectOf, wholeCount, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';

/** Tokens of an image whose own were not reported, like one that is sent. */
const TOKENS_PER_IMAGE = 1_000;
const BYTES_PER_TOKEN = 4;
/** More than an image model reads or writes for one answer: it would be doubted later, and images estimated as text. */
const TOKENS_MAX = 1_048_576;

/** Returns the usage of an answer with so many images. A side that was not reported is left out, and estimated. */
export function imagesUsage(raw: unknown, images: number): { usage: UnitUsage; deliveredBytes: number } {
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details } = objectOf(raw);
  const usage: UnitUsage = { images };
  const prompt = reported(input_tokens) || null;
  if (prompt !== null) {
    const details = objectOf(input_tokens_details);
    usage.prompt_tokens = prompt;
    usage.image_input_tokens = atMost(details.image_tokens, prompt);
    usage.cached_tokens = atMost(details.cached_tokens, prompt);
    const cached = objectOf(details.cached_tokens_details);
    usage.cached_image_tokens = atMost(cached.image_tokens, usage.cached_tokens);
  }
  const output = reported(output_tokens) || null;
  if (output === null) {
    const estimated = images * TOKENS_PER_IMAGE;
    return {
      usage: { ...usage, image_output_tokens: estimated },
      deliveredBytes: estimated * BYTES_PER_TOKEN,
    };
  }
  const details = objectOf(output_tokens_details);
  usage.completion_tokens = output;
  // Models that plan in text report it apart. Without a split all of the output is the images.
  usage.image_output_tokens = Math.min(
    reported(details.image_tokens) ?? output - atMost(details.text_tokens, output),
    output,
  );
  return { usage, deliveredBytes: 0 };
}

/** The caller's usage object: the provider's own without money, with the counts that are billed. */
export function shownUsage(raw: unknown, billed: UnitUsage): JsonObject | undefined {
  if (!isObject(raw)) return undefined;
  const input = billed.prompt_tokens ?? 0;
  const output = billed.completion_tokens ?? 0;
  return {
    ...objectOf(withoutMoney(raw)),
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  };
}

function reported(value: unknown): number | null {
  const count = wholeCount(value);
  return count !== null && count <= TOKENS_MAX ? count : null;
}

function atMost(value: unknown, limit: number): number {
  return Math.min(reported(value) ?? 0, limit);
}
