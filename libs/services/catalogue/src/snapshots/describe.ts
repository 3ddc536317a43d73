import type { ModelType } from '@gateway/contracts';

interface Fields {
  model_type: ModelType;
  input_modalities: readonly string[];
  output_modalities: readonly string[];
  supports: readonly string[];
  context_length: number;
}

const KINDS: Readonly<Record<ModelType, string>> = {
  text: 'Text model',
  embedding: 'Embedding model',
  image: 'Image model',
  audio: 'Audio model',
  tts: 'Text-to-speech model',
  stt: 'Speech-to-text model',
  video: 'Video model',
};

const ABILITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    tools: 'tool calls',
    structured_output: 'structured output',
    thinking: 'reasoning',
  }),
);

/** A sentence of what the fields of a model say, for a model whose data has none: search finds it by these words. */
export function describe(model: Fields): string {
  const abilities = model.supports.flatMap((flag) => ABILITIES.get(flag) ?? []);
  const parts = [
    `${KINDS[model.model_type]}: ${model.input_modalities.join(', ')} to ${model.output_modalities.join(', ')}`,
    ...(abilities.length > 0 ? [`with ${abilities.join(', ')}`] : []),
    `context of ${model.context_length} tokens`,
  ];
  return `${parts.join('; ')}.`;
}
