import { withoutMoney } from '../../translation/money-names.js';
import { facts } from './chat-samples.fixture.js';
import { chatUsage, unitUsage } from './chat-completion.js';
import type { Quirks } from '../../translation/translation.js';
import type { JsonObject } from '../../body/json-object.js';

function mapped(raw: JsonObject, quirks: Quirks = {}): JsonObject {
  return chatUsage(unitUsage(raw, quirks), raw, facts());
}

const ZERO_DETAILS = {
  prompt_tokens_details: {
    cached_tokens: 0,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    audio_tokens: 0,
  },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
  byok_used: false,
  fallback_triggered: false,
};

describe('the chat usage object', () => {
  it('USG-01 USG-03 has every fixed key, 0 where nothing was reported', () => {
    expect(mapped({ prompt_tokens: 3 })).toEqual({
      prompt_tokens: 3,
      completion_tokens: 0,
      total_tokens: 3,
      ...ZERO_DETAILS,
    });
    const nulls = { prompt_tokens: 3, completion_tokens: null, prompt_tokens_details: null };
    expect(mapped(nulls)).toMatchObject({ completion_tokens: 0, ...ZERO_DETAILS });
  });

  it('USG-01 says the counts of another dialect by the fixed keys alone, beside the keys that are the provider’s own', () => {
    const raw = {
      input_tokens: 3,
      output_tokens: 4,
      input_tokens_details: { cached_tokens: 1 },
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 1 },
      output_tokens_details: { thinking_tokens: 2 },
      inference_geo: 'eu',
    };
    expect(Object.keys(mapped(raw)).toSorted()).toEqual(
      [...Object.keys(mapped({})), 'inference_geo'].toSorted(),
    );
  });

  it('USG-04 USG-05 USG-06 USG-07 USG-08 USG-09 USG-10 USG-11 USG-12 USG-13 maps every count', () => {
    const raw = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 999,
      prompt_tokens_details: {
        cached_tokens: 40,
        cache_write_tokens: 30,
        cache_write_1h_tokens: 10,
        audio_tokens: 5,
      },
      completion_tokens_details: {
        reasoning_tokens: 20,
        audio_tokens: 6,
        accepted_prediction_tokens: 7,
        rejected_prediction_tokens: 8,
      },
    };
    expect(mapped(raw)).toEqual({ ...raw, total_tokens: 150, byok_used: false, fallback_triggered: false });
  });

  it('USG-16 USG-17 passes provider keys beside the fixed ones, which win', () => {
    const usage = mapped({
      prompt_tokens: 10,
      completion_tokens: 2,
      is_byok: true,
      byok_used: true,
      num_sources_used: 3,
      prompt_tokens_details: { cached_tokens: 4, text_tokens: 10 },
      completion_tokens_details: { text_tokens: 2 },
    });
    expect(usage).toMatchObject({
      is_byok: true,
      byok_used: false,
      num_sources_used: 3,
      prompt_tokens_details: { text_tokens: 10, cached_tokens: 4 },
      completion_tokens_details: { text_tokens: 2, reasoning_tokens: 0 },
    });
  });

  it('USG-18 strips money however deep and however named', () => {
    const raw = {
      prompt_tokens: 1,
      cost: 0.1,
      cost_details: { upstream_inference_cost: 1 },
      cost_in_usd_ticks: 5,
      estimated_cost: 2,
      details: { total_price: 1, Credits: 2, charged: 3, kept: [{ amountUSD: 1, tokens: 2 }] },
    };
    const usage = mapped(raw);
    expect(JSON.stringify(usage)).not.toMatch(/cost|price|charge|usd"|credit/i);
    expect(usage.details).toEqual({ kept: [{ tokens: 2 }] });
    expect(withoutMoney('cost')).toBe('cost');
  });

  it('USG-18 spares what only speaks of money: token counts and notes', () => {
    const raw = {
      prompt_tokens: 1,
      audio_recharge_tokens: 4,
      cost_tokens: 5,
      discharge_rate: 1,
      priceless: true,
    };
    expect(mapped(raw)).toMatchObject({
      audio_recharge_tokens: 4,
      cost_tokens: 5,
      discharge_rate: 1,
      priceless: true,
    });
    expect(
      JSON.stringify(mapped({ prompt_tokens: 1, totalCost: 1, cost_usd: 2, credits_used: 3 })),
    ).not.toMatch(/cost|credits/i);
  });

  it('USG-20 USG-21 fills what the route reports and nothing else', () => {
    const reads = mapped({ prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 9 } });
    expect(reads.prompt_tokens_details).toMatchObject({ cached_tokens: 9, cache_write_tokens: 0 });
    const fresh = mapped({
      prompt_tokens: 9,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 9 },
    });
    expect(fresh.prompt_tokens_details).toMatchObject({ cached_tokens: 0, cache_write_tokens: 9 });
  });

  it('USG-22 shows cache_creation_input_tokens on the one route that may, and only for writes', () => {
    const usage = { prompt_tokens: 10, cache_write_tokens: 4 };
    const raw = { input_tokens: 6, cache_creation_input_tokens: 4, output_tokens: 0 };
    expect(chatUsage(usage, raw, facts())).not.toHaveProperty('cache_creation_input_tokens');
    const cloud = facts({ deprecatedCacheKey: true });
    expect(chatUsage(usage, raw, cloud).cache_creation_input_tokens).toBe(4);
    expect(chatUsage({ prompt_tokens: 10 }, raw, cloud)).not.toHaveProperty('cache_creation_input_tokens');
  });

  it('USG-23 never lets cached and written tokens exceed the prompt', () => {
    const details = { cached_tokens: 8, cache_write_tokens: 8, cache_write_1h_tokens: 9 };
    expect(unitUsage({ prompt_tokens: 10, prompt_tokens_details: details }, {})).toMatchObject({
      cached_tokens: 8,
      cache_write_tokens: 2,
      cache_write_1h_tokens: 2,
    });
  });

  it('does not add cache reads again to a prompt that has them (bugs 6 and 7)', () => {
    const raw = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 90 }, completion_tokens: 1 };
    expect(mapped(raw)).toMatchObject({ prompt_tokens: 100, total_tokens: 101 });
  });

  it.each<[string, JsonObject, Quirks, object]>([
    [
      'xAI: reasoning on top',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 303,
        completion_tokens_details: { reasoning_tokens: 290 },
      },
      { usageExcludesReasoning: true },
      { prompt_tokens: 12, completion_tokens: 291, reasoning_tokens: 290 },
    ],
    [
      'xAI: reasoning already inside, as its total shows',
      {
        prompt_tokens: 12,
        completion_tokens: 291,
        total_tokens: 303,
        completion_tokens_details: { reasoning_tokens: 290 },
      },
      { usageExcludesReasoning: true },
      { completion_tokens: 291 },
    ],
    [
      'xAI: cached beyond the prompt',
      {
        prompt_tokens: 5,
        completion_tokens: 1,
        total_tokens: 6,
        prompt_tokens_details: { cached_tokens: 20 },
      },
      { usageExcludesReasoning: true },
      { prompt_tokens: 25, cached_tokens: 20 },
    ],
    [
      'DeepSeek',
      { prompt_tokens: 30, completion_tokens: 1, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 10 },
      {},
      { cached_tokens: 20 },
    ],
    ['Mistral', { prompt_tokens: 30, num_cached_tokens: 9, completion_tokens: 1 }, {}, { cached_tokens: 9 }],
    [
      'Mistral, its other spelling',
      { prompt_tokens: 30, prompt_token_details: { cached_tokens: 8 }, completion_tokens: 1 },
      {},
      { cached_tokens: 8 },
    ],
    ['Moonshot', { prompt_tokens: 30, cached_tokens: 7, completion_tokens: 1 }, {}, { cached_tokens: 7 }],
    ['Perplexity', { prompt_tokens: 3, completion_tokens: 1, num_search_queries: 2 }, {}, { searches: 2 }],
  ])('reads the counts of %s', (_name, raw, quirks, expected) => {
    expect(unitUsage(raw, quirks)).toMatchObject(expected);
  });

  it.each([[-3], ['12'], [1.5], [null], [undefined]])(
    'leaves a side out whose count is %j: it is estimated',
    (count) => {
      const input = unitUsage({ prompt_tokens: count, completion_tokens: 2 }, {});
      expect([input.prompt_tokens, input.cached_tokens, input.completion_tokens]).toEqual([
        undefined,
        undefined,
        2,
      ]);
      const output = unitUsage({ prompt_tokens: 2, completion_tokens: count }, {});
      expect([output.prompt_tokens, output.completion_tokens, output.reasoning_tokens]).toEqual([
        2,
        undefined,
        undefined,
      ]);
    },
  );
});
