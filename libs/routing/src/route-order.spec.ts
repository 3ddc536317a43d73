import fc from 'fast-check';
import type { Route, RoutingPolicy } from '@gateway/contracts';
import { inOrder, isAllowedBy } from './route-order.js';
import { RouteStats } from './route-stats.js';

function route(provider: string, usd: string, more: Partial<Route> = {}): Route {
  return {
    provider,
    model: 'a/m',
    upstreamModel: 'm',
    dialect: 'chat',
    contextLength: 1_000,
    maxOutputTokens: 100,
    price: { prompt_usd_per_1m: usd, completion_usd_per_1m: usd },
    ...more,
  };
}

const [cheap, middle, dear] = [route('cheap', '1'), route('middle', '2'), route('dear', '3')];
const principal = { keyId: 'key_1' };

/** The first is slow and fluent, the last fast and halting. */
function measured(): RouteStats {
  const stats = new RouteStats();
  stats.see(cheap, { firstPieceMs: 900, tokensPerSecond: 90, isFault: false }, 0);
  stats.see(middle, { firstPieceMs: 500, tokensPerSecond: 50, isFault: false }, 0);
  stats.see(dear, { firstPieceMs: 100, tokensPerSecond: 10, isFault: false }, 0);
  return stats;
}

function order(policy: RoutingPolicy, stats = measured(), routes = [middle, dear, cheap]): string[] {
  const asked = { dialect: 'chat' };
  return inOrder(routes, { asked, policy, principal, stats, nowMs: 0 }).map(({ provider }) => provider);
}

describe('the order of routes', () => {
  it('ROUTE-08 KEY-17 follows sort: price, latency, throughput', () => {
    expect(order({})).toEqual(['cheap', 'middle', 'dear']);
    expect(order({ sort: 'price' })).toEqual(['cheap', 'middle', 'dear']);
    expect(order({ sort: 'latency' })).toEqual(['dear', 'middle', 'cheap']);
    expect(order({ sort: 'throughput' })).toEqual(['cheap', 'middle', 'dear']);
  });

  it('ROUTE-08 balances price, latency and throughput', () => {
    const even = route('even', '1.5');
    const stats = measured();
    stats.see(even, { firstPieceMs: 200, tokensPerSecond: 80, isFault: false }, 0);
    expect(order({ sort: 'balanced' }, stats, [cheap, dear, even])[0]).toBe('even');
  });

  it('ROUTE-08 adds what input and output cost, for price and for balanced', () => {
    const usd = (provider: string, prompt: string, completion: string): Route =>
      route(provider, '0', { price: { prompt_usd_per_1m: prompt, completion_usd_per_1m: completion } });
    const routes = [usd('dear-out', '1', '9'), usd('dear-in', '5', '2'), usd('even', '3', '3')];
    for (const sort of ['price', 'balanced'] as const)
      expect(order({ sort }, new RouteStats(), routes)).toEqual(['even', 'dear-in', 'dear-out']);
  });

  it('counts a measure by its share of the worst, and nothing where all are nothing', () => {
    const stats = new RouteStats();
    const [free, other] = [route('free', '0'), route('other', '0')];
    stats.see(free, { firstPieceMs: 400, tokensPerSecond: 100, isFault: false }, 0);
    stats.see(other, { firstPieceMs: 100, tokensPerSecond: 20, isFault: false }, 0);
    // 400/400 + 20/100 against 100/400 + 100/100.
    expect(order({ sort: 'balanced' }, stats, [free, other])).toEqual(['free', 'other']);
    stats.see(other, { firstPieceMs: 100, tokensPerSecond: 60, isFault: false }, 0);
    stats.see(other, { firstPieceMs: 100, tokensPerSecond: 60, isFault: false }, 0);
    expect(order({ sort: 'balanced' }, stats, [free, other])).toEqual(['other', 'free']);
  });

  it('ROUTE-08 puts the providers of provider_order before whatever sort says', () => {
    expect(order({ sort: 'latency', provider_order: ['middle', 'cheap'] })).toEqual([
      'middle',
      'cheap',
      'dear',
    ]);
  });

  it('is that of their names for routes alike in all else, however they come', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((provider) => route(provider, '1'));
    for (const routes of [
      [a, b, c],
      [c, b, a],
      [b, c, a],
    ])
      expect(order({}, new RouteStats(), routes)).toEqual(['a', 'b', 'c']);
    const [first, second] = [
      route('a', '1', { upstreamModel: 'x' }),
      route('a', '1', { upstreamModel: 'y' }),
    ];
    const options = {
      asked: { dialect: 'chat' },
      policy: {},
      principal,
      stats: new RouteStats(),
      nowMs: 0,
    };
    for (const routes of [
      [first, second],
      [second, first],
    ])
      expect(inOrder(routes, options)).toEqual(routes);
  });

  it('tries a route that was never used, so that it becomes known', () => {
    expect(order({ sort: 'latency' }, measured(), [cheap, dear, route('new', '9')])[0]).toBe('new');
  });

  it('keeps a caller on the provider that may have its prompt in a cache, where the order follows measurements', () => {
    const stats = measured();
    stats.served('key_1', cheap, 0);
    expect(order({ sort: 'latency' }, stats)).toEqual(['cheap', 'dear', 'middle']);
    const unused = route('unused', '9');
    expect(order({ sort: 'latency' }, stats, [unused, cheap])).toEqual(['cheap', 'unused']);
    expect(order({ sort: 'price' }, stats)).toEqual(['cheap', 'middle', 'dear']);
  });

  it('keeps every route exactly once, in one order for one question', () => {
    const sorts = fc.constantFrom('price', 'latency', 'throughput', 'balanced', undefined);
    const usd = fc.integer({ min: 0, max: 5 }).map(String);
    const some = fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1, maxLength: 3 }), usd }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(sorts, some, (sort, named) => {
        const routes = named.map((one) => route(one.name, one.usd));
        const policy = sort === undefined ? {} : { sort };
        const once = order(policy, measured(), routes);
        expect([...once].sort()).toEqual(named.map(({ name }) => name).sort());
        expect(order(policy, measured(), [...routes].reverse())).toEqual(once);
      }),
    );
  });
});

describe('what a policy lets through', () => {
  const europe = route('europe', '1', { regions: ['eu-west-1', 'eu-north-1'], zeroRetention: true });

  it.each<[RoutingPolicy, boolean]>([
    [{ regions: ['eu-west-1'] }, true],
    [{ regions: ['us-east-1'] }, false],
    [{ require_zero_retention: true }, true],
    [{ only_providers: ['europe'] }, true],
    [{ only_providers: ['other'] }, false],
    [{ ignore_providers: ['europe'] }, false],
    [{ max_price: { prompt_usd_per_1m: '0.99' } }, false],
    [{ max_price: { completion_usd_per_1m: '1' } }, true],
  ])('ROUTE-08 %j: %s', (policy, expected) => {
    expect(isAllowedBy(policy, europe, 0)).toBe(expected);
  });

  it('ROUTE-08 a route of which nothing is known is not taken for what is asked', () => {
    expect(isAllowedBy({ regions: ['eu-west-1'] }, cheap, 0)).toBe(false);
    expect(isAllowedBy({ require_zero_retention: true }, cheap, 0)).toBe(false);
    expect(isAllowedBy({ require_zero_retention: false }, cheap, 0)).toBe(true);
  });
});
