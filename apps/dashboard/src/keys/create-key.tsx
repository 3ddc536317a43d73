import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Schemas } from '../api/schemas.js';
import { useOrg } from '../shell/org.queries.js';
import { FormFailure } from '../shell/form-failure.js';
import { SecretOnce } from '../shell/secret-once.js';
import { useCreateKey, useKeyOwners } from './keys.queries.js';

const LIVES = [
  { value: '', label: 'Never' },
  { value: '1', label: 'In a day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
];
const DAY_MS = 86_400_000;

/** The dialog that makes a key, then shows its secret once. */
export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const { slug } = useOrg();
  return (
    <>
      <Modal opened={isOpen} onClose={onClose} title="Create an API key">
        <Form
          onCreated={(created) => {
            setSecret(created);
            onClose();
          }}
          onCancel={onClose}
        />
      </Modal>
      <SecretOnce
        secret={secret}
        title="Your new API key"
        onDone={() => setSecret(null)}
        next={{ label: 'First request', to: `/o/${slug}/start` }}
      />
    </>
  );
}

/** The fields as text: what is empty is not sent, and the gateway judges the rest. */
interface Draft {
  label: string;
  cap: string;
  rpm: string;
  days: string;
  team: string;
}

export function bodyOfDraft(draft: Draft, org: string | null, nowMs: number): Schemas['CreateKeyBody'] {
  return {
    ...(org === null ? {} : { org_id: org }),
    ...(draft.label.trim() === '' ? {} : { label: draft.label.trim() }),
    ...(draft.cap.trim() === '' ? {} : { spend_cap_usd: draft.cap.trim() }),
    ...(draft.team === '' ? {} : { team_id: draft.team }),
    ...(draft.rpm.trim() === '' ? {} : { rpm: figureOf(draft.rpm) }),
    ...(draft.days === '' ? {} : { expires_at: new Date(nowMs + Number(draft.days) * DAY_MS).toISOString() }),
  };
}

function Form({
  onCreated,
  onCancel,
}: {
  onCreated: (secret: string) => void;
  onCancel: () => void;
}): ReactNode {
  const org = useOrg();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [draft, setDraft] = useState<Draft>({ label: '', cap: '', rpm: '', days: '', team: '' });
  const create = useCreateKey(idempotencyKey, ({ key }) => onCreated(key ?? ''));
  const fields = create.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(bodyOfDraft(draft, org.id, Date.now()));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Label"
          description="What it is for, as usage breakdowns name it"
          data-autofocus
          error={fields.label}
          value={draft.label}
          onChange={({ currentTarget }) => setDraft({ ...draft, label: currentTarget.value })}
        />
        <Group grow align="flex-start">
          <TextInput
            label="Spend cap, USD"
            description="Of its whole life; empty = none"
            inputMode="decimal"
            error={fields.spend_cap_usd}
            value={draft.cap}
            onChange={({ currentTarget }) => setDraft({ ...draft, cap: currentTarget.value })}
          />
          <TextInput
            label="Requests a minute"
            description="Empty = the default"
            inputMode="numeric"
            error={fields.rpm}
            value={draft.rpm}
            onChange={({ currentTarget }) => setDraft({ ...draft, rpm: currentTarget.value })}
          />
        </Group>
        <TeamChoice
          error={fields.team_id}
          team={draft.team}
          onChange={(team) => setDraft({ ...draft, team })}
        />
        <Select
          label="Expires"
          data={LIVES}
          allowDeselect={false}
          value={draft.days}
          onChange={(days) => setDraft({ ...draft, days: days ?? '' })}
        />
        <FormFailure failure={create.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface TeamChoiceProps {
  error: ReactNode;
  team: string;
  onChange: (team: string) => void;
}

/** The team of a new key; nothing where there is no team. */
function TeamChoice({ error, team, onChange }: TeamChoiceProps): ReactNode {
  const { id: org } = useOrg();
  const teams = (useKeyOwners(org).data?.teams ?? []).filter(({ org_id: of }) => of === org);
  if (teams.length === 0) return null;
  return (
    <Select
      label="Team"
      data={[{ value: '', label: 'No team' }, ...teams.map(({ id, name }) => ({ value: id, label: name }))]}
      allowDeselect={false}
      searchable
      error={error}
      value={team}
      onChange={(value) => onChange(value ?? '')}
    />
  );
}
