import type { PriceRecord } from '@gateway/contracts';
import { provider } from './openai.provider.js';

describe('OpenAI', () => {
  it.each([
    ['5', true],
    [null, undefined],
    [undefined, undefined],
  ])('RESP-05 takes cache breakpoints of models that bill cache writes: at %s it is %s', (price, takes) => {
    const own: PriceRecord = { pricing_unit: 'per_1m_tokens', cache_write_input_usd_per_1m: price };
    expect(provider.quirks({ dialect: 'responses', price: own } as never).cacheBreakpoints).toBe(takes);
  });
});
