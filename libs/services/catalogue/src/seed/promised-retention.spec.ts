import { readSeed } from './read-seed.js';

const { providers, models } = readSeed({ simulated: false });
const routes = models.flatMap(({ id, routes: own }) => own.map((route) => ({ id, ...route })));

describe('what providers say of where they compute and what they keep', () => {
  it('issue 37 names the page that says so and the day of its reading', () => {
    const saying = [...providers, ...routes].filter(
      (one) => one.zero_retention !== undefined || (one.regions ?? []).length > 0,
    );
    for (const one of saying) {
      expect(one.retention_source).toMatch(/^https:\/\//);
      expect(one.retention_source_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
    const sourced = [...providers, ...routes].filter((one) => one.retention_source !== undefined);
    expect(sourced).toHaveLength(saying.length);
  });

  it('issue 37 promises zero retention where a page of the host does, and of no route that the page leaves out', () => {
    const promising = providers.filter(({ zero_retention: promises }) => promises).map(({ slug }) => slug);
    expect(promising.sort()).toEqual(['cerebras', 'deepinfra', 'fireworks']);
    const left = routes.filter(({ zero_retention: promises }) => promises === false);
    const ofGoogle = routes.filter(
      ({ id, provider }) => provider === 'deepinfra' && id.startsWith('google/'),
    );
    expect(ofGoogle.length).toBeGreaterThan(0);
    expect(left).toEqual(ofGoogle);
  });

  it('issue 37 binds routes to a region where the address that is called does', () => {
    const bound = providers.filter(({ regions = [] }) => regions.length > 0);
    expect(bound.map(({ slug, regions }) => [slug, regions])).toEqual([
      ['amazon-bedrock', ['us-east-1']],
      ['assemblyai', ['us']],
    ]);
  });
});
