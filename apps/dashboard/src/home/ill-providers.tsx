import { Alert, Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { uptime } from '../format/health.js';
import { providerState } from '../format/provider-state.js';
import { useRoles } from '../session/me.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { providersQuery } from './home.queries.js';

/** Providers that fail now, for super admins; nothing while all are well or nobody can say. */
export function IllProviders(): ReactNode {
  const { slug } = useOrg();
  return useRoles(slug).includes('super') ? <Ill /> : null;
}

function Ill(): ReactNode {
  const { slug } = useOrg();
  const providers = useQuery(providersQuery).data ?? [];
  const ill = providers.filter((provider) => providerState(provider) === 'ill');
  if (ill.length === 0) return null;
  return (
    <Alert color="red" title={ill.length === 1 ? 'A provider fails' : `${ill.length} providers fail`}>
      {ill.map(({ slug: provider, name, uptime_30m: share }) => (
        <Text key={provider} size="sm">
          {name}: {uptime(share)} of the last 30 minutes answered. Requests go to other providers where there
          are some.
        </Text>
      ))}
      <Anchor component={Link} to={`/o/${slug}/admin/providers`} size="sm">
        Open providers
      </Anchor>
    </Alert>
  );
}
