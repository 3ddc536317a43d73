import { Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Money } from '../shell/money.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { useTeamSpend, type Team } from './teams.queries.js';

/** Panel of the spend of a team in 30 days beside its cap. */
export function TeamSpend({ team }: { team: Team }): ReactNode {
  const [nowMs] = useState(() => Date.now());
  const spend = useTeamSpend(team, nowMs);
  return (
    <Panel title="Spend of the last 30 days" scope={team.name}>
      {spend.isPending && <Loading height={32} />}
      {spend.isError && <ProblemCard failure={spend.error} retry={() => void spend.refetch()} />}
      {spend.isSuccess && (
        <Text fz="xl" fw={650} component="div">
          <Money usd={spend.data} />
          <Text span size="sm" c="dimmed">
            {' '}
            of <Money usd={team.spend_cap_usd} none="no cap" />
          </Text>
        </Text>
      )}
    </Panel>
  );
}
