import { ColorSwatch, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { MarkLink } from '../chart/mark-link.js';
import { useZone } from '../session/me.queries.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { coloursOfGroups, nameOf } from '../usage/bars-of.js';
import { markOf, type Shown } from '../usage/marks.js';
import { SPEND } from '../usage/metrics.js';
import { OverTime } from '../usage/over-time.js';
import { useSeries, type Series } from '../usage/usage.queries.js';

const TITLE = 'Spend by model';
/** Height of the panel with the chart. */
const CHART_PX = 408;
const AS_LIST = { listStyle: 'none', margin: 0, padding: 0 } as const;

interface SpendByModelProps {
  org: string;
  since: string;
}

/** The spend of a week by model, as Usage shows it; each part of a bar leads to its requests. */
export function SpendByModel({ org, since }: SpendByModelProps): ReactNode {
  const { slug } = useOrg();
  const zone = useZone();
  const scope = useScopes().usage;
  const groupBy = 'model';
  const series = useSeries(org, { since, groupBy, granularity: 'day', zone, filters: {} });
  if (series.isPending) return <Loading height={CHART_PX} />;
  if (series.isError) return <ProblemCard failure={series.error} retry={() => void series.refetch()} />;
  if (series.data.groups.length === 0)
    return (
      <Panel title={TITLE} scope={scope}>
        <Text size="sm" c="dimmed">
          No request in the last 7 days.
        </Text>
      </Panel>
    );
  const shown = { slug, url: {}, series: series.data, groupBy };
  return (
    <OverTime title={TITLE} scope={scope} shown={shown} series={series.data} metric={SPEND}>
      <Legend shown={shown} series={series.data} />
    </OverTime>
  );
}

/** Legend with the colour and the sum of each group. */
function Legend({ shown, series }: { shown: Shown; series: Series }): ReactNode {
  const colours = coloursOfGroups(series);
  return (
    <Group component="ul" aria-label="Sums of the week" gap="md" style={AS_LIST}>
      {series.groups.map((group) => (
        <Group component="li" key={group.id} gap={6} wrap="nowrap">
          <ColorSwatch size={12} color={colours.get(group.id) ?? ''} withShadow={false} />
          <MarkLink mark={markOf(shown, group.id, null)}>{nameOf(group)}</MarkLink>
          <Text size="sm" component="span">
            <Money usd={series.totals[group.id].cost_usd} />
          </Text>
        </Group>
      ))}
    </Group>
  );
}
