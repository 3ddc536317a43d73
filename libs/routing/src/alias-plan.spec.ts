import type { Alias, KeyPrincipal, ModelAccess } from '@gateway/contracts';
import fc from 'fast-check';
import { drawn } from './alias-targets.js';
import { CatalogueIndex } from './catalogue-index.js';
import { model, optionsFor, principal, route } from './plan.fixture.js';
import { planRoutes, type Plan } from './plan.js';

const A = model('acme/a', [route('groq', '1', { model: 'acme/a' })]);
const B = model('acme/b', [route('openai', '2', { model: 'acme/b' })]);
const OTHER = model('other/c', [route('groq', '3', { model: 'other/c' })]);
const MUTE = model('acme/mute', [route('groq', '1', { model: 'acme/mute' })], {
  supports_completions_api: false,
});
const TARGETS = [
  { model: 'acme/a', weight: 90 },
  { model: 'acme/b', weight: 10 },
];
const PROD: Alias = { org_id: 'org_1', name: 'prod', targets: TARGETS };

const caller = (more: Partial<KeyPrincipal> = {}): KeyPrincipal => ({
  ...principal,
  orgId: 'org_1',
  ...more,
});
const lists = (more: Partial<ModelAccess>): ModelAccess => ({
  kind: 'key',
  ...{ allowed: null, blocked: null },
  ...more,
});

interface Given {
  aliases?: Alias[];
  as?: KeyPrincipal;
  point?: number;
  body?: object;
  lastModel?: string;
}

function planOf(
  name: string,
  { aliases = [PROD], as = caller(), point = 0, body, lastModel }: Given = {},
): Plan {
  const book = { version: '1', aliases };
  const snapshot = { id: 'snap_1', created_at: '', models: [A, B, OTHER, MUTE], providers: [] };
  const options = optionsFor(A, {
    body: { ...body, model: name },
    index: new CatalogueIndex(snapshot, book),
    principal: as,
    point: () => point,
  });
  return planRoutes({ ...options, asked: { ...options.asked, lastModel } });
}

const modelsOf = ({ routes }: Plan): string[] => routes.map((one) => one.model.record.id);

