import { Button, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { count } from '../format/time.js';
import { Confirm } from '../shell/confirm.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SecretOnce } from '../shell/secret-once.js';
import { offerUndo } from '../shell/undo.js';
import { When } from '../shell/when.js';
import { useDayOfRequests, useReactivateKey, useRotateKey, useSuspendKey, type Key } from './keys.queries.js';

const GRACES = [
  { value: '0', label: 'At once' },
  { value: '900', label: 'After 15 minutes' },
  { value: '3600', label: 'After an hour' },
  { value: '86400', label: 'After a day' },
];

export function KeyActions({ record }: { record: Key }): ReactNode {
  const reactivate = useReactivateKey(record.id);
  if (record.status === 'suspended') {
    return (
      <Stack gap="xs" align="flex-end">
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={reactivate.isPending}
          onClick={() => reactivate.mutate()}
        >
          Reactivate
        </Button>
        {reactivate.error !== null && <ProblemCard failure={reactivate.error} />}
      </Stack>
    );
  }
  return (
    <>
      <Rotate record={record} />
      <Suspend record={record} />
    </>
  );
}

function Rotate({ record }: { record: Key }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [grace, setGrace] = useState('900');
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useRotateKey(record.id, ({ key }) => {
    setSecret(key);
    close();
  });
  return (
    <>
      <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={open}>
        Rotate
      </Button>
      <Confirm
        title="Rotate the key"
        about="The key gets a new secret. Its limits, label and spend stay."
        action="Rotate"
        isDestructive={false}
        isOpen={isOpen}
        onClose={close}
        write={rotate}
        onConfirm={() => rotate.mutate({ grace_seconds: Number(grace) })}
      >
        <Select
          label="The old secret stops"
          data={GRACES}
          allowDeselect={false}
          value={grace}
          onChange={(value) => setGrace(value ?? '0')}
        />
      </Confirm>
      <SecretOnce secret={secret} title="The new secret" onDone={() => setSecret(null)} />
    </>
  );
}

function Suspend({ record }: { record: Key }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="light" color="red" leftSection={<IconPlayerPause size={16} />} onClick={open}>
        Suspend
      </Button>
      {isOpen && <ConfirmSuspend record={record} onClose={close} />}
    </>
  );
}

/** Question before a key is suspended, with the traffic that stops. A key that is in use asks for its label. */
function ConfirmSuspend({ record, onClose }: { record: Key; onClose: () => void }): ReactNode {
  const traffic = useDayOfRequests(useOrg().id, record.id);
  const name = record.label ?? record.masked_key;
  const reactivate = useReactivateKey(record.id);
  const suspend = useSuspendKey(record.id, () => {
    offerUndo(`The key ${name} is suspended.`, () => reactivate.mutateAsync());
  });
  const inUse = traffic.data !== undefined && traffic.data > 0;
  return (
    <Confirm
      title="Suspend the key"
      about={`Every request with ${name} is refused from the next one on. You can reactivate it at any time.`}
      action="Suspend the key"
      isOpen
      onClose={onClose}
      write={suspend}
      onConfirm={() => suspend.mutate(undefined, { onSuccess: onClose })}
      typed={inUse ? name : undefined}
    >
      {traffic.data !== undefined && (
        <Text size="sm" fw={600} component="div">
          {inUse ? (
            <>
              {counted(traffic.data)} in the last 24 hours, the last one <When at={record.last_used_at} />.
            </>
          ) : (
            'No request in the last 24 hours.'
          )}
        </Text>
      )}
    </Confirm>
  );
}

function counted(requests: number): string {
  return requests === 1 ? '1 request' : `${count(requests)} requests`;
}
