import type { ModelRecord } from '@gateway/contracts';

/** Abilities of the model itself, whatever the endpoint. */
const OF_THE_MODEL = [
  'tools',
  'structured_output',
  'system_prompt',
  'thinking',
  'batching',
  'realtime',
] as const;

/**
 * Abilities that an endpoint of libs/endpoints serves, with its path: true only where this release has it, because a flag
 * agrees with what the model then serves.
 */
const BY_PATH = {
  completions_api: '/chat/completions',
  responses_api: '/responses',
  embeddings: '/embeddings',
  image_edit: '/images/edits',
  image_inpaint: '/images/edits',
  image_outpaint: '/images/edits',
  image_mix: '/images/edits',
  image_reframe: '/images/edits',
  image_upscale: '/images/edits',
  image_reference: '/images/edits',
  image_remove_background: '/images/edits',
  background_response: '/responses',
  video_generation: '/video/generations',
  video_first_frame: '/video/generations',
  video_last_frame: '/video/generations',
  video_reference_image: '/video/generations',
  video_reference_video: '/video/generations',
  video_reference_audio: '/video/generations',
  video_source_video: '/video/generations',
} as const;

/** Every flag of the data, without its prefix. */
export const FLAGS: readonly string[] = [...OF_THE_MODEL, ...Object.keys(BY_PATH)];

type Flags = Pick<ModelRecord, `supports_${string}`>;

/** Every `supports_*` member of a record, from the names of those that the model has and the paths that are served. */
export function supportsFlags(has: readonly string[], served: ReadonlySet<string>): Flags {
  const flags: Flags = {};
  for (const flag of FLAGS) flags[`supports_${flag}`] = has.includes(flag) && isServed(flag, served);
  return flags;
}

function isServed(flag: string, served: ReadonlySet<string>): boolean {
  const paths: Readonly<Record<string, string>> = BY_PATH;
  return !(flag in paths) || served.has(paths[flag]);
}
