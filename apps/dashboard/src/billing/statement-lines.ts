import type { Statement } from './billing.queries.js';

const CENTS = 2;

/** One line of the balance of a month. */
export interface BalanceLine {
  name: string;
  usd: string;
}

/** Returns the lines from the opening to the closing balance: the first three add up to the last. */
export function balanceLines(statement: Statement): BalanceLine[] {
  const { is_over: isOver, opening_usd, credits_usd, usage_usd, closing_usd } = statement;
  return [
    { name: 'Opening balance', usd: opening_usd },
    { name: 'Paid in and credited', usd: credits_usd },
    { name: 'Usage', usd: negative(usage_usd) },
    { name: isOver ? 'Closing balance' : 'Balance so far', usd: closing_usd },
  ];
}

/** Returns the decimals with which no amount of a statement is rounded: what is read adds up to the digit. */
export function decimalsOf(statement: Statement): number {
  const { opening_usd, credits_usd, usage_usd, closing_usd, credits, usage, days } = statement;
  const amounts = [
    ...[opening_usd, credits_usd, usage_usd, closing_usd],
    ...[...credits, ...usage].map(({ amount_usd: usd }) => usd),
    ...days.flatMap((day) => [day.usage_usd, day.credits_usd]),
  ];
  return amounts.reduce((most, usd) => Math.max(most, /\.(\d*?)0*$/.exec(usd)?.[1].length ?? 0), CENTS);
}

/** Returns what an amount takes from the balance. */
export function negative(usd: string): string {
  if (/^0(\.0+)?$/.test(usd)) return usd;
  return usd.startsWith('-') ? usd.slice(1) : `-${usd}`;
}
