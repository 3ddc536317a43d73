import { Button, Group, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useAlerts, type Channel, type Policy } from './alerts.queries.js';
import { ChannelActions } from './channel-actions.js';
import { ChannelState } from './channel-state.js';
import { DeletePolicy } from './delete-policy.js';
import { EVENT_WORDS } from '../format/event-words.js';

// Forms come beside what the page shows.
const AddPolicy = lazy(async () => ({ default: (await import('./add-policy.js')).AddPolicy }));
const CreateChannel = lazy(async () => ({ default: (await import('./create-channel.js')).CreateChannel }));

export default function AlertsPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const me = useMe().data;
  const mayChange = me !== undefined && isAllowed(rolesIn(me, slug), ['owner', 'admin']);
  if (id === null) return null;
  return (
    <>
      <PageHead title="Notifications" about="Which events go where: to a webhook, signed, or to a mailbox.">
        <Button component={Link} to={`/o/${slug}/alerts/deliveries`} variant="default">
          Deliveries
        </Button>
        <Button component={Link} to={`/o/${slug}/alerts/verify`} variant="default">
          Verify a signature
        </Button>
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: 'channel' })}>
            Add channel
          </Button>
        )}
      </PageHead>
      <Content org={id} mayChange={mayChange} />
      <Suspense>
        <CreateChannel org={id} isOpen={url.add === 'channel'} onClose={() => change({ add: null })} />
      </Suspense>
    </>
  );
}

function Content({ org, mayChange }: { org: string; mayChange: boolean }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const alerts = useAlerts(org);
  if (alerts.isPending) return <Loading height={160} rows={2} />;
  if (alerts.isError) return <ProblemCard failure={alerts.error} retry={() => void alerts.refetch()} />;
  const { channels, policies } = alerts.data;
  if (channels.length === 0) {
    const add = { label: 'Add the first channel', run: () => change({ add: 'channel' }) };
    return (
      <Empty action={mayChange ? add : undefined}>No alerts yet. Add a webhook or an e-mail address.</Empty>
    );
  }
  return (
    <Stack gap="lg">
      <Panel title="Channels">
        <Channels channels={channels} mayChange={mayChange} />
      </Panel>
      <Panel title="Policies" about="An event that no policy names is not sent.">
        {mayChange && (
          <Group justify="flex-end" mb="sm">
            <Button size="xs" variant="default" onClick={() => change({ add: 'policy' })}>
              Add policy
            </Button>
          </Group>
        )}
        <Policies policies={policies} channels={channels} mayChange={mayChange} />
      </Panel>
      <Suspense>
        <AddPolicy
          org={org}
          channels={channels}
          isOpen={url.add === 'policy'}
          onClose={() => change({ add: null })}
        />
      </Suspense>
    </Stack>
  );
}

function Channels({ channels, mayChange }: { channels: readonly Channel[]; mayChange: boolean }): ReactNode {
  const columns: Column<Channel>[] = [
    {
      name: 'Destination',
      cell: ({ destination }) => (
        <Text size="sm" truncate maw={360}>
          {destination}
        </Text>
      ),
    },
    { name: 'Kind', cell: ({ channel_type: type }) => type },
    { name: 'State', cell: (channel) => <ChannelState channel={channel} /> },
    { name: 'Since', cell: ({ created_at: at }) => <When at={at} /> },
    ...(mayChange
      ? [{ name: 'Actions', cell: (channel: Channel) => <ChannelActions channel={channel} /> }]
      : []),
  ];
  return (
    <DataTable label="Channels" columns={columns} rows={channels} rowKey={({ id }) => id} minWidth={760} />
  );
}

interface PoliciesProps {
  policies: readonly Policy[];
  channels: readonly Channel[];
  mayChange: boolean;
}

function Policies({ policies, channels, mayChange }: PoliciesProps): ReactNode {
  if (policies.length === 0) return <Empty>There is no policy yet.</Empty>;
  const columns: Column<Policy>[] = [
    { name: 'Event', cell: ({ alert_type: type }) => EVENT_WORDS[type] },
    { name: 'When', cell: thresholdOf },
    { name: 'Goes to', cell: (policy) => destinationOf(policy, channels) },
    ...(mayChange
      ? [
          {
            name: 'Actions',
            cell: (policy: Policy) => (
              <DeletePolicy policy={policy} destination={destinationOf(policy, channels)} />
            ),
          },
        ]
      : []),
  ];
  return <DataTable label="Policies" columns={columns} rows={policies} rowKey={({ id }) => id} />;
}

function destinationOf({ channel_id: channel }: Policy, channels: readonly Channel[]): string {
  return channels.find(({ id }) => id === channel)?.destination ?? channel;
}

function thresholdOf({ threshold_usd: usd, threshold_pct: pct }: Policy): string {
  if (usd !== null) return `below $${usd}`;
  return pct === null ? 'each time' : `at ${pct}% of the limit`;
}
