import type { Schemas } from '../api/schemas.js';

type Provider = Pick<Schemas['ProviderRecord'], 'is_enabled' | 'has_credential' | 'breaker' | 'health'>;

/** State of a provider in one word or two. */
export type ProviderState = 'ill' | 'ready' | 'no key' | 'disabled';

const ORDER: readonly ProviderState[] = ['ill', 'ready', 'no key', 'disabled'];

/** Returns whether requests reach a provider now, and if not, why. */
export function providerState(provider: Provider): ProviderState {
  const { is_enabled: isOn, has_credential: hasCredential, breaker, health } = provider;
  if (!isOn) return 'disabled';
  if (health === 'failing' || (breaker !== null && breaker !== 'closed')) return 'ill';
  return hasCredential === false ? 'no key' : 'ready';
}

/** Returns the providers with those first that need somebody, each state in the order of the answer. */
export function illFirst<P extends Provider>(providers: readonly P[]): P[] {
  const rank = (provider: P): number => ORDER.indexOf(providerState(provider));
  return [...providers].sort((a, b) => rank(a) - rank(b));
}
