import { parseSpelled, writeJson } from '@gateway/json-body';
import { namesMoney, withoutMoney } from './money-names.js';

// prettier-ignore
const MONEY = [
  'cost', 'costs', 'cost_details', 'upstream_inference_cost', 'total_costs', 'total_cost_usd', 'totalCost', 'price',
  'prices', 'unit_price', 'charge', 'charged', 'charges', 'charge_amount', 'charged_amount', 'total_charge',
  'total_charges', 'credit', 'credits', 'credits_used', 'used_credits', 'usd', 'usd_total', 'total_usd', 'in_usd_cents',
  'creditsUsed', 'COST',
];
// prettier-ignore
const NONE = [
  'costume', 'price_level_note', 'audio_recharge_tokens', 'cost_tokens', 'credit_note', 'accredited', 'discharge',
  'thus', 'usdt', 'prompt_tokens', 'recharge', 'supercharged_x',
];

describe('names of money', () => {
  it.each(MONEY)('USG-18 %s is one', (name) => {
    expect([namesMoney(name), namesMoney(name)]).toEqual([true, true]);
  });

  it.each(NONE)('USG-18 %s is none', (name) => {
    expect([namesMoney(name), namesMoney(name)]).toEqual([false, false]);
  });

  it('USG-18 are left out at every depth, but not below what is shown as it is', () => {
    const value = {
      cost: 1,
      list: [{ cost: 1, tokens: 2 }, [{ price: 3 }], 'cost', null],
      arguments: { cost: 4, deep: { price: 5 } },
      usage: { deep: { total_cost: 6, kept: 0 } },
    };
    expect(withoutMoney(value, new Set(['arguments']))).toEqual({
      list: [{ tokens: 2 }, [{}], 'cost', null],
      arguments: { cost: 4, deep: { price: 5 } },
      usage: { deep: { kept: 0 } },
    });
    expect([withoutMoney('cost'), withoutMoney(null), withoutMoney(7)]).toEqual(['cost', null, 7]);
    const hostile = withoutMoney(JSON.parse('{"__proto__":{"x":1},"a":1}'));
    expect([hostile, Object.getPrototypeOf(hostile)]).toEqual([{ a: 1 }, Object.prototype]);
  });

  it('USG-18 leave a value as it is where there are none, and are found in a long name at once', () => {
    const value = { list: [{ tokens: 2 }], usage: { kept: 0 } };
    expect(withoutMoney(value)).toBe(value);
    expect(namesMoney(`${'_cost_'.repeat(100_000)}\n`)).toBe(true);
  });

  it('are judged rightly also after more names than are remembered', () => {
    for (let n = 0; n < 1_100; n += 1) expect(namesMoney(`member_${n}`)).toBe(false);
    expect([namesMoney('a_new_cost'), namesMoney('a_new_count')]).toEqual([true, false]);
    expect(namesMoney(`${'x'.repeat(80)}_cost`)).toBe(true);
  });

  it('USG-18 hide a repeated member that has one, and leave any other as it came', () => {
    const text = '{"a":{"cost":1},"b":1.0,"a":{"x":1.0},"a":2}';
    expect(writeJson(withoutMoney(parseSpelled(text)))).toBe('{"b":1.0,"a":{"x":1.0},"a":2}');
  });
});
