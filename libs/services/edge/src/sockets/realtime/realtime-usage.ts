import type { UnitUsage } from '@gateway/contracts';
import { isObject, wholeCount } from '@gateway/dialects';

const PCM_BYTES_PER_SECOND = 48_000;
/** G.711 of both laws: 8 kHz of one byte. */
const G711_BYTES_PER_SECOND = 8_000;

/** The counts of a response.done; null where the provider counted nothing. */
export function usageOf(usage: unknown): UnitUsage | null {
  if (!isObject(usage)) return null;
  const input = objectAt(usage, 'input_token_details');
  const cached = objectAt(input, 'cached_tokens_details');
  const output = objectAt(usage, 'output_token_details');
  const found: UnitUsage = {
    cached_tokens: wholeCount(input.cached_tokens) ?? 0,
    audio_input_tokens: wholeCount(input.audio_tokens) ?? 0,
    image_input_tokens: wholeCount(input.image_tokens) ?? 0,
    cached_audio_tokens: wholeCount(cached.audio_tokens) ?? 0,
    cached_image_tokens: wholeCount(cached.image_tokens) ?? 0,
    audio_output_tokens: wholeCount(output.audio_tokens) ?? 0,
  };
  const [prompt, completion] = [wholeCount(usage.input_tokens), wholeCount(usage.output_tokens)];
  if (prompt !== null) found.prompt_tokens = prompt;
  if (completion !== null) found.completion_tokens = completion;
  return found;
}

/** The same of an input transcription, which counts tokens or seconds. What it should count and does not is estimated. */
export function transcriptionUsage(usage: unknown, heardSeconds: number): UnitUsage {
  const counts = isObject(usage) ? usage : {};
  const details = objectAt(counts, 'input_token_details');
  const isBySeconds = typeof counts.seconds === 'number' && counts.seconds > 0;
  const hasTokens = counts.input_tokens !== undefined || counts.output_tokens !== undefined;
  const [prompt, completion] =
    isBySeconds && !hasTokens ? [0, 0] : [wholeCount(counts.input_tokens), wholeCount(counts.output_tokens)];
  const seconds = isBySeconds ? Number(counts.seconds) : heardSeconds;
  return {
    ...(prompt !== null && {
      prompt_tokens: prompt,
      audio_input_tokens: wholeCount(details.audio_tokens) ?? 0,
    }),
    ...(completion !== null && { completion_tokens: completion }),
    audio_seconds: secondsText(Math.min(seconds, SECONDS_MAX)),
  };
}

/** Longer than any session, so that the text has no exponent. */
const SECONDS_MAX = 100_000;

export function secondsText(seconds: number): string {
  return seconds.toFixed(3).replace(/\.?0+$/, '');
}

/** Seconds of so many bytes of base64 in an audio format of a session. */
export function audioSeconds(base64Length: number, format: unknown): number {
  const type = isObject(format) ? format.type : null;
  const isG711 = type === 'audio/pcmu' || type === 'audio/pcma';
  return (base64Length * 3) / 4 / (isG711 ? G711_BYTES_PER_SECOND : PCM_BYTES_PER_SECOND);
}

function objectAt(value: Record<string, unknown>, name: string): Record<string, unknown> {
  const member = value[name];
  return isObject(member) ? member : {};
}
