import type { UnitUsage } from '@gateway/contracts';
import { objectsOf, wholeCount, type JsonObject } from '../../body/json-object.js';

function ofModality(details: unknown, modality: string): number {
  let sum = 0;
  for (const detail of objectsOf(details))
    if (detail.modality === modality) sum += wholeCount(detail.tokenCount) ?? 0;
  return sum;
}

/**
 * Counts of a usageMetadata: candidates leave thoughts out, the prompt leaves the results of the
 * provider's own tools out. A side that was not reported is left out.
 */
export function unitUsage(raw: JsonObject, isFinished: boolean): UnitUsage {
  const prompt = wholeCount(raw.promptTokenCount);
  const tools = wholeCount(raw.toolUsePromptTokenCount) ?? 0;
  const candidates = wholeCount(raw.candidatesTokenCount);
  const thoughts = wholeCount(raw.thoughtsTokenCount);
  // Left out they count none; what is no number leaves the total to say it.
  const isKnown =
    (candidates !== null || raw.candidatesTokenCount == null) &&
    (thoughts !== null || raw.thoughtsTokenCount == null) &&
    (candidates !== null || thoughts !== null);
  const usage: UnitUsage = {};
  if (prompt !== null) {
    usage.prompt_tokens = prompt + tools;
    usage.cached_tokens = Math.min(wholeCount(raw.cachedContentTokenCount) ?? 0, usage.prompt_tokens);
    usage.cache_write_tokens = 0;
    usage.cache_write_1h_tokens = 0;
    usage.audio_input_tokens = ofModality(raw.promptTokensDetails, 'AUDIO');
  }
  // An answer without text counts no candidates; before its end that says nothing yet.
  const total = wholeCount(raw.totalTokenCount);
  const rest = total === null || prompt === null ? null : Math.max(0, total - prompt - tools);
  const completion = isKnown ? (candidates ?? 0) + (thoughts ?? 0) : isFinished ? rest : null;
  if (completion !== null) {
    usage.completion_tokens = completion;
    usage.reasoning_tokens = thoughts ?? 0;
    usage.audio_output_tokens = ofModality(raw.candidatesTokensDetails, 'AUDIO');
    const images = ofModality(raw.candidatesTokensDetails, 'IMAGE');
    if (images > 0) usage.image_output_tokens = images;
  }
  return usage;
}

/** Returns the members that are no count of ours: shown beside the fixed keys. */
export function addedKeys({ trafficType }: JsonObject): JsonObject {
  return trafficType === undefined ? {} : { trafficType };
}
