import { objectsOf, wholeCount, type JsonObject } from '../../body/json-object.js';

/** The counts of a turn as response.done has them; null where the provider counted nothing. */
export function usageOf(raw: JsonObject | null): JsonObject | null {
  if (raw === null) return null;
  const prompt = (wholeCount(raw.promptTokenCount) ?? 0) + (wholeCount(raw.toolUsePromptTokenCount) ?? 0);
  const said = (wholeCount(raw.responseTokenCount) ?? 0) + (wholeCount(raw.thoughtsTokenCount) ?? 0);
  const [heard, seen] = [of(raw.promptTokensDetails, 'AUDIO'), of(raw.promptTokensDetails, 'IMAGE')];
  const frames = of(raw.promptTokensDetails, 'VIDEO');
  const spoken = of(raw.responseTokensDetails, 'AUDIO');
  const images = seen + frames;
  return {
    total_tokens: prompt + said,
    input_tokens: prompt,
    output_tokens: said,
    input_token_details: {
      cached_tokens: Math.min(wholeCount(raw.cachedContentTokenCount) ?? 0, prompt),
      text_tokens: Math.max(0, prompt - heard - images),
      audio_tokens: heard,
      image_tokens: images,
    },
    output_token_details: { text_tokens: Math.max(0, said - spoken), audio_tokens: spoken },
  };
}

function of(details: unknown, modality: string): number {
  let sum = 0;
  for (const detail of objectsOf(details))
    if (detail.modality === modality) sum += wholeCount(detail.tokenCount) ?? 0;
  return sum;
}
