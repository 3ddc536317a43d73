import { Anchor, Button, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconCheck, IconCircle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { useAlerts } from '../alerts/alerts.queries.js';
import { useInvitations, useMembers } from '../members/members.queries.js';
import { useProviderKeys } from '../provider-keys/provider-keys.queries.js';
import { useRoles } from '../session/me.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';

interface Known {
  org: string;
  /** Active keys, those used last first. */
  keys: readonly Schemas['ApiKeyRecord'][];
  hasRequests: boolean;
}

interface Step {
  label: string;
  page: string;
  isDone: boolean;
}

const HIDDEN = 'first-steps-hidden';
const AT_THE_LEFT = { alignSelf: 'flex-start' } as const;

/** The first steps of an organization, for those who may take them; gone once they are done or hidden. */
export function Checklist(known: Known): ReactNode {
  const { org } = known;
  const { slug } = useOrg();
  const roles = useRoles(slug);
  const [isHidden, setHidden] = useState(() => localStorage.getItem(`${HIDDEN} ${org}`) !== null);
  const mayTake = roles.includes('owner') || roles.includes('admin');
  const hide = (): void => {
    localStorage.setItem(`${HIDDEN} ${org}`, 'yes');
    setHidden(true);
  };
  return isHidden || !mayTake ? null : <Steps known={known} hide={hide} />;
}

function Steps({ known, hide }: { known: Known; hide: () => void }): ReactNode {
  const { slug } = useOrg();
  const steps = useSteps(known);
  if (steps === null) return null;
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Panel title={`First steps: ${done} of ${steps.length} done`}>
      <Stack gap="xs">
        {steps.map(({ label, page, isDone }) => (
          <Group key={label} gap="xs" wrap="nowrap">
            <ThemeIcon variant="light" size="sm" color={isDone ? 'teal' : 'gray'} aria-hidden>
              {isDone ? <IconCheck size={14} /> : <IconCircle size={14} />}
            </ThemeIcon>
            {isDone ? (
              <Text size="sm" c="dimmed">
                {label}: done
              </Text>
            ) : (
              <Anchor component={Link} to={`/o/${slug}/${page}`} size="sm">
                {label}
              </Anchor>
            )}
          </Group>
        ))}
      </Stack>
      <Button variant="subtle" color="gray" size="compact-sm" mt="sm" style={AT_THE_LEFT} onClick={hide}>
        Hide the first steps
      </Button>
    </Panel>
  );
}

/** Returns the steps and which are done; null until every read has answered. */
function useSteps({ org, keys, hasRequests }: Known): Step[] | null {
  const providerKeys = useProviderKeys(org, 1).data;
  const members = useMembers(org, { page: 1 }).data;
  const invitations = useInvitations(org).data;
  const alerts = useAlerts(org).data;
  if (!providerKeys || !members || !invitations || !alerts) return null;
  const isUsed = hasRequests || keys.some(({ last_used_at: at }) => at !== null);
  return [
    { label: 'Create a key', page: 'start', isDone: keys.length > 0 },
    { label: 'Send the first request', page: 'start', isDone: isUsed },
    { label: 'Add a key of a provider', page: 'provider-keys', isDone: providerKeys.data.length > 0 },
    {
      label: 'Invite a colleague',
      page: 'members',
      isDone: members.data.length + invitations.data.length > 1,
    },
    {
      label: 'Add a webhook or an e-mail address for alerts',
      page: 'alerts',
      isDone: alerts.channels.length > 0,
    },
  ];
}
