import { opensWith } from './rejection-words.js';
import type { Rejection } from './requests.queries.js';

const money = (isFinal: boolean): Rejection['money'] => ({
  ...{ limit_usd: '1', spent_usd: '0.31', available_usd: '0.69', held_usd: '0.7' },
  is_final: isFinal,
});
const rejected = (fields: Partial<Rejection>): Rejection =>
  ({ scope: 'key', money: null, ...fields }) as Rejection;

describe('what opens a limit without a clock', () => {
  it.each<[string, Partial<Rejection>, string]>([
    [
      'money that was held',
      { limit_type: 'spend_cap', money: money(false) },
      'when what was running has ended',
    ],
    [
      'a balance that was held',
      { limit_type: 'balance', money: money(false) },
      'when what was running has ended',
    ],
    ['a balance that is spent', { limit_type: 'balance', money: money(true) }, 'with credit'],
    [
      'a cap of a key that is spent',
      { limit_type: 'spend_cap', money: money(true) },
      'when the cap is raised',
    ],
    ['a cap of an earlier release', { limit_type: 'spend_cap' }, 'when the cap is raised'],
    [
      'a cap of a team, of 30 days',
      { limit_type: 'spend_cap', scope: 'team', money: money(true) },
      'when the cap is raised, or old spend leaves its 30 days',
    ],
  ])('%s', (_, fields, words) => {
    expect(opensWith(rejected(fields))).toBe(words);
  });
});
