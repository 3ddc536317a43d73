import { Button, Group, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { CopyText } from '../shell/copy-text.js';
import { useChangeOrg, useOrgRecord, type Org } from './settings.queries.js';

export default function SettingsPage(): ReactNode {
  const { id } = useOrg();
  const org = useOrgRecord(id ?? '');
  return (
    <>
      <PageHead title="Settings" about={<CopyText text={id ?? ''} label="organization id" />} />
      {org.isPending && <Loading height={320} />}
      {org.isError && <ProblemCard failure={org.error} retry={() => void org.refetch()} />}
      {org.isSuccess && (
        <Stack maw={760}>
          <Panel title="Organization">
            <OrgForm key={org.data.updated_at} org={org.data} />
          </Panel>
          <Panel title="Set by the platform">
            <Text size="sm" component="div">
              Tier {org.data.tier}; the balance may go below zero by{' '}
              <Money usd={org.data.credit_limit_usd} none="any amount" />.
            </Text>
          </Panel>
        </Stack>
      )}
    </>
  );
}

const FIGURES = [
  { field: 'spend_cap_usd', label: 'Spend cap of 30 days, USD', inputMode: 'decimal' },
  { field: 'rpm_limit', label: 'Requests a minute', inputMode: 'numeric' },
  { field: 'rpd_limit', label: 'Requests a day', inputMode: 'numeric' },
  { field: 'tpm_limit', label: 'Tokens a minute', inputMode: 'numeric' },
] as const;

type Draft = Record<'name' | 'default_api_version' | (typeof FIGURES)[number]['field'], string> & {
  allowed_models: string[];
  blocked_models: string[];
};

function draftOf(org: Org): Draft {
  const text = (value: number | string | null): string => (value === null ? '' : String(value));
  return {
    name: org.name,
    default_api_version: text(org.default_api_version),
    spend_cap_usd: text(org.spend_cap_usd),
    rpm_limit: text(org.rpm_limit),
    rpd_limit: text(org.rpd_limit),
    tpm_limit: text(org.tpm_limit),
    allowed_models: org.allowed_models ?? [],
    blocked_models: org.blocked_models ?? [],
  };
}

/** Only what differs is sent; what was emptied is cleared. */
export function changeOf(before: Draft, after: Draft): Schemas['UpdateOrgBody'] {
  const change: Schemas['UpdateOrgBody'] = {};
  if (after.name.trim() !== before.name) change.name = after.name.trim();
  for (const field of ['default_api_version', 'spend_cap_usd'] as const) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : value;
  }
  for (const field of ['rpm_limit', 'rpd_limit', 'tpm_limit'] as const) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : Number(value);
  }
  for (const field of ['allowed_models', 'blocked_models'] as const) {
    const values = after[field];
    if (values.join('\n') !== before[field].join('\n')) change[field] = values.length === 0 ? null : values;
  }
  return change;
}

function OrgForm({ org }: { org: Org }): ReactNode {
  const [before] = useState(() => draftOf(org));
  const [draft, setDraft] = useState(before);
  const save = useChangeOrg(org.id);
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
          label="Name"
          required
          error={fields.name}
          value={draft.name}
          onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
        <TextInput
          label="API version of new keys"
          description="YYYY-MM; empty = the newest"
          error={fields.default_api_version}
          value={draft.default_api_version}
          onChange={({ currentTarget }) => setDraft({ ...draft, default_api_version: currentTarget.value })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
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
          <Button type="submit" disabled={!isChanged} loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
