import type { CatalogueModel } from '@gateway/contracts';
import { catalogueModel } from '@gateway/testing/plain';
import { OPTIMIZE, rankModels, type Optimize, type RankedModel, type Wanted } from './rank-models.js';
import { RouteStats } from './route-stats.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const MONTH_MS = 30 * 86_400_000;

interface Made {
  prompt: string;
  completion: string;
  request?: string;
  months?: number;
  record?: Partial<CatalogueModel['record']>;
}

function made(id: string, { prompt, completion, request, months, record }: Made): CatalogueModel {
  const price = {
    prompt_usd_per_1m: prompt,
    completion_usd_per_1m: completion,
    request_usd: request ?? null,
  };
  const model = catalogueModel(id, [{ provider: 'p', upstreamModel: id, price }], record);
  const released = months === undefined ? null : new Date(NOW - months * MONTH_MS).toISOString();
  return { ...model, released };
}

const ABLE = { supports_thinking: true, supports_tools: true, supports_structured_output: true };
const PLAIN = { supports_thinking: false, supports_tools: false, supports_structured_output: false };
const able = made('a/able', {
  ...{ prompt: '3', completion: '15', months: 9 },
  record: { ...ABLE, context_length: 1_048_576 },
});
const plain = made('a/plain', {
  ...{ prompt: '0.1', completion: '0.4', months: 36 },
  record: { ...PLAIN, context_length: 4_096 },
});
const byRequest = made('a/request', {
  ...{ prompt: '0', completion: '0', request: '0.002' },
  record: { ...PLAIN, supports_tools: true, context_length: 65_536 },
});
const stats = new RouteStats();
const seen = (model: CatalogueModel, firstPieceMs: number, isFault = false): void =>
  stats.see(model.routes[0], { firstPieceMs, tokensPerSecond: 50, isFault }, NOW);
seen(able, 1_000);
seen(plain, 250);
seen(plain, 250);
seen(plain, 250);
seen(plain, 250, true);

function ranked(wanted: Partial<Wanted> = {}): Record<string, RankedModel> {
  const found = rankModels(
    { needs: [], inputTokens: 1_000, outputTokens: 500, difficulty: 0, optimize: 'balanced', ...wanted },
    {
      snapshot: { id: 's', created_at: '', models: [able, plain, byRequest], providers: [] },
      principal: { access: [], fixedProvider: null },
      providers: new Set(['p']),
      stats,
      nowMs: NOW,
    },
  );
  return Object.fromEntries(found.map((one) => [one.model.record.id, one]));
}

/** docs/routing.md, by hand: quality, cost and speed of the three, and how often they answered. */
const USD = { able: 0.003 + 0.0075, plain: 0.0001 + 0.0002, byRequest: 0.002 };
const cheapness = (usd: number): number => 1 - Math.log1p(usd * 1e6) / Math.log1p(USD.able * 1e6);
const PARTS: Record<string, readonly [quality: number, cost: number, speed: number, uptime: number]> = {
  'a/able': [0.25 + 0.2 + 0.15 + 0.2 + 0.2 * 0.75, 0, 0, 1],
  'a/plain': [0, cheapness(USD.plain), 0.75, 0.75],
  'a/request': [0.2 + 0.2 * 0.5, cheapness(USD.byRequest), 0.5, 1],
};
const WEIGHTS: Record<Optimize, readonly [number, number, number]> = {
  balanced: [0.4, 0.4, 0.2],
  quality: [0.8, 0.1, 0.1],
  cost: [0.1, 0.8, 0.1],
  latency: [0.15, 0.15, 0.7],
};

