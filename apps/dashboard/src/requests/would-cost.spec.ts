import fc from 'fast-check';
import { wouldCost } from './would-cost.js';

type Lines = NonNullable<Parameters<typeof wouldCost>[0]['price_lines']>;

const tokens = (line: string, quantity: number): Lines[number] => ({
  ...{ line, quantity: String(quantity), unit: '1M tokens' },
  ...{ rate_usd: '1', amount_usd: '1' },
});
const request = { price_lines: [tokens('fresh', 15_400), tokens('completion', 2_600)] };
const counted = { ...request, prompt_tokens: 15_400, completion_tokens: 2_600 };

describe('the cost of a request at another price', () => {
  it('is that of its tokens, to the last digit', () => {
    expect(wouldCost(counted, { prompt_usd_per_1m: '2.4', completion_usd_per_1m: '12' })).toBe('0.06816');
    expect(wouldCost(counted, { prompt_usd_per_1m: '0.000001', completion_usd_per_1m: '0' })).toBe(
      '0.000000015400'.replace(/0+$/, ''),
    );
    expect(wouldCost(counted, { is_free: true })).toBe('0');
  });

  it('is known for prices that say that they are by token, as those of the catalogue do', () => {
    const rates = { prompt_usd_per_1m: '2.4', completion_usd_per_1m: '12', input_usd_per_unit: null };
    expect(wouldCost(counted, { ...rates, pricing_unit: 'per_1m_tokens' })).toBe('0.06816');
  });

  it('takes the reader’s own price, and the rate of a class before that of its side', () => {
    const cached = {
      price_lines: [tokens('fresh', 400), tokens('cached', 15_000), tokens('completion', 2_600)],
      ...{ prompt_tokens: 15_400, completion_tokens: 2_600 },
    };
    const price = { prompt_usd_per_1m: '2', completion_usd_per_1m: '10' };
    expect(wouldCost(cached, { ...price, cache_read_input_usd_per_1m: '0.2' })).toBe('0.0298');
    expect(wouldCost(cached, price)).toBe('0.0568');
    expect(wouldCost(cached, { ...price, discounted: { ...price, prompt_usd_per_1m: '1' } })).toBe('0.0414');
  });

  it('scales every rate of a long prompt', () => {
    const long = {
      ...{ prompt_usd_per_1m: '2', completion_usd_per_1m: '10', cache_read_input_usd_per_1m: '0.3' },
      ...{ long_context_threshold_tokens: 15_399, long_context_prompt_usd_per_1m: '3' },
    };
    const cached = { ...counted, price_lines: [tokens('cached', 15_400), tokens('completion', 2_600)] };
    expect(wouldCost(cached, long)).toBe('0.03293');
    expect(wouldCost(cached, { ...long, long_context_threshold_tokens: 15_400 })).toBe('0.03062');
  });

  it.each([
    [
      'something else than tokens was billed',
      { price_lines: [{ ...tokens('fresh', 1), unit: 'image' }] },
      {},
    ],
    ['a class had no rate', { price_lines: [tokens('fresh', 15_000), tokens('completion', 2_600)] }, {}],
    ['nothing was billed', { price_lines: null }, {}],
    ['the other bills each request', {}, { request_usd: '0.01' }],
    ['the other bills something else', {}, { pricing_unit: 'per_minute' }],
    ['the other has no rate', {}, { prompt_usd_per_1m: null, completion_usd_per_1m: null }],
  ])('is not known where %s', (_why, change, price) => {
    const rates = { prompt_usd_per_1m: '1', completion_usd_per_1m: '1', ...price };
    expect(wouldCost({ ...counted, ...change }, rates)).toBeNull();
  });

  it('is the bill itself at the rates of the bill', () => {
    const micro = fc.bigInt({ min: 0n, max: 10n ** 12n });
    const text = (value: bigint): string =>
      `${value / 1_000_000n}.${String(value % 1_000_000n).padStart(6, '0')}`;
    const amount = fc.integer({ min: 1, max: 2_000_000 });
    fc.assert(
      fc.property(amount, amount, micro, micro, (input, output, prompt, completion) => {
        const bill = BigInt(input) * prompt + BigInt(output) * completion;
        const lines = [tokens('fresh', input), tokens('completion', output)];
        const cost = wouldCost(
          { price_lines: lines, prompt_tokens: input, completion_tokens: output },
          { prompt_usd_per_1m: text(prompt), completion_usd_per_1m: text(completion) },
        );
        const [whole, fraction = ''] = (cost ?? '').split('.');
        expect(BigInt(whole + fraction.padEnd(12, '0'))).toBe(bill);
      }),
    );
  });
});
