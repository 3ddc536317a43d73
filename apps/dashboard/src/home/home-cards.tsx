import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { count } from '../format/time.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { OrgBalance } from './balance-card.js';
import { CARD_PX, Figure } from './figure.js';
import { useWeekBefore, type useWeek } from './home.queries.js';
import { MonthCards } from './month-cards.js';
import type { Month } from './month.queries.js';

type Values = Schemas['SeriesValues'];

interface HomeCardsProps {
  org: string;
  since: string;
  week: ReturnType<typeof useWeek>;
  month: Month;
}

/** Cards of the month, of the balance, and of what failed in the week beside the week before it. */
export function HomeCards({ org, since, week, month }: HomeCardsProps): ReactNode {
  const before = useWeekBefore(org, since).data?.total;
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <MonthCards org={org} month={month} />
      <OrgBalance org={org} />
      {week.isPending && <Loading height={CARD_PX} />}
      {week.isSuccess && <Failed week={week.data} before={before} />}
    </SimpleGrid>
  );
}

function Failed({ week, before }: { week: Schemas['UsageSeries']; before: Values | undefined }): ReactNode {
  const { errors, requests } = week.total;
  const was = before && before.requests > 0 ? shareInWords(before) : null;
  return (
    <Figure
      name="Failed, 7 days"
      scope={useScopes().usage}
      to="/requests?range=7d&show=failed"
      course={{
        heights: daysOf(week).map((day) => day?.errors ?? 0),
        note: `${count(errors)} of ${count(requests)} requests${was === null ? '' : `; ${was} the week before`}`,
      }}
    >
      {shareInWords(week.total)}
    </Figure>
  );
}

const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

function shareInWords({ errors, requests }: Values): string {
  return requests === 0 ? '–' : percent.format(errors / requests);
}

/** The days of the week, of which the first is left out where it is cut: it would always look like a rise. */
function daysOf({ buckets, since }: Schemas['UsageSeries']): (Values | undefined)[] {
  const whole = buckets.filter(({ start }) => Date.parse(start) >= Date.parse(since));
  // A day without requests has no group.
  return whole.map(({ values }) => values.all);
}
