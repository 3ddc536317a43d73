import { Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useIsBilled } from '../session/me.queries.js';
import { Confirm } from '../shell/confirm.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SecretTest } from '../shell/provider-secret.js';
import {
  useChangeProviderKey,
  useDeleteProviderKey,
  useTestProviderKey,
  type ProviderKey,
} from './provider-keys.queries.js';

export function ProviderKeyActions({ record }: { record: ProviderKey }): ReactNode {
  const name = record.label ?? record.provider;
  const [tested, test] = useDisclosure(false);
  const [deleted, remove] = useDisclosure(false);
  const change = useChangeProviderKey(record.id);
  const deletion = useDeleteProviderKey(record.id);
  const isBilled = useIsBilled();
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Button size="compact-sm" variant="default" aria-label={`Test ${name}`} onClick={test.open}>
          Test
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          loading={change.isPending}
          aria-label={`${record.is_enabled ? 'Disable' : 'Enable'} ${name}`}
          onClick={() => change.mutate({ is_enabled: !record.is_enabled })}
        >
          {record.is_enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          aria-label={`Delete ${name}`}
          onClick={remove.open}
        >
          Delete
        </Button>
        <Modal opened={tested} onClose={test.close} title={`Test ${name}`}>
          <Test record={record} />
        </Modal>
        <Confirm
          title={`Delete ${name}`}
          about={`Requests that this key served run on the platform’s own key from now on${isBilled ? ', billed to the balance' : ''}.`}
          action="Delete"
          isOpen={deleted}
          onClose={remove.close}
          write={deletion}
          onConfirm={() => deletion.mutate(undefined, { onSuccess: remove.close })}
        />
      </Group>
      {change.error !== null && <ProblemCard failure={change.error} />}
    </Stack>
  );
}

function Test({ record }: { record: ProviderKey }): ReactNode {
  const test = useTestProviderKey(record.id);
  return (
    <SecretTest about="One cheap call to the provider, with this key, that bills nothing here." test={test} />
  );
}
