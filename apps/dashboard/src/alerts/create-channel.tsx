import { Button, Checkbox, Group, Modal, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Schemas } from '../api/schemas.js';
import { FormFailure } from '../shell/form-failure.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SecretOnce } from '../shell/secret-once.js';
import { useCreateChannel, useFirstPolicy } from './alerts.queries.js';

interface CreateChannelProps {
  org: string;
  isOpen: boolean;
  onClose: () => void;
}

/** Makes a channel and its first policy, then shows the signing secret of a webhook once. */
export function CreateChannel({ org, isOpen, onClose }: CreateChannelProps): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const policy = useFirstPolicy(org);
  return (
    <>
      {policy.error !== null && <ProblemCard failure={policy.error} />}
      <Modal opened={isOpen} onClose={onClose} title="Add a channel">
        <Form
          org={org}
          onClose={onClose}
          onCreated={({ id, signing_secret: created }, hasPolicy) => {
            setSecret(created ?? null);
            if (hasPolicy) policy.mutate(id);
            onClose();
          }}
        />
      </Modal>
      <SecretOnce secret={secret} title="The signing secret" onDone={() => setSecret(null)} />
    </>
  );
}

interface FormProps {
  org: string;
  onClose: () => void;
  onCreated: (created: Schemas['CreatedChannel'], hasPolicy: boolean) => void;
}

function Form({ org, onClose, onCreated }: FormProps): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [kind, setKind] = useState<'webhook' | 'email'>('webhook');
  const [destination, setDestination] = useState('');
  const [hasPolicy, setHasPolicy] = useState(true);
  const create = useCreateChannel(org, idempotencyKey, (created) => onCreated(created, hasPolicy));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ channel_type: kind, destination: destination.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <SegmentedControl
          aria-label="Kind"
          data={[
            { value: 'webhook', label: 'Webhook' },
            { value: 'email', label: 'E-mail' },
          ]}
          value={kind}
          onChange={(value) => setKind(value === 'email' ? 'email' : 'webhook')}
        />
        <TextInput
          label={kind === 'webhook' ? 'Address' : 'E-mail address'}
          description={
            kind === 'webhook'
              ? 'On the public Internet; each call is signed'
              : 'It gets a link to confirm first'
          }
          placeholder={kind === 'webhook' ? 'https://' : ''}
          data-autofocus
          error={create.error?.fields.destination}
          value={destination}
          onChange={({ currentTarget }) => setDestination(currentTarget.value)}
        />
        <Checkbox
          label="Send it an alert when spend is at 80% of a cap"
          description="Other events are added as policies"
          checked={hasPolicy}
          onChange={({ currentTarget }) => setHasPolicy(currentTarget.checked)}
        />
        <FormFailure failure={create.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Add channel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