describe('a request for an alias', () => {
  it('is planned for the target that was drawn, with the others behind it, and keeps the name that was asked for', () => {
    const plan = planOf('prod', { point: 0.89 });
    expect([plan.requestedModel, plan.model.record.id, plan.alias]).toEqual(['prod', 'acme/a', PROD]);
    expect(modelsOf(plan)).toEqual(['acme/a', 'acme/b']);
    expect(modelsOf(planOf('prod', { point: 0.9 }))).toEqual(['acme/b', 'acme/a']);
  });

  it('finds a name as an id, then of the organization, then of the platform, then as a name that one brand has', () => {
    const of = (org_id: string | null, name: string, id: string): Alias => {
      return { org_id, name, targets: [{ model: id, weight: 1 }] };
    };
    const aliases = [
      of('org_1', 'acme/a', 'acme/b'),
      of(null, 'house', 'acme/a'),
      of('org_1', 'house', 'acme/b'),
      of('org_2', 'theirs', 'acme/a'),
      of(null, 'b', 'acme/a'),
    ];
    const first = (name: string, as = caller()): string => planOf(name, { aliases, as }).model.record.id;
    expect([first('acme/a'), first('house'), first('b')]).toEqual(['acme/a', 'acme/b', 'acme/a']);
    expect(first('house', caller({ orgId: null }))).toBe('acme/a');
    expect(() => first('theirs')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
    expect(() => first('House')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });

  it.each<[string, ModelAccess[], string[]]>([
    ['an allow-list that names the alias', [lists({ allowed: ['prod'] })], ['acme/a', 'acme/b']],
    ['one that names a target', [lists({ allowed: ['acme/b'] })], ['acme/b']],
    [
      'two scopes, of which one names the alias',
      [lists({ allowed: ['prod'] }), lists({ allowed: ['acme/b'] })],
      ['acme/b'],
    ],
    ['a block-list of a target', [lists({ blocked: ['acme/a'] })], ['acme/b']],
    [
      'a block-list beside an allow-list of the alias',
      [lists({ allowed: ['prod'], blocked: ['acme/b'] })],
      ['acme/a'],
    ],
  ])('is served by what the lists permit: %s', (_what, access, expected) => {
    expect(modelsOf(planOf('prod', { as: caller({ access }) }))).toEqual(expected);
  });

  it.each<[string, ModelAccess[], string]>([
    ['403 where a block-list names the alias', [lists({ blocked: ['prod'] })], 'model_excluded'],
    ['403 where block-lists name all targets', [lists({ blocked: ['acme/*'] })], 'model_excluded'],
    ['404 where an allow-list names neither', [lists({ allowed: ['other/*'] })], 'model_not_found'],
  ])('%s', (_what, access, code) => {
    expect(() => planOf('prod', { as: caller({ access }) })).toThrow(expect.objectContaining({ code }));
  });

  it('matches a wildcard by the part before its slash, and a name without one by itself alone', () => {
    const aliases = [{ ...PROD, name: 'team/prod' }, PROD];
    const under = (...allowed: string[]): Given => ({
      aliases,
      as: caller({ access: [lists({ allowed })] }),
    });
    expect(modelsOf(planOf('team/prod', under('team/*')))).toHaveLength(2);
    expect(() => planOf('prod', under('pro/*'))).toThrow(
      expect.objectContaining({ code: 'model_not_found' }),
    );
  });

  it('leaves out targets without weight, those that are gone and those that cannot serve; none left is what a model is', () => {
    const targets = [
      { model: 'acme/a', weight: 0 },
      { model: 'acme/gone', weight: 5 },
      { model: 'acme/mute', weight: 5 },
      { model: 'acme/b', weight: 1 },
    ];
    expect(modelsOf(planOf('prod', { aliases: [{ ...PROD, targets }] }))).toEqual(['acme/b']);
    const gone = [{ ...PROD, targets: targets.slice(0, 2) }];
    expect(() => planOf('prod', { aliases: gone })).toThrow(
      expect.objectContaining({ code: 'model_not_found' }),
    );
    const mute = [{ ...PROD, targets: targets.slice(0, 3) }];
    expect(() => planOf('prod', { aliases: mute })).toThrow(
      expect.objectContaining({ code: 'model_capability_not_supported' }),
    );
  });

  it('stays with the target that answered the turn before, while it is one', () => {
    expect(planOf('prod', { lastModel: 'acme/b' }).model.record.id).toBe('acme/b');
    expect(planOf('prod', { lastModel: 'other/c' }).model.record.id).toBe('acme/a');
  });

  it('has the fallback models behind its targets, and neither where it may not fall back', () => {
    const fallback_models = ['other/c'];
    expect(modelsOf(planOf('prod', { as: caller({ routingPolicy: { fallback_models } }) }))).toEqual([
      'acme/a',
      'acme/b',
      'other/c',
    ]);
    expect(modelsOf(planOf('prod', { as: caller({ routingPolicy: { allow_fallbacks: false } }) }))).toEqual([
      'acme/a',
    ]);
  });

  it('is a name for models, fallback_models and default_model as well', () => {
    expect(modelsOf(planOf('other/c', { body: { models: ['prod'] } }))).toEqual([
      'other/c',
      'acme/a',
      'acme/b',
    ]);
    const policy = caller({ routingPolicy: { fallback_models: ['prod'] } });
    expect(modelsOf(planOf('other/c', { as: policy }))).toEqual(['other/c', 'acme/a', 'acme/b']);
    const access = [lists({ blocked: ['acme/b'] })];
    expect(modelsOf(planOf('other/c', { as: { ...policy, access } }))).toEqual(['other/c', 'acme/a']);
  });
});

describe('the draw', () => {
  const weighted = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 8 });

  it('gives each target its share of all points, and all targets once', () => {
    fc.assert(
      fc.property(weighted, (weights) => {
        const targets = weights.map((weight, at) => ({ model: { ...A, at }, weight }));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const counts = weights.map(() => 0);
        for (let step = 0; step < 1_000; step += 1) {
          const order = drawn(targets, (step + 0.5) / 1_000);
          counts[targets.indexOf(order[0] as (typeof targets)[number])] += 1;
          expect(new Set(order).size).toBe(targets.length);
        }
        counts.forEach((count, at) =>
          expect(Math.abs(count / 1_000 - weights[at] / total)).toBeLessThanOrEqual(0.0021),
        );
      }),
      { numRuns: 50 },
    );
  });
});
