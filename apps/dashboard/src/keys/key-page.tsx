import { Anchor, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { Binding } from './binding.js';
import { KeyActions } from './key-actions.js';
import { KeyStatus } from './key-status.js';
import { useKey, type Key } from './keys.queries.js';
import { UsedNow } from './used-now.js';

// Both bring their fields along; what the key is stands without them.
const LimitsForm = lazy(() => import('./limits-form.js'));
const RoutingForm = lazy(() => import('./routing-form.js'));

export default function KeyPage(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const key = useKey(id);
  if (key.isPending) return <Loading height={320} />;
  if (key.isError) {
    return (
      <>
        <PageHead title="API key" />
        <ProblemCard failure={key.error} retry={() => void key.refetch()} />
      </>
    );
  }
  return <Shown record={key.data} />;
}

function Shown({ record }: { record: Key }): ReactNode {
  const { slug } = useOrg();
  return (
    <>
      <PageHead
        title={record.label ?? 'API key without a label'}
        about={
          <Group gap="xs">
            <Code>{record.masked_key}</Code>
            <KeyStatus keyRecord={record} />
            <Anchor component={Link} to={`/o/${slug}/requests?key_id=${record.id}`} size="sm">
              Its requests
            </Anchor>
          </Group>
        }
      >
        <KeyActions record={record} />
      </PageHead>
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 2, md: 4 }}>
          <Fact name="Spent">
            <Money usd={record.spent_usd} none="unknown" />
          </Fact>
          <Fact name="Last used">
            <When at={record.last_used_at} />
          </Fact>
          <Fact name="Expires">
            <When at={record.expires_at} />
          </Fact>
          <Fact name="Created">
            <When at={record.created_at} />
          </Fact>
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
          <Stack gap="md">
            <Panel title="Limits and models">
              <Suspense fallback={<Loading height={420} />}>
                <LimitsForm key={record.id} record={record} />
              </Suspense>
            </Panel>
            <Panel title="Routing and defaults" about="How its requests are served and counted">
              <Suspense fallback={<Loading height={320} />}>
                <RoutingForm key={record.id} record={record} />
              </Suspense>
            </Panel>
          </Stack>
          <Stack gap="md">
            <Panel
              title="Effective limits"
              about="The smallest limit of every scope above and including the key"
            >
              <Binding id={record.id} />
            </Panel>
            <UsedNow id={record.id} />
          </Stack>
        </SimpleGrid>
      </Stack>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <Panel>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text fw={600} component="div">
        {children}
      </Text>
    </Panel>
  );
}
