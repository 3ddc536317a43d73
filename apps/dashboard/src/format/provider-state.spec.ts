import { illFirst, providerState } from './provider-state.js';

const well = { is_enabled: true, has_credential: true, breaker: 'closed', health: null } as const;

describe('the state of a provider', () => {
  it.each([
    ['ready', well],
    ['ready', { ...well, breaker: null, has_credential: null }],
    ['no key', { ...well, breaker: null, has_credential: false }],
    ['ill', { ...well, breaker: 'open' as const }],
    ['ill', { ...well, breaker: 'half_open' as const }],
    ['ill', { ...well, health: 'failing' as const }],
    ['disabled', { ...well, is_enabled: false, breaker: 'open' as const }],
  ])('is %s of %j', (state, provider) => {
    expect(providerState(provider)).toBe(state);
  });

  it('puts those first that are ill, and keeps the order of the others', () => {
    const list = [
      { ...well, slug: 'off', is_enabled: false },
      { ...well, slug: 'bare', has_credential: false },
      { ...well, slug: 'a' },
      { ...well, slug: 'b' },
      { ...well, slug: 'ill', health: 'failing' as const },
    ];
    expect(illFirst(list).map(({ slug }) => slug)).toEqual(['ill', 'a', 'b', 'bare', 'off']);
  });
});
