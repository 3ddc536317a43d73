import { Button, Group, Menu, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ChangeMenu, PauseItem } from '../shell/change-menu.js';
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
import { TestResult } from './test-result.js';

/** Test of a channel with its result, and the menu of its changes. */
export function ChannelActions({ channel }: { channel: Channel }): ReactNode {
  const [opened, open] = useState<'rotate' | 'delete' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const { id, destination } = channel;
  const close = (): void => open(null);
  const change = useChangeChannel(id);
  const test = useTestChannel(id);
  const remove = useDeleteChannel(id);
  const rotate = useRotateSecret(id, (rotated) => {
    setSecret(rotated.signing_secret);
    close();
  });
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          loading={test.isPending}
          aria-label={`Send a test to ${destination}`}
          onClick={() => test.mutate()}
        >
          Test
        </Button>
        <ChangeMenu name={destination} isLoading={change.isPending} failure={change.error}>
          <PauseItem name={destination} isOn={channel.is_enabled} write={change} />
          {channel.channel_type === 'webhook' && (
            <Menu.Item onClick={() => open('rotate')}>Rotate secret</Menu.Item>
          )}
          <Menu.Item color="red" onClick={() => open('delete')}>
            Delete
          </Menu.Item>
        </ChangeMenu>
      </Group>
      {test.isSuccess && <TestResult key={test.data.id} sent={test.data} />}
      {test.error !== null && <ProblemCard failure={test.error} />}
      <Confirm
        title="Rotate the signing secret"
        about="For a day each delivery carries two signatures, one by each secret; then the secret of now is void."
        action="Rotate"
        isDestructive={false}
        isOpen={opened === 'rotate'}
        onClose={close}
        write={rotate}
        onConfirm={() => rotate.mutate()}
      />
      <Confirm
        title="Delete the channel"
        about={`Its policies and its delivery log go with it: ${destination}`}
        action="Delete"
        isOpen={opened === 'delete'}
        onClose={close}
        write={remove}
        onConfirm={() => remove.mutate(undefined, { onSuccess: close })}
      />
      <SecretOnce secret={secret} title="The new signing secret" onDone={() => setSecret(null)} />
    </Stack>
  );
}
