import { loadConfig } from '@gateway/platform';
import { EdgeLimitsConfig } from './edge-limits.js';

describe('the limits of an edge of a fleet', () => {
  it('has to know how many edges there are: too small a number would pass limits while Redis is away', () => {
    expect(() => loadConfig(EdgeLimitsConfig, {})).toThrow(/EDGE_REPLICAS/);
    expect(loadConfig(EdgeLimitsConfig, { EDGE_REPLICAS: '3' })).toMatchObject({
      EDGE_REPLICAS: 3,
      REDIS_COMMAND_TIMEOUT_MS: 25,
    });
  });
});
