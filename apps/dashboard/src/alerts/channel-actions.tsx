import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ProblemCard } from '../shell/problem-card.js';
import { useChangeChannel, useDeleteChannel, useTestChannel, type Channel } from './alerts.queries.js';

export function ChannelActions({ channel }: { channel: Channel }): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
  const change = useChangeChannel(channel.id);
  const test = useTestChannel(channel.id);
  const failure = test.error ?? change.error;
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          loading={test.isPending}
          aria-label={`Send a test to ${channel.destination}`}
          onClick={() => test.mutate()}
        >
          {test.isSuccess ? 'Test sent' : 'Test'}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          loading={change.isPending}
          aria-label={`${channel.is_enabled ? 'Disable' : 'Enable'} ${channel.destination}`}
          onClick={() => change.mutate({ is_enabled: !channel.is_enabled })}
        >
          {channel.is_enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          aria-label={`Delete ${channel.destination}`}
          onClick={open}
        >
          Delete
        </Button>
      </Group>
      {failure !== null && <ProblemCard failure={failure} />}
      <Modal opened={opened} onClose={close} title="Delete the channel">
        <Delete channel={channel} onClose={close} />
      </Modal>
    </Stack>
  );
}

function Delete({ channel, onClose }: { channel: Channel; onClose: () => void }): ReactNode {
  const remove = useDeleteChannel(channel.id);
  return (
    <Stack>
      <Text size="sm">Its policies and its delivery log go with it: {channel.destination}</Text>
      {remove.error !== null && <ProblemCard failure={remove.error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          color="red"
          loading={remove.isPending}
          onClick={() => remove.mutate(undefined, { onSuccess: onClose })}
        >
          Delete
        </Button>
      </Group>
    </Stack>
  );
}
