import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useIsBilled } from '../session/me.queries.js';
import { FormFailure } from '../shell/form-failure.js';
import { useCreatePolicy, type Channel } from './alerts.queries.js';
import { EVENT_WORDS, type EventType } from '../format/event-words.js';

/** Thresholds of the events that take one. */
const THRESHOLDS: Partial<Record<EventType, 'usd' | 'pct'>> = {
  'balance.low': 'usd',
  'spend_cap.approaching': 'pct',
  'rate_limit.threshold': 'pct',
};

/** Every event, by name. */
const EVENTS = Object.entries(EVENT_WORDS).map(([value, label]) => ({ value: value as EventType, label }));
const OF_WALLET = /^(balance|payment|auto_recharge)\./;
/** Events that come where billing is off. */
const UNBILLED_EVENTS = EVENTS.filter(({ value }) => !OF_WALLET.test(value));

interface AddPolicyProps {
  org: string;
  channels: readonly Channel[];
  isOpen: boolean;
  onClose: () => void;
}

export function AddPolicy({ isOpen, ...rest }: AddPolicyProps): ReactNode {
  return (
    <Modal opened={isOpen} onClose={rest.onClose} title="Add a policy">
      <Form {...rest} />
    </Modal>
  );
}

function Form({ org, channels, onClose }: Omit<AddPolicyProps, 'isOpen'>): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const events = useIsBilled() ? EVENTS : UNBILLED_EVENTS;
  const [chosen, setChosen] = useState<EventType | null>(null);
  const event = chosen ?? events[0].value;
  const [channel, setChannel] = useState(channels[0]?.id ?? '');
  const [threshold, setThreshold] = useState('');
  const create = useCreatePolicy(org, idempotencyKey);
  const kind = THRESHOLDS[event];
  const fields = create.error?.fields ?? {};
  const submit = (pressed: FormEvent): void => {
    pressed.preventDefault();
    const limit =
      kind === 'usd'
        ? { threshold_usd: threshold.trim() }
        : kind === 'pct'
          ? { threshold_pct: figureOf(threshold) }
          : {};
    create.mutate({ channel_id: channel, alert_type: event, ...limit }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select
          label="Event"
          data={events}
          allowDeselect={false}
          searchable
          error={fields.alert_type}
          value={event}
          onChange={setChosen}
        />
        {kind !== undefined && (
          <TextInput
            label={kind === 'usd' ? 'Below, USD' : 'From, percent'}
            inputMode="decimal"
            error={fields.threshold_usd ?? fields.threshold_pct}
            value={threshold}
            onChange={({ currentTarget }) => setThreshold(currentTarget.value)}
          />
        )}
        <Select
          label="Goes to"
          data={channels.map(({ id, destination }) => ({ value: id, label: destination }))}
          allowDeselect={false}
          error={fields.channel_id}
          value={channel}
          onChange={(value) => setChannel(value ?? '')}
        />
        <FormFailure failure={create.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Add policy
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
