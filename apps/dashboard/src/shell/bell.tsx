import { ActionIcon, Group, Indicator, Menu, Text } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { EVENT_WORDS } from '../format/event-words.js';
import { isAllowed, type Role } from '../session/rights.js';
import { useLastAlerts, type Alert } from './bell.queries.js';
import { useOrg } from './org.queries.js';
import { When } from './when.js';

const SEEN = 'alerts-seen';
const READERS: readonly Role[] = ['owner', 'admin', 'member'];

/** Bell with the last alerts of the organization; marked while there are some that this browser has not shown. */
export default function Bell({ roles }: { roles: readonly Role[] }): ReactNode {
  const { id, slug } = useOrg();
  const mayRead = isAllowed(roles, READERS);
  const alerts = useLastAlerts(mayRead ? id : null).data ?? [];
  const [seenAt, setSeenAt] = useState(() => localStorage.getItem(`${SEEN} ${slug}`) ?? '');
  if (!mayRead || id === null) return null;
  const fresh = alerts.filter(({ created_at: at }) => at > seenAt).length;
  const see = (): void => {
    const newest = alerts.at(0)?.created_at ?? seenAt;
    localStorage.setItem(`${SEEN} ${slug}`, newest);
    setSeenAt(newest);
  };
  return (
    <Menu position="bottom-end" width={340} onClose={see}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={fresh === 0 ? 'Last alerts' : `Last alerts, ${fresh} new`}
        >
          <Indicator disabled={fresh === 0} size={8} color="red">
            <IconBell size={20} />
          </Indicator>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {alerts.length === 0 && (
          <Text size="sm" c="dimmed" px="sm" py="xs">
            No alert yet.
          </Text>
        )}
        {alerts.map((alert) => (
          <Menu.Item key={alert.id} component={Link} to={`/o/${slug}/alerts/deliveries/${alert.id}`}>
            <Group justify="space-between" wrap="nowrap" gap="sm">
              <Text size="sm" truncate>
                {wordsOf(alert)}
              </Text>
              <Text size="xs" c="dimmed">
                <When at={alert.created_at} />
              </Text>
            </Group>
            <Text size="xs" c={alert.status === 'exhausted' ? 'red' : 'dimmed'} truncate>
              {stateOf(alert)}
            </Text>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to={`/o/${slug}/alerts`}>
          Notification settings
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function wordsOf({ event_type: type }: Alert): string {
  return (EVENT_WORDS as Readonly<Record<string, string | undefined>>)[type] ?? 'Test of a channel';
}

function stateOf({ status, destination }: Alert): string {
  if (status === 'delivered') return `Delivered to ${destination}`;
  if (status === 'exhausted') return `Could not be delivered to ${destination}`;
  return `On its way to ${destination}`;
}
