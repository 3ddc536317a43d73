import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useState, type ReactNode } from 'react';
import { Confirm } from '../shell/confirm.js';
import { offerUndo } from '../shell/undo.js';
import { useCreatePolicy, useDeletePolicy, type Policy } from './alerts.queries.js';
import { EVENT_WORDS } from '../format/event-words.js';

/** Button that deletes a policy once it was confirmed. */
export function DeletePolicy({ policy, destination }: { policy: Policy; destination: string }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [idempotencyKey] = useState(newIdempotencyKey);
  const { org_id, channel_id, alert_type, is_enabled, threshold_usd, threshold_pct } = policy;
  const create = useCreatePolicy(org_id, idempotencyKey);
  const undo = (): Promise<unknown> =>
    create.mutateAsync({ channel_id, alert_type, is_enabled, threshold_usd, threshold_pct });
  const event = EVENT_WORDS[policy.alert_type];
  const about = `“${event}” is not sent to ${destination} any more.`;
  const remove = useDeletePolicy(() => offerUndo(about, undo));
  return (
    <>
      <Button size="compact-sm" variant="default" aria-label={`Delete the policy: ${event}`} onClick={open}>
        Delete
      </Button>
      <Confirm
        title="Delete the policy"
        about={about}
        action="Delete"
        isOpen={isOpen}
        onClose={close}
        write={remove}
        onConfirm={() => remove.mutate(policy.id, { onSuccess: close })}
      />
    </>
  );
}
