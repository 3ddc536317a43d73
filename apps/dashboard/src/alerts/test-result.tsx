import { Anchor, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { useTestDelivery, type Delivery } from './alerts.queries.js';

/** Result of a test of a channel, once it is known, with the delivery that says all of it. */
export function TestResult({ sent }: { sent: Delivery }): ReactNode {
  const { slug } = useOrg();
  const cache = useQueryClient();
  const { status, http_status: http, error, attempts } = useTestDelivery(sent).data;
  useEffect(() => {
    // The state of the channel is that of its newest delivery.
    if (attempts > 0) void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === 'alerts' });
  }, [attempts, cache]);
  const answer = http === null ? (error ?? 'no answer') : `status ${http}`;
  const isDelivered = status === 'delivered';
  return (
    <Stack gap={0}>
      <Text size="sm" role="status">
        {isDelivered || attempts > 0 ? `${isDelivered ? 'Delivered' : 'Failed'}, ${answer}` : 'Sending'}
      </Text>
      <Anchor
        component={Link}
        to={`/o/${slug}/alerts/deliveries/${sent.id}`}
        size="sm"
        c="inherit"
        td="underline"
      >
        Open delivery
      </Anchor>
    </Stack>
  );
}
