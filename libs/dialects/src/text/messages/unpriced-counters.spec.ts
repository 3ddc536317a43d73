import fc from 'fast-check';
import { unitUsage } from './usage.js';
import { unpricedCounters } from './unpriced-counters.js';

const KNOWN = {
  input_tokens: 7,
  output_tokens: 3,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 1,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
  output_tokens_details: { thinking_tokens: 1 },
  server_tool_use: { web_search_requests: 1, web_fetch_requests: 4 },
  service_tier: 'standard',
  iterations: [{ type: 'message', input_tokens: 7, output_tokens: 3 }],
};

describe('unpricedCounters', () => {
  it('finds none in what this release bills', () => {
    expect(unpricedCounters(KNOWN)).toBeNull();
    expect(unitUsage(KNOWN)).not.toHaveProperty('unpriced_counters');
  });

  it('keeps counters that are new by their names, and bills the known ones beside them', () => {
    const usage = {
      ...KNOWN,
      novel_tokens: 12,
      unused_tokens: 0,
      server_tool_use: { web_search_requests: 1, novel_requests: 2 },
    };
    expect(unitUsage(usage)).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 3,
      tool_calls: { web_search: 1 },
      unpriced_counters: { novel_tokens: 12, 'server_tool_use.novel_requests': 2 },
    });
  });

  it('keeps no money of the provider', () => {
    const usage = { cost: 1, total_cost_usd: 2, cost_details: { units: 3 }, server_tool_use: { credits: 4 } };
    expect(unpricedCounters(usage)).toBeNull();
  });

  it('is bounded, and takes any object', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`novel_${at}`, 1]));
    expect(Object.keys(unpricedCounters(many) ?? {})).toHaveLength(16);
    expect(unpricedCounters({ novel_tokens: 2 ** 53, other_tokens: 1 })).toEqual({ other_tokens: 1 });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (usage) => {
        for (const [name, count] of Object.entries(unpricedCounters(usage as never) ?? {})) {
          expect(name).toMatch(/^[a-z0-9_]{1,48}(\.[a-z0-9_]{1,48})?$/);
          expect(Number.isSafeInteger(count) && count > 0).toBe(true);
        }
      }),
    );
  });
});
