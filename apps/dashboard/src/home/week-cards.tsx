import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { barHeight } from '../chart/bar-height.js';
import { usdRatio } from '../format/money.js';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { OrgBalance } from './balance-card.js';
import { ratioOf, weekChange } from './change.js';
import { CARD_PX, Figure } from './figure.js';
import { useWeekBefore, type useWeek } from './home.queries.js';

type Values = Schemas['SeriesValues'];

interface WeekCardsProps {
  org: string;
  since: string;
  week: ReturnType<typeof useWeek>;
}

/** Cards of the balance and of the week beside the week before it. */
export function WeekCards({ org, since, week }: WeekCardsProps): ReactNode {
  const before = useWeekBefore(org, since).data?.total;
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }}>
      <OrgBalance org={org} />
      {week.isPending && ['spend', 'requests', 'p50'].map((name) => <Loading key={name} height={CARD_PX} />)}
      {week.isSuccess && <Figures week={week.data} before={before} />}
    </SimpleGrid>
  );
}

function Figures({ week, before }: { week: Schemas['UsageSeries']; before: Values | undefined }): ReactNode {
  const { total } = week;
  const days = daysOf(week);
  const scope = useScopes().usage;
  return (
    <>
      <Figure
        name="Spend"
        scope={scope}
        to="/usage"
        course={{
          heights: days.map((day) => barHeight(day?.cost_usd ?? '0')),
          note: before === undefined ? '' : weekChange(usdRatio(total.cost_usd, before.cost_usd)),
        }}
      >
        <Money usd={total.cost_usd} />
      </Figure>
      <Figure
        name="Requests"
        scope={scope}
        to="/requests?range=7d"
        course={{
          heights: days.map((day) => day?.requests ?? 0),
          note: before === undefined ? '' : weekChange(ratioOf(total.requests, before.requests)),
        }}
      >
        {count(total.requests)}
      </Figure>
      <Figure
        name="Latency p50"
        scope={scope}
        to="/usage?metric=latency"
        course={{
          heights: days.map((day) => day?.latency_p50_ms ?? null),
          note: before === undefined ? '' : latencyChange(total, before),
        }}
      >
        {milliseconds(total.latency_p50_ms)}
      </Figure>
    </>
  );
}

function latencyChange({ latency_p50_ms: now }: Values, before: Values): string {
  return now === null ? '' : weekChange(ratioOf(now, before.latency_p50_ms), 'slower', 'faster');
}

/** The days of the week, of which the first is left out where it is cut: it would always look like a rise. */
function daysOf({ buckets, since }: Schemas['UsageSeries']): (Values | undefined)[] {
  const whole = buckets.filter(({ start }) => Date.parse(start) >= Date.parse(since));
  // A day without requests has no group.
  return whole.map(({ values }) => values.all);
}
