import { falselyRefused } from './run-seed.js';

describe('what solvent callers must never see', () => {
  it('is 401, 402, 403, 404 and 429, whatever else failed', () => {
    const sent = [0, 200, 401, 402, 403, 404, 429, 499, 500, 502, 503].map((status) => ({
      tag: `t${status}`,
      edge: 'edge-0',
      status,
      fault: 'x',
    }));
    expect(falselyRefused(sent)).toEqual([
      'solvent callers were refused (5): t401 of edge-0 401 x; t402 of edge-0 402 x; t403 of edge-0 403 x',
    ]);
    expect(falselyRefused(sent.filter(({ status }) => status < 400 || status >= 499))).toEqual([]);
  });
});
