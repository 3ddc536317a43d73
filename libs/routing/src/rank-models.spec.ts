import type { CatalogueModel } from '@gateway/contracts';
import { catalogueModel } from '@gateway/testing/plain';
import { rankModels, type Wanted } from './rank-models.js';
import { RouteStats } from './route-stats.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');

function model(id: string, usd: string, record: Partial<CatalogueModel['record']> = {}): CatalogueModel {
  const price = { prompt_usd_per_1m: usd, completion_usd_per_1m: usd };
  return catalogueModel(id, [{ provider: 'p', upstreamModel: id, price }], record);
}

const small = model('a/small', '0.1', { context_length: 8_000, supports_thinking: false });
const large = model('a/large', '10', { context_length: 1_000_000 });
const free = model('a/free', '0', { is_free: true });

function rank(
  models: CatalogueModel[],
  wanted: Partial<Wanted> = {},
  { stats = new RouteStats(), access = [], fixedProvider = null as string | null } = {},
): string[] {
  return rankModels(
    {
      needs: [{ flag: 'supports_completions_api' }],
      inputTokens: 100,
      outputTokens: 100,
      difficulty: 0,
      optimize: 'balanced',
      ...wanted,
    },
    {
      snapshot: { id: 's', created_at: '', models, providers: [] },
      principal: { access, fixedProvider },
      providers: new Set(['p']),
      stats,
      nowMs: NOW,
    },
  ).map(({ model: ranked }) => ranked.record.id);
}

describe('rankModels', () => {
  it('EVAL-02 ranks by what is asked for: quality, cost, speed', () => {
    expect(rank([small, large], { optimize: 'cost' })).toEqual(['a/small', 'a/large']);
    expect(rank([small, large], { optimize: 'quality' })).toEqual(['a/large', 'a/small']);
    const stats = new RouteStats();
    stats.see(small.routes[0], { firstPieceMs: 5_000, tokensPerSecond: 1, isFault: false }, NOW);
    stats.see(large.routes[0], { firstPieceMs: 50, tokensPerSecond: 90, isFault: false }, NOW);
    expect(rank([small, large], { optimize: 'latency' }, { stats })).toEqual(['a/large', 'a/small']);
  });

  it('gives hard work to the abler model and short questions to the cheaper one', () => {
    const plain = model('a/plain', '0.1', { context_length: 64_000, supports_thinking: false });
    const dear = model('a/dear', '40', { context_length: 1_000_000 });
    expect(rank([dear, plain], { difficulty: 0 })[0]).toBe('a/plain');
    expect(rank([dear, plain], { difficulty: 1 })[0]).toBe('a/dear');
  });

  it('EVAL-02 leaves out what cannot serve: ability, context, provider, end of life', () => {
    const retired = { ...large, routes: [{ ...large.routes[0], retiresAtMs: NOW }] };
    const away = catalogueModel('a/away', [{ provider: 'elsewhere' }]);
    const mute = model('a/mute', '1', { supports_completions_api: false });
    expect(rank([small, retired, away, mute])).toEqual(['a/small']);
    expect(rank([small, large], { inputTokens: 8_000 })).toEqual(['a/large']);
    expect(rank([small], { needs: [{ flag: 'supports_thinking' }] })).toEqual([]);
    expect(rank([small], {}, { fixedProvider: 'q' })).toEqual([]);
  });

  it('puts free models behind all others, and a provider that fails behind one that does not', () => {
    expect(rank([free, small])).toEqual(['a/small', 'a/free']);
    expect(rank([free])).toEqual(['a/free']);
    const stats = new RouteStats();
    stats.see(small.routes[0], { firstPieceMs: null, tokensPerSecond: null, isFault: true }, NOW);
    expect(rank([small, large], { optimize: 'cost' }, { stats })).toEqual(['a/large', 'a/small']);
  });
});
