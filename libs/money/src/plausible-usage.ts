import type { UnitUsage } from '@gateway/contracts';

/** The largest count that a record may hold. */
const COUNT_MAX = 2 ** 40;
/** Hosted tools add up the tokens of several steps of one answer. */
const STEPS = 16;
/** Bound for a model that names neither its context nor its largest output. */
const UNKNOWN_CONTEXT_TOKENS = 1_048_576;
/** Searches and calls of tools that a provider ran for one answer. */
const CALLS_MAX = 1_000;

/** More than any model makes of a second of speech. */
const TOKENS_PER_AUDIO_SECOND = 32 * STEPS;
/** Bound of the prompt that a transcription may have. */
const HINT_TOKENS_MAX = 4_096;

/** 4 kbit/s: less than any codec of speech takes where somebody speaks. */
const LEAST_BYTES_PER_SECOND = 500;
/** A window of Whisper's. */
const RECORDING_SLACK_SECONDS = 30;

/** The largest counts that one unit of a route can have. */
export interface UsageBound {
  /** Tokens of the input, and of the output. */
  readonly input: number;
  readonly output: number;
  /** Seconds of speech sent; without it the provider's seconds are not believed. */
  readonly audioSeconds?: number;
  /** Seconds to count in place of more; absent: as many as are believed. */
  readonly measuredSeconds?: number;
}

/** An input may be many contexts long, as embeddings are; no tokenizer makes more tokens than bytes. */
export function usageBound(
  route: { contextLength: number | null; maxOutputTokens: number | null },
  inputBytes: number,
): UsageBound {
  const { contextLength, maxOutputTokens } = route;
  const output = STEPS * ((contextLength ?? UNKNOWN_CONTEXT_TOKENS) + (maxOutputTokens ?? 0));
  return { input: Math.max(output, inputBytes), output };
}

/** Returns the bound for a transcription: a started second counts whole. */
export function transcriptionBound(seconds: number): UsageBound {
  const audioSeconds = Math.ceil(seconds);
  const tokens = TOKENS_PER_AUDIO_SECOND * audioSeconds + HINT_TOKENS_MAX;
  return { input: tokens, output: tokens, audioSeconds };
}

/**
 * Returns the bound of what a provider may count of a recording. Its header may be wrong, and much shorter than the
 * sound.
 */
export function recordingBound(
  measuredSeconds: number,
  bytes: number,
): Pick<UsageBound, 'audioSeconds' | 'measuredSeconds'> {
  const longest = Math.max(2 * measuredSeconds + RECORDING_SLACK_SECONDS, bytes / LEAST_BYTES_PER_SECOND);
  return { audioSeconds: longest, measuredSeconds };
}

export interface PlausibleUsage {
  readonly usage: UnitUsage;
  /** A count was more than the route can use, and is left out. */
  readonly isDoubted: boolean;
}

const INPUT = [
  'prompt_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'audio_input_tokens',
  'image_input_tokens',
  'cached_audio_tokens',
  'cached_image_tokens',
] as const;
const OUTPUT = [
  'completion_tokens',
  'reasoning_tokens',
  'audio_output_tokens',
  'image_output_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
] as const;
const OTHERS = ['requests', 'images', 'input_images', 'videos', 'characters', 'searches'] as const;
const COUNTS = [...INPUT, ...OUTPUT, ...OTHERS];

/**
 * Counts as a record may hold them and a price may rest on: integers of 0 to 2^40. A side whose total is beyond what the
 * route can use is not believed, and left out with its parts: it is estimated like one that was not reported.
 */
export function plausibleUsage(reported: UnitUsage, bound: UsageBound): PlausibleUsage {
  const usage: UnitUsage = { ...reported };
  for (let at = 0; at < COUNTS.length; at += 1) {
    const name = COUNTS[at];
    const count = usage[name];
    if (count !== undefined) usage[name] = clamped(count);
  }
  let isDoubted = false;
  if ((usage.prompt_tokens ?? 0) > bound.input) {
    for (const name of INPUT) delete usage[name];
    isDoubted = true;
  }
  if ((usage.completion_tokens ?? 0) > bound.output) {
    for (const name of OUTPUT) delete usage[name];
    isDoubted = true;
  }
  const { audioSeconds = Infinity, measuredSeconds = audioSeconds } = bound;
  if (Number(usage.audio_seconds ?? 0) > audioSeconds) {
    usage.audio_seconds = String(Number(measuredSeconds.toFixed(3)));
    isDoubted = true;
  }
  if ((usage.searches ?? 0) > CALLS_MAX) {
    delete usage.searches;
    isDoubted = true;
  }
  if (usage.tool_calls !== undefined) {
    const calls = Object.entries(usage.tool_calls).map(([name, count]) => [name, clamped(count)] as const);
    const believed = calls.filter(([, count]) => count <= CALLS_MAX);
    if (believed.length < calls.length) isDoubted = true;
    usage.tool_calls = Object.fromEntries(believed);
  }
  return { usage, isDoubted };
}

/** Returns 0 for a value that is not a number. */
function clamped(count: number): number {
  return count > 0 ? Math.min(Math.floor(count), COUNT_MAX) : 0;
}
