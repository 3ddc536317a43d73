import { bodyOfDraft, draftOf, moved } from './policy-draft.js';

describe('a routing policy as it is edited', () => {
  it('sends what is set and nothing else', () => {
    const empty = draftOf(' cheap ', {});
    expect(bodyOfDraft(empty, {})).toEqual({ name: 'cheap', routing_policy: {} });
    const draft = {
      ...empty,
      sort: 'price' as const,
      provider_order: ['b', 'a'],
      max_retries: '0',
      allow_fallbacks: false,
      prompt_usd_per_1m: '0.10',
    };
    expect(bodyOfDraft(draft, {}).routing_policy).toEqual({
      sort: 'price',
      provider_order: ['b', 'a'],
      max_retries: 0,
      allow_fallbacks: false,
      max_price: { prompt_usd_per_1m: '0.10' },
    });
  });

  it('comes back as it was, what no field edits included', () => {
    const policy = {
      retry_backoff_ms: 250,
      attempt_timeout_ms: 5_000,
      regions: ['eu'],
      require_zero_retention: true,
      max_price: { completion_usd_per_1m: '2' },
    };
    expect(bodyOfDraft(draftOf('a', policy), policy)).toEqual({ name: 'a', routing_policy: policy });
  });

  it('moves a provider by one place, and not past the ends', () => {
    expect(moved(['a', 'b', 'c'], 1, -1)).toEqual(['b', 'a', 'c']);
    expect(moved(['a', 'b', 'c'], 0, -1)).toEqual(['a', 'b', 'c']);
    expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'b', 'c']);
  });
});
