import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { When } from '../shell/when.js';
import type { Channel } from './alerts.queries.js';

/** State of a channel: its last result, unless nothing is sent to it. */
export function ChannelState({ channel }: { channel: Channel }): ReactNode {
  const { color, text } = stateOf(channel);
  const { last_result: last, failing_since: failingSince } = channel;
  return (
    <Group gap="xs" wrap="nowrap" data-testid="state">
      <Badge variant="light" color={color} miw="max-content">
        {text}
      </Badge>
      {last !== null && (
        <Text size="sm" span title={last.error ?? undefined}>
          {last.http_status ?? (last.is_delivered ? 'sent' : 'no answer')}, <When at={last.at} />
        </Text>
      )}
      {failingSince !== null && (
        <Text size="sm" span c="dimmed">
          events fail since <When at={failingSince} />
        </Text>
      )}
    </Group>
  );
}

const REASONS = { failing: 'Stopped: failed for days', gone: 'Stopped: gone (410)' } as const;

function stateOf({
  is_enabled: isEnabled,
  disabled_reason: reason,
  channel_type: type,
  verified_at: verified,
  last_result: last,
}: Channel): { color: string; text: string } {
  if (!isEnabled)
    return reason === null ? { color: 'gray', text: 'Off' } : { color: 'red', text: REASONS[reason] };
  if (type === 'email' && verified === null) return { color: 'yellow', text: 'Unconfirmed' };
  if (last === null) return { color: 'gray', text: 'Nothing sent yet' };
  return last.is_delivered ? { color: 'green', text: 'Delivering' } : { color: 'red', text: 'Failing' };
}
