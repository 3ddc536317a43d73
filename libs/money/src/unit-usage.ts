import type { UnitUsage } from '@gateway/contracts';

/** Disjoint token classes in the order of a bill. */
export const TOKEN_CLASSES = [
  'fresh',
  'cached',
  'cache_write',
  'cache_write_1h',
  'audio_input',
  'image_input',
  'completion',
  'audio_output',
  'image_output',
] as const;

export type TokenClass = (typeof TOKEN_CLASSES)[number];

export type ClassTokens = Readonly<Record<TokenClass, number>>;

/** A count as a safe integer, 0 or more. */
export function counted(value: number | undefined): number {
  if (value === undefined || !(value > 0)) return 0;
  return Math.min(Math.floor(value), Number.MAX_SAFE_INTEGER);
}

/**
 * Splits the nested counts into disjoint classes: cached over write over audio over image. The input classes add up to
 * prompt_tokens, the output classes to completion_tokens, and none is ever negative.
 */
export function tokenClasses(usage: UnitUsage): ClassTokens {
  const prompt = counted(usage.prompt_tokens);
  const cached = Math.min(counted(usage.cached_tokens), prompt);
  const written = Math.min(counted(usage.cache_write_tokens), prompt - cached);
  const written1h = Math.min(counted(usage.cache_write_1h_tokens), written);
  const fresh = prompt - cached - written;

  const audioIn = counted(usage.audio_input_tokens);
  const imageIn = counted(usage.image_input_tokens);
  const cachedAudio = Math.min(counted(usage.cached_audio_tokens), audioIn, cached);
  const cachedImage = Math.min(counted(usage.cached_image_tokens), imageIn, cached - cachedAudio);
  const audio = Math.min(audioIn - cachedAudio, fresh);
  const image = Math.min(imageIn - cachedImage, fresh - audio);

  const completion = counted(usage.completion_tokens);
  const audioOut = Math.min(counted(usage.audio_output_tokens), completion);
  const imageOut = Math.min(counted(usage.image_output_tokens), completion - audioOut);
  return {
    fresh: fresh - audio - image,
    cached,
    cache_write: written - written1h,
    cache_write_1h: written1h,
    audio_input: audio,
    image_input: image,
    completion: completion - audioOut - imageOut,
    audio_output: audioOut,
    image_output: imageOut,
  };
}
