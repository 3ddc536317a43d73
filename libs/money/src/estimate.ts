import type { UnitUsage } from '@gateway/contracts';
import { fromInteger, multiply, roundTo } from './exact.js';
import { secondsOf } from './seconds.js';
import { counted } from './unit-usage.js';

const BYTES_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1_000;
const AUDIO_TOKENS_PER_SECOND = 32;
const VIDEO_TOKENS_PER_SECOND = 300;
const DOCUMENT_BYTES = 65_536;
const TOKENS_PER_DOCUMENT_PART = 1_000;

/** The input sent upstream, as far as an estimate of its tokens needs it. */
export interface SentInput {
  /** UTF-8 bytes of all text: messages, tool arguments and results, tool definitions, response schema. */
  readonly inputBytes: number;
  readonly inputImages?: number;
  /** Tokens of all images by the route's published tile rule; without one every image counts 1,000. */
  readonly imageTokens?: number | null;
  readonly inputAudioSeconds?: string | number;
  readonly inputVideoSeconds?: string | number;
  /** Size in bytes of each document. */
  readonly inputDocuments?: readonly number[];
}

/** The input and what was delivered, that is written to the client. */
export interface UnitTraffic extends SentInput {
  /** UTF-8 bytes of text, tool arguments and reasoning. */
  readonly outputBytes: number;
  /** Tokens of reasoning that the provider did not show, of an answer that was left; 0 without. */
  readonly hiddenTokens?: number;
}

export interface EstimatedUsage {
  readonly usage: UnitUsage;
  /** Internal only: a count of the usage is an estimate. */
  readonly usage_estimated: boolean;
}

/** Tokens of so many bytes of UTF-8 text, or of the sum over several texts: one ceil. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(counted(bytes) / BYTES_PER_TOKEN);
}

/** Input tokens by class: text holds documents and video too. */
export interface InputTokens {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
  readonly total: number;
}

export function estimateInput(input: SentInput): InputTokens {
  const documents = (input.inputDocuments ?? []).reduce(
    (tokens, bytes) => tokens + Math.ceil(counted(bytes) / DOCUMENT_BYTES) * TOKENS_PER_DOCUMENT_PART,
    0,
  );
  const video = secondTokens(input.inputVideoSeconds, VIDEO_TOKENS_PER_SECOND);
  const text = estimateTokens(input.inputBytes) + documents + video;
  const audio = secondTokens(input.inputAudioSeconds, AUDIO_TOKENS_PER_SECOND);
  const image = counted(input.imageTokens ?? counted(input.inputImages) * TOKENS_PER_IMAGE);
  return { text, audio, image, total: text + audio + image };
}

/**
 * The usage of an answer that ended without one. What the provider had reported stands; only a side without its
 * total is estimated, its cache counts as 0. A dialect whose first event carries a placeholder output count
 * leaves that out of `reported`.
 */
export function estimateUsage(traffic: UnitTraffic, reported: UnitUsage = {}): EstimatedUsage {
  const hasInput = reported.prompt_tokens !== undefined;
  const hasOutput = reported.completion_tokens !== undefined;
  const input = hasInput ? {} : estimatedInput(traffic);
  const hidden = counted(traffic.hiddenTokens);
  const output = hasOutput ? {} : { completion_tokens: estimateTokens(traffic.outputBytes) + hidden };
  return { usage: { ...reported, ...input, ...output }, usage_estimated: !hasInput || !hasOutput };
}

function estimatedInput(traffic: UnitTraffic): UnitUsage {
  const { audio, image, total } = estimateInput(traffic);
  return {
    prompt_tokens: total,
    audio_input_tokens: audio,
    image_input_tokens: image,
    cached_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    cached_audio_tokens: 0,
    cached_image_tokens: 0,
  };
}

function secondTokens(seconds: string | number | undefined, tokensPerSecond: number): number {
  // Nearly every input: without exact arithmetic.
  if (seconds === undefined || seconds === 0) return 0;
  return Number(roundTo(multiply(secondsOf(seconds), fromInteger(tokensPerSecond)), 0, 'up'));
}
