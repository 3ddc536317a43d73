import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { usdRatio } from '../format/money.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { useScopes } from '../shell/scope.js';
import type { Month } from './month.queries.js';
import { moversOf, type Mover } from './movers.js';

const GRID = { display: 'grid', gridTemplateColumns: 'minmax(0, 1fr) auto auto', gap: '10px 16px' } as const;
const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

/** Keys whose spend has changed most since the month before. */
export function Movers({ month: { now, before } }: { month: Month }): ReactNode {
  const { slug } = useOrg();
  const scope = useScopes().usage;
  if (!now.isSuccess || !before.isSuccess) return null;
  const movers = moversOf(now.data, before.data);
  if (movers.length === 0) return null;
  return (
    <Panel
      title="Largest changes"
      about="Spend of this month by key, beside as much of the month before"
      scope={scope}
    >
      <div style={GRID}>
        {movers.map((mover) => (
          <Fragment key={mover.id}>
            <Anchor
              component={Link}
              to={`/o/${slug}/usage?range=month&compare=before&key_id=${mover.id}`}
              size="sm"
              truncate
            >
              {mover.name}
            </Anchor>
            <Text size="sm" ta="right" component="div">
              <Money usd={mover.nowUsd} />
            </Text>
            <Text size="sm" ta="right" c="dimmed">
              {changeOf(mover)}
            </Text>
          </Fragment>
        ))}
      </div>
    </Panel>
  );
}

function changeOf({ nowUsd, beforeUsd }: Mover): string {
  const ratio = usdRatio(nowUsd, beforeUsd);
  return ratio === null ? 'new' : percent.format(ratio - 1);
}
