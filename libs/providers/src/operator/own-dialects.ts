import { PROVIDERS } from '../registry.generated.js';
import type { OwnProvider } from './gateway-config.js';

/** Formats that a provider of this release speaks in its own way: an own upstream is called like it. */
export const LIKE: Readonly<Record<string, string>> = {
  gemini: 'google',
  cohere: 'cohere',
  ollama: 'ollama',
  converse: 'amazon-bedrock',
};

/** The formats that a provider of this release speaks; none for any other slug. */
export function dialectsOf(slug: string): readonly string[] {
  return PROVIDERS.find((provider) => provider.slug === slug)?.dialects ?? [];
}

/** The formats that an upstream of the operator's own can be called in. */
export function ownDialects({ dialect = 'chat' }: Pick<OwnProvider, 'dialect'>): readonly string[] {
  if (dialect === 'messages') return ['messages'];
  return dialect in LIKE ? dialectsOf(LIKE[dialect]) : [...new Set([dialect, 'chat', 'embeddings'])];
}
