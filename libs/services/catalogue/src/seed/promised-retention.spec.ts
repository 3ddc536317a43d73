import { readSeed } from './read-seed.js';

describe('retention that providers promise', () => {
  it('issue 37 names the page that says so and the day of its reading', () => {
    const promising = readSeed({ simulated: false }).providers.filter(
      ({ zero_retention: promises }) => promises,
    );
    expect(promising.map(({ slug }) => slug).sort()).toEqual(['deepinfra', 'fireworks']);
    for (const provider of promising) {
      expect(provider.retention_source).toMatch(/^https:\/\//);
      expect(provider.retention_source_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
  });
});
