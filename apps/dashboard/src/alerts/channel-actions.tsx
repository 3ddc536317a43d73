import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { Confirm } from '../shell/confirm.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SecretOnce } from '../shell/secret-once.js';
import {
  useChangeChannel,
  useDeleteChannel,
  useRotateSecret,
  useTestChannel,
  type Channel,
} from './alerts.queries.js';

export function ChannelActions({ channel }: { channel: Channel }): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
  const change = useChangeChannel(channel.id);
  const test = useTestChannel(channel.id);
  const remove = useDeleteChannel(channel.id);
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
        {channel.channel_type === 'webhook' && <RotateSecret channel={channel} />}
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
      <Confirm
        title="Delete the channel"
        about={`Its policies and its delivery log go with it: ${channel.destination}`}
        action="Delete"
        isOpen={opened}
        onClose={close}
        write={remove}
        onConfirm={() => remove.mutate(undefined, { onSuccess: close })}
      />
    </Stack>
  );
}

function RotateSecret({ channel }: { channel: Channel }): ReactNode {
  const [opened, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useRotateSecret(channel.id, (rotated) => {
    setSecret(rotated.signing_secret);
    close();
  });
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Rotate secret of ${channel.destination}`}
        onClick={open}
      >
        Rotate secret
      </Button>
      <Confirm
        title="Rotate the signing secret"
        about="For a day each delivery carries two signatures, one by each secret; then the secret of now is void."
        action="Rotate"
        isDestructive={false}
        isOpen={opened}
        onClose={close}
        write={rotate}
        onConfirm={() => rotate.mutate()}
      />
      <SecretOnce secret={secret} title="The new signing secret" onDone={() => setSecret(null)} />
    </>
  );
}
