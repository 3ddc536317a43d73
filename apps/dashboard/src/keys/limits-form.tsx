import { Button, Group, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ProblemCard } from '../shell/problem-card.js';
import { useChangeKey, type Key, type KeyChange } from './keys.queries.js';

/** What can be edited, as text. */
interface Draft {
  label: string;
  rpm: string;
  rpd: string;
  tpm: string;
  spend_cap_usd: string;
  allowed_models: string[];
  blocked_models: string[];
}

function draftOf(record: Key): Draft {
  const text = (value: number | null): string => (value === null ? '' : String(value));
  return {
    label: record.label ?? '',
    rpm: text(record.rpm_limit),
    rpd: text(record.rpd_limit),
    tpm: text(record.tpm_limit),
    spend_cap_usd: record.spend_cap_usd ?? '',
    allowed_models: record.allowed_models ?? [],
    blocked_models: record.blocked_models ?? [],
  };
}

/** Only what differs is sent; what was emptied is cleared. */
export function changeOf(before: Draft, after: Draft): KeyChange {
  const change: KeyChange = {};
  for (const field of ['label', 'spend_cap_usd'] as const) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : value;
  }
  for (const field of ['rpm', 'rpd', 'tpm'] as const) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : Number(value);
  }
  for (const field of ['allowed_models', 'blocked_models'] as const) {
    const values = after[field];
    if (values.join('\n') !== before[field].join('\n')) change[field] = values.length === 0 ? null : values;
  }
  return change;
}

const FIGURES = [
  { field: 'spend_cap_usd', label: 'Spend cap, USD', inputMode: 'decimal' },
  { field: 'rpm', label: 'Requests a minute', inputMode: 'numeric' },
  { field: 'rpd', label: 'Requests a day', inputMode: 'numeric' },
  { field: 'tpm', label: 'Tokens a minute', inputMode: 'numeric' },
] as const;

export function LimitsForm({ record }: { record: Key }): ReactNode {
  const [before] = useState(() => draftOf(record));
  const [draft, setDraft] = useState(before);
  const save = useChangeKey(record.id);
  const change = changeOf(before, draft);
  const isChanged = Object.keys(change).length > 0;
  const fields = save.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(change);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Label"
          error={fields.label}
          value={draft.label}
          onChange={({ currentTarget }) => setDraft({ ...draft, label: currentTarget.value })}
        />
        <SimpleGrid cols={2} spacing="sm">
          {FIGURES.map(({ field, label, inputMode }) => (
            <TextInput
              key={field}
              label={label}
              placeholder="not set"
              inputMode={inputMode}
              error={fields[field]}
              value={draft[field]}
              onChange={({ currentTarget }) => setDraft({ ...draft, [field]: currentTarget.value })}
            />
          ))}
        </SimpleGrid>
        <TagsInput
          label="Only these models"
          description="An id, or brand/* for all of a brand; empty = every model"
          error={fields.allowed_models}
          value={draft.allowed_models}
          onChange={(models) => setDraft({ ...draft, allowed_models: models })}
        />
        <TagsInput
          label="Never these models"
          error={fields.blocked_models}
          value={draft.blocked_models}
          onChange={(models) => setDraft({ ...draft, blocked_models: models })}
        />
        {save.error !== null && <ProblemCard failure={save.error} />}
        <Group justify="flex-end">
          <Text size="sm" role="status" c="dimmed">
            {save.isSuccess && !isChanged ? 'Saved. It holds for the next request.' : ''}
          </Text>
          <Button type="submit" disabled={!isChanged} loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
