import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Confirm } from '../shell/confirm.js';
import { useDeletePolicy, type Policy } from './alerts.queries.js';
import { EVENT_WORDS } from '../format/event-words.js';

/** Button that deletes a policy once it was confirmed. */
export function DeletePolicy({ policy, destination }: { policy: Policy; destination: string }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  const remove = useDeletePolicy();
  const event = EVENT_WORDS[policy.alert_type];
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        aria-label={`Delete the policy: ${event}`}
        onClick={open}
      >
        Delete
      </Button>
      <Confirm
        title="Delete the policy"
        about={`“${event}” is not sent to ${destination} any more.`}
        action="Delete"
        isOpen={isOpen}
        onClose={close}
        write={remove}
        onConfirm={() => remove.mutate(policy.id, { onSuccess: close })}
      />
    </>
  );
}
