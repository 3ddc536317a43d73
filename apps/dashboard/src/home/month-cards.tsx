import type { ReactNode } from 'react';
import { barHeight } from '../chart/bar-height.js';
import { forecastOf } from '../format/forecast.js';
import { formatUsd, usdRatio } from '../format/money.js';
import { useMonthBudget } from '../limits/period-budgets.queries.js';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { changeInWords } from './change.js';
import { CARD_PX, Figure } from './figure.js';
import type { Month } from './month.queries.js';

/** Cards of the spend of this month: so far, and at its pace as a whole. */
export function MonthCards({ org, month }: { org: string; month: Month }): ReactNode {
  const { now, before, passed } = month;
  const { slug } = useOrg();
  const scope = useScopes().usage;
  const budget = useMonthBudget(org, isAllowed(useRoles(slug), ['owner', 'admin']));
  if (now.isPending) return ['spend', 'forecast'].map((name) => <Loading key={name} height={CARD_PX} />);
  if (now.isError) return null;
  const { cost_usd: spent } = now.data.total;
  const heights = now.data.buckets.map(({ values }) =>
    Object.values(values).reduce((sum, { cost_usd: usd }) => sum + barHeight(usd), 0),
  );
  const ratio = before.isSuccess ? usdRatio(spent, before.data.total.cost_usd) : undefined;
  const forecast = forecastOf(spent, passed);
  return (
    <>
      <Figure
        name="Spend this month"
        scope={scope}
        to="/usage?range=month&compare=before"
        course={{
          heights,
          note: ratio === undefined ? '' : changeInWords(ratio, 'by this day of last month'),
        }}
      >
        <Money usd={spent} />
      </Figure>
      <Figure
        name="Forecast of the month"
        scope={scope}
        to="/usage?range=month"
        course={{
          heights: null,
          note: forecast === null ? 'Known from the second day on' : ofBudget(budget),
        }}
      >
        {forecast === null ? '–' : <Money usd={forecast} />}
      </Figure>
    </>
  );
}

/** Members do not read it: their own spend is no part of it that they could judge. */
function ofBudget(budget: string | null | undefined): string {
  return typeof budget === 'string'
    ? `Of a budget of ${formatUsd(budget)}, at the pace of this month so far`
    : 'At the pace of this month so far';
}
