import type { ModelRecord } from '@gateway/contracts';

/** What a model can do by itself, whatever the endpoint. */
const OF_THE_MODEL = ['tools', 'structured_output', 'system_prompt', 'thinking'] as const;

/** Abilities that need an endpoint which this release serves. */
const SERVED = ['completions_api'] as const;

/**
 * Abilities whose endpoint this release does not have: shown, and false whatever the data says, because a flag agrees
 * with what the model then serves (spec, Model record). An endpoint that is built moves its flags up to SERVED.
 */
const NOT_SERVED = [
  'embeddings',
  'realtime',
  'batching',
  'responses_api',
  'background_response',
  'video_generation',
  'image_edit',
  'image_inpaint',
  'image_outpaint',
  'image_mix',
  'image_reframe',
  'image_upscale',
  'image_reference',
  'image_remove_background',
  'video_first_frame',
  'video_last_frame',
  'video_reference_image',
  'video_reference_video',
  'video_reference_audio',
  'video_source_video',
] as const;

/** Every flag of the data, without its prefix. */
export const FLAGS: readonly string[] = [...OF_THE_MODEL, ...SERVED, ...NOT_SERVED];

type Flags = Pick<ModelRecord, `supports_${string}`>;

/** Every `supports_*` member of a record, from the names of those that the model has. */
export function supportsFlags(has: readonly string[]): Flags {
  const shown = new Set(has.filter((flag) => !(NOT_SERVED as readonly string[]).includes(flag)));
  const flags: Flags = {};
  for (const flag of FLAGS) flags[`supports_${flag}`] = shown.has(flag);
  return flags;
}
