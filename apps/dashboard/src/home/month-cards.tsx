import type { ReactNode } from 'react';
import { barHeight } from '../chart/bar-height.js';
import { usdRatio } from '../format/money.js';
import { Money } from '../shell/money.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { changeInWords } from './change.js';
import { CARD_PX, Figure } from './figure.js';
import { forecastOf } from './forecast.js';
import type { Month } from './month.queries.js';

/** Cards of the spend of this month: so far, and at its pace as a whole. */
export function MonthCards({ month: { now, before, passed } }: { month: Month }): ReactNode {
  const scope = useScopes().usage;
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
          note: forecast === null ? 'Known from the second day on' : 'At the pace of this month so far',
        }}
      >
        {forecast === null ? '–' : <Money usd={forecast} />}
      </Figure>
    </>
  );
}
