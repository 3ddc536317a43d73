import fc from 'fast-check';
import { catalogueModel } from '@gateway/testing';
import { retiringModels } from './retiring-models.js';

const DAY_MS = 86_400_000;
const old = catalogueModel(
  'acme/old',
  [
    {
      retiresAtMs: Date.parse('2027-03-01T00:00:00Z'),
      price: {
        prompt_usd_per_1m: '2',
        completion_usd_per_1m: '10',
        windows: [
          {
            name: 'late',
            from: '2027-02-25T00:00:00Z',
            prices: { prompt_usd_per_1m: '4', completion_usd_per_1m: '10' },
          },
        ],
      },
    },
  ],
  { retires_at: '2027-03-01', successor: 'acme/new' },
);
const next = catalogueModel('acme/new', [
  { price: { prompt_usd_per_1m: '1', completion_usd_per_1m: '12' } },
  { provider: 'dear', price: { prompt_usd_per_1m: '9', completion_usd_per_1m: '90' } },
]);
const at = (iso: string, models = [old, next]) => retiringModels({ models }, Date.parse(iso));

describe('issue 37 models that are retired soon', () => {
  it.each([
    ['2027-01-29T23:59:59.999Z', undefined],
    ['2027-01-30T00:00:00Z', 30],
    ['2027-02-21T23:59:59Z', 30],
    ['2027-02-22T08:00:00Z', 7],
    ['2027-02-27T08:00:00Z', 7],
    ['2027-02-28T00:00:00Z', 1],
    ['2027-02-28T23:59:59.999Z', 1],
    ['2027-03-01T00:00:00Z', undefined],
  ])('at %s have the mark %s', (iso, mark) => {
    expect(at(iso)[0]?.days_left).toBe(mark);
  });

  it('name their successor with the change of the cheapest price that is in force', () => {
    const fields = {
      model: 'acme/old',
      retires_at: '2027-03-01',
      days_left: 30,
      successor: 'acme/new',
      prompt_change_pct: -50,
      completion_change_pct: 20,
    };
    expect(at('2027-02-01T08:00:00Z')).toEqual([fields]);
    expect(at('2027-02-26T08:00:00Z')).toEqual([{ ...fields, days_left: 7, prompt_change_pct: -75 }]);
  });

  it('say that no successor is known, or of an unknown one no change', () => {
    const alone = { ...old, record: { ...old.record, successor: null } };
    const nothing = { prompt_change_pct: null, completion_change_pct: null };
    expect(at('2027-02-01T08:00:00Z', [alone, next])).toMatchObject([{ successor: null, ...nothing }]);
    expect(at('2027-02-01T08:00:00Z', [old])).toMatchObject([{ successor: 'acme/new', ...nothing }]);
  });

  it('have the least mark that is not below the days that are left, and none else', () => {
    const nowMs = Date.parse('2028-02-28T12:00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: -40, max: 400 }), (days) => {
        const retires_at = new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10);
        const dated = { ...old, record: { ...old.record, retires_at } };
        const marks = [1, 7, 30].filter((mark) => days > 0 && days <= mark);
        expect(retiringModels({ models: [dated] }, nowMs).map(({ days_left }) => days_left)).toEqual(
          marks.slice(0, 1),
        );
      }),
    );
  });
});
