import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatUsd } from '../format/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { useBalance } from './home.queries.js';

export default function HomePage(): ReactNode {
  const { id } = useOrg();
  return (
    <>
      <PageHead title="Home" />
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        <BalanceCard org={id} />
      </SimpleGrid>
    </>
  );
}

function BalanceCard({ org }: { org: string | null }): ReactNode {
  const balance = useBalance(org);
  if (balance.isPending) return <Loading height={104} />;
  if (balance.isError) return <ProblemCard failure={balance.error} retry={() => void balance.refetch()} />;
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed">
        Available balance
      </Text>
      <Text size="xl" fw={650}>
        {formatUsd(balance.data.available_usd)}
      </Text>
    </Card>
  );
}