describe('the score of a model', () => {
  it.each(OPTIMIZE)('EVAL-02 is what docs/routing.md publishes, for %s', (optimize) => {
    const [q, c, l] = WEIGHTS[optimize];
    for (const [id, [quality, cost, speed, uptime]] of Object.entries(PARTS))
      expect(ranked({ optimize })[id].score).toBeCloseTo((q * quality + c * cost + l * speed) * uptime, 3);
  });

  it('moves a fifth of the weight from cost to quality for the hardest work, where nothing is asked for', () => {
    for (const [id, [quality, cost, speed, uptime]] of Object.entries(PARTS))
      for (const difficulty of [0.5, 1]) {
        const moved = 0.2 * difficulty;
        const sum = (0.4 + moved) * quality + (0.4 - moved) * cost + 0.2 * speed;
        expect(ranked({ difficulty })[id].score).toBeCloseTo(sum * uptime, 3);
        expect(ranked({ difficulty, optimize: 'cost' })[id].score).toBe(
          ranked({ optimize: 'cost' })[id].score,
        );
      }
  });

  it('is explained in percent, with the uptime where it is not whole', () => {
    expect(ranked()['a/able'].reasons).toEqual(['quality 95 %', 'cost 0 %', 'speed 0 %']);
    const cost = Math.round(100 * cheapness(USD.plain));
    expect(ranked()['a/plain'].reasons).toEqual([
      'quality 0 %',
      `cost ${cost} %`,
      'speed 75 %',
      'uptime 75 %',
    ]);
  });

  it('takes a price that is not set for none, and a free route for one that costs nothing', () => {
    const only = (price: CatalogueModel['routes'][number]['price'], more: CatalogueModel['routes'] = []) => {
      const one = catalogueModel('a/one', [{ provider: 'p', upstreamModel: 'one', price }]);
      const [found] = rankModels(
        { needs: [], inputTokens: 1_000, outputTokens: 500, difficulty: 0, optimize: 'cost' },
        {
          snapshot: {
            id: 's',
            created_at: '',
            models: [{ ...one, routes: [...more, ...one.routes] }, able],
            providers: [],
          },
          principal: { access: [], fixedProvider: null },
          providers: new Set(['p']),
          stats: new RouteStats(),
          nowMs: NOW,
        },
      );
      return { upstream: found.route.upstreamModel, cost: found.reasons[1] };
    };
    const unset = { prompt_usd_per_1m: null, completion_usd_per_1m: null };
    expect(only(unset)).toEqual({ upstream: 'one', cost: 'cost 100 %' });
    const asks = { prompt_usd_per_1m: '3', completion_usd_per_1m: '15', is_free: true };
    expect(only(asks)).toEqual({ upstream: 'one', cost: 'cost 100 %' });
    // Half a dollar on either side is more than nothing on the other.
    const [half] = catalogueModel('a/one', [
      {
        provider: 'p',
        upstreamModel: 'half',
        price: { prompt_usd_per_1m: '0.5', completion_usd_per_1m: '0' },
      },
    ]).routes;
    expect(only({ ...unset, completion_usd_per_1m: '0.4' }, [half]).upstream).toBe('one');
    expect(only({ ...unset, prompt_usd_per_1m: '0.4' }, [half]).upstream).toBe('one');
  });

  it('goes by id where it is equal, and by the cheapest route of a model', () => {
    const price = (prompt: string, completion: string) => ({
      prompt_usd_per_1m: prompt,
      completion_usd_per_1m: completion,
    });
    const twin = (id: string): CatalogueModel =>
      catalogueModel(id, [
        { provider: 'p', upstreamModel: 'dear', price: price('1', '9') },
        { provider: 'p', upstreamModel: 'cheap', price: price('6', '2') },
        { provider: 'p', upstreamModel: 'as-cheap', price: price('2', '6') },
      ]);
    const found = rankModels(
      { needs: [], inputTokens: 1, outputTokens: 1, difficulty: 0, optimize: 'cost' },
      {
        snapshot: { id: 's', created_at: '', models: ['a/b', 'a/c', 'a/a'].map(twin), providers: [] },
        principal: { access: [], fixedProvider: null },
        providers: new Set(['p']),
        stats: new RouteStats(),
        nowMs: NOW,
      },
    );
    expect(found.map(({ model: { record } }) => record.id)).toEqual(['a/a', 'a/b', 'a/c']);
    expect(found.map(({ route }) => route.upstreamModel)).toEqual(['cheap', 'cheap', 'cheap']);
  });
});
