import {
  LEFT_OUT,
  leftOutReasons,
  modelRoutesTable,
  oneProviderReasons,
  REASONS,
  routedModels,
} from './model-routes-table.js';

const models = routedModels().filter(({ routes }) => routes.length > 0);
const countOf = (routes: { provider: string }[]): number =>
  new Set(routes.map(({ provider }) => provider)).size;

describe('issue 37 providers of models', () => {
  it('at least 90 models have several, Azure 25 routes, Bedrock 60, Vertex 40', () => {
    const routes = models.flatMap((model) => model.routes);
    const of = (slug: string): number => routes.filter(({ provider }) => provider === slug).length;
    expect(models.filter((model) => countOf(model.routes) > 1).length).toBeGreaterThanOrEqual(90);
    expect(of('azure')).toBeGreaterThanOrEqual(25);
    expect(of('amazon-bedrock')).toBeGreaterThanOrEqual(60);
    expect(of('google-vertex')).toBeGreaterThanOrEqual(40);
  });

  it('each that has one has a reason, and no other has', () => {
    const single = models.filter((model) => countOf(model.routes) === 1).map(({ id }) => id);
    const reasons = oneProviderReasons();
    expect(Object.keys(reasons).sort()).toEqual(single.sort());
    expect(Object.values(reasons).filter((word) => !(word in REASONS))).toEqual([]);
  });

  it('a model that is left out has a reason, and is not in the data', () => {
    const ids = new Set(models.map(({ id }) => id));
    const reasons = leftOutReasons();
    expect(Object.keys(reasons).filter((id) => ids.has(id))).toEqual([]);
    expect(Object.values(reasons).filter((word) => !(word in LEFT_OUT))).toEqual([]);
  });

  it('the table names them apart', () => {
    const routes = (...slugs: string[]) => slugs.map((provider) => ({ provider }));
    const table = modelRoutesTable(
      [
        { id: 'a/two', routes: routes('north', 'harbor', 'north') },
        { id: 'a/one', routes: routes('north', 'north') },
      ],
      { 'a/one': 'maker' },
      { 'a/none': 'hosts' },
    );
    expect(table).toContain('Models with several providers: 1. With one: 1.');
    expect(table).toContain('| north | 4 |');
    expect(table).toContain(`| a/one | north | ${REASONS.maker} |`);
    expect(table).toContain('| a/two | harbor, north |');
    expect(table).toContain(`| a/none | ${LEFT_OUT.hosts} |`);
  });
});
