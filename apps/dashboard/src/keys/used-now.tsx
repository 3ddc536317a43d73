import { ActionIcon, Group, Progress, Stack, Text, Tooltip } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { count, usedOf } from '../format/time.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { useRates, type RateState } from './keys.queries.js';

const METRICS = [
  { metric: 'rpm', name: 'Requests this minute' },
  { metric: 'rpd', name: 'Requests today' },
  { metric: 'tpm', name: 'Tokens this minute' },
] as const;
const FULL_PCT = 100;
const NEAR_PCT = 80;

/** Table of the key's use of its own limits. */
export function UsedNow({ id }: { id: string }): ReactNode {
  const org = useOrg();
  const rates = useRates(org.id, id);
  return (
    <Panel
      title="Used now"
      about={
        rates.isSuccess && (
          <Group gap={4}>
            As of <When at={rates.data.as_of} />
            <Tooltip label="Refresh">
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label="Refresh what is used"
                loading={rates.isFetching}
                onClick={() => void rates.refetch()}
              >
                <IconRefresh size={14} />
              </ActionIcon>
            </Tooltip>
          </Group>
        )
      }
    >
      {rates.isPending && <Loading height={110} />}
      {rates.isError && <ProblemCard failure={rates.error} retry={() => void rates.refetch()} />}
      {rates.isSuccess && rates.data.scopes.key !== null && <Bars scope={rates.data.scopes.key} />}
    </Panel>
  );
}

function Bars({ scope }: { scope: NonNullable<RateState['scopes']['key']> }): ReactNode {
  return (
    <Stack gap="sm">
      {METRICS.map(({ metric, name }) => {
        const { current, limit, pct, resets_in_seconds: seconds } = scope[metric];
        return (
          <div key={metric}>
            <Group justify="space-between" mb={4} wrap="nowrap">
              <Text size="sm">{name}</Text>
              <Text size="sm" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
                {usedOf(current, limit)}
                {pct >= FULL_PCT && ` · refused for ${count(seconds)} s`}
              </Text>
            </Group>
            <Progress
              value={Math.min(pct, FULL_PCT)}
              color={pct >= FULL_PCT ? 'red' : pct >= NEAR_PCT ? 'yellow' : undefined}
              aria-label={name}
            />
          </div>
        );
      })}
    </Stack>
  );
}
