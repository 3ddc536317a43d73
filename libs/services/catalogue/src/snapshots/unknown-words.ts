import { FLAGS } from './supports-flags.js';

const INPUTS = ['text', 'image', 'file', 'audio', 'video'];
const OUTPUTS = ['text', 'image', 'audio', 'video', 'embedding', 'search_results', 'rerank'];

interface Words {
  supports?: readonly string[];
  input_modalities?: readonly string[];
  output_modalities?: readonly string[];
}

/** Words of a model that this release does not know: a misspelt flag would take the ability away without a word. */
export function* unknownWords(
  model: Words,
): Generator<{ within: (string | number)[]; word: string; known: readonly string[] }> {
  const lists = { supports: FLAGS, input_modalities: INPUTS, output_modalities: OUTPUTS } as const;
  for (const name of ['supports', 'input_modalities', 'output_modalities'] as const)
    for (const [at, word] of (model[name] ?? []).entries())
      if (!lists[name].includes(word)) yield { within: [name, at], word, known: lists[name] };
}
