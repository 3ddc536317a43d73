import { SimpleGrid, TagsInput, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';

/** The figures and model lists of a key or an organization, as text. */
export interface LimitDraft {
  spend_cap_usd: string;
  rpm_limit: string;
  rpd_limit: string;
  tpm_limit: string;
  allowed_models: string[];
  blocked_models: string[];
}

type LimitRecord = Record<'rpm_limit' | 'rpd_limit' | 'tpm_limit', number | null> & {
  spend_cap_usd: string | null;
  allowed_models: string[] | null;
  blocked_models: string[] | null;
};

export function limitDraftOf(record: LimitRecord): LimitDraft {
  const text = (value: number | null): string => (value === null ? '' : String(value));
  return {
    spend_cap_usd: record.spend_cap_usd ?? '',
    rpm_limit: text(record.rpm_limit),
    rpd_limit: text(record.rpd_limit),
    tpm_limit: text(record.tpm_limit),
    allowed_models: record.allowed_models ?? [],
    blocked_models: record.blocked_models ?? [],
  };
}

/** Returns only the differences; an emptied field is cleared. */
export function limitChangeOf(before: LimitDraft, after: LimitDraft): Partial<LimitRecord> {
  const change: Partial<LimitRecord> = {};
  const cap = after.spend_cap_usd.trim();
  if (cap !== before.spend_cap_usd) change.spend_cap_usd = cap === '' ? null : cap;
  for (const field of ['rpm_limit', 'rpd_limit', 'tpm_limit'] as const) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : figureOf(value);
  }
  for (const field of ['allowed_models', 'blocked_models'] as const) {
    const values = after[field];
    if (values.join('\n') !== before[field].join('\n')) change[field] = values.length === 0 ? null : values;
  }
  return change;
}

const COUNTS = [
  { field: 'rpm_limit', label: 'Requests a minute' },
  { field: 'rpd_limit', label: 'Requests a day' },
  { field: 'tpm_limit', label: 'Tokens a minute' },
] as const;

interface LimitFieldsProps {
  draft: LimitDraft;
  onChange: (change: Partial<LimitDraft>) => void;
  capLabel: string;
  /** Messages of the gateway by field of the draft. */
  errors: Readonly<Record<string, string>>;
}

export function LimitFields({ draft, onChange, capLabel, errors }: LimitFieldsProps): ReactNode {
  const figure = (
    field: 'spend_cap_usd' | (typeof COUNTS)[number]['field'],
    label: string,
    inputMode: 'decimal' | 'numeric',
  ): ReactNode => (
    <TextInput
      key={field}
      label={label}
      placeholder="not set"
      inputMode={inputMode}
      error={errors[field]}
      value={draft[field]}
      onChange={({ currentTarget }) => onChange({ [field]: currentTarget.value })}
    />
  );
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {figure('spend_cap_usd', capLabel, 'decimal')}
        {COUNTS.map(({ field, label }) => figure(field, label, 'numeric'))}
      </SimpleGrid>
      <TagsInput
        label="Allowed models"
        description="An id, or brand/* for all of a brand; empty = every model"
        error={errors.allowed_models}
        value={draft.allowed_models}
        onChange={(models) => onChange({ allowed_models: models })}
      />
      <TagsInput
        label="Blocked models"
        error={errors.blocked_models}
        value={draft.blocked_models}
        onChange={(models) => onChange({ blocked_models: models })}
      />
    </>
  );
}
