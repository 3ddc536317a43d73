import { Group, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Problem } from '../api/problem.js';
import { zonesWith } from '../format/zone.js';
import { useOwnZone } from '../session/me.queries.js';
import { FormEnd } from '../shell/form-end.js';
import { BudgetScope } from './budget-scope.js';
import {
  useBudgetProviders,
  useChangeBudget,
  useCreateBudget,
  useCreateProviderBudget,
  type BudgetChange,
  type NewBudget,
  type PeriodBudget,
} from './period-budgets.queries.js';

const PERIODS = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week, from Monday' },
  { value: 'month', label: 'Month' },
  { value: 'quarter', label: 'Quarter' },
  { value: 'rolling', label: 'The last days' },
] as const;

type Draft = Required<Pick<NewBudget, 'name' | 'amount_usd' | 'period'>> & {
  is_hard: boolean;
  /** Used by calendar periods. */
  time_zone: string;
  /** Figure that is used by the last days. */
  days: string;
  /** Percentages with commas between. */
  thresholds: string;
};

/** Words for what a budget does. */
interface Words {
  name: string;
  block: string;
  warnOnly: string;
  warn: string;
}

const AT_MOST_FIVE = 'At most five, such as 50, 80, 100; each once a period, to';
const OF_ORGANIZATION: Words = {
  name: 'Errors that it causes hold it',
  block: 'Block requests above it',
  warnOnly: 'Off: it warns only',
  warn: `${AT_MOST_FIVE} channels with a policy for it`,
};
const OF_PROVIDER: Words = {
  name: 'Warnings hold it; customers see neither it nor the provider',
  block: 'Send the provider no requests above it',
  warnOnly: 'Off: it warns only. Requests on provider keys of organizations neither count nor stop',
  warn: `${AT_MOST_FIVE} the organization that the deployment names for its alerts`,
};

/** Returns the members of a body, without those that another period has. */
function bodyOfDraft({ time_zone, days, thresholds, ...rest }: Draft) {
  return {
    ...rest,
    ...(rest.period === 'rolling' ? { rolling_days: figureOf(days) } : { time_zone }),
    thresholds_pct: thresholds
      .split(/[\s,;%]+/)
      .filter((text) => text !== '')
      .map(figureOf),
  };
}

function newDraft(zone: string): Draft {
  return {
    ...{ name: '', amount_usd: '', period: 'month', time_zone: zone },
    ...{ days: '30', is_hard: true, thresholds: '' },
  };
}

export function CreateBudget({ org, onClose }: { org: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const zone = useOwnZone();
  const create = useCreateBudget(org, idempotencyKey);
  const [scope, setScope] = useState<NewBudget['scope']>('team');
  const [id, setId] = useState<string | null>(null);
  return (
    <BudgetFields
      first={newDraft(zone)}
      words={OF_ORGANIZATION}
      write={create}
      action="Create budget"
      onSubmit={(draft) =>
        create.mutate({ ...bodyOfDraft(draft), scope, scope_id: id ?? '' }, { onSuccess: onClose })
      }
    >
      <BudgetScope
        org={org}
        scope={scope}
        id={id}
        onChange={(next, nextId) => {
          setScope(next);
          setId(nextId);
        }}
        error={create.error?.fields.scope_id}
      />
    </BudgetFields>
  );
}

/** Form of a budget for what the platform spends at a provider. */
export function CreateProviderBudget({ onClose }: { onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const zone = useOwnZone();
  const create = useCreateProviderBudget(idempotencyKey);
  const providers = useBudgetProviders();
  const [slug, setSlug] = useState<string | null>(null);
  return (
    <BudgetFields
      first={newDraft(zone)}
      words={OF_PROVIDER}
      write={create}
      action="Create budget"
      onSubmit={(draft) =>
        create.mutate(
          { ...bodyOfDraft(draft), scope: 'provider', scope_id: slug ?? '' },
          { onSuccess: onClose },
        )
      }
    >
      <Select
        label="Provider"
        searchable
        data={providers.map(({ slug: value, name }) => ({ value, label: name }))}
        error={create.error?.fields.scope_id}
        value={slug}
        onChange={setSlug}
      />
    </BudgetFields>
  );
}

export function EditBudget({ budget, onClose }: { budget: PeriodBudget; onClose: () => void }): ReactNode {
  const { name, amount_usd, period, time_zone, rolling_days, is_hard, thresholds_pct } = budget;
  const change = useChangeBudget(budget);
  const first: Draft = {
    ...{ name, amount_usd, period, is_hard, time_zone: time_zone ?? 'UTC' },
    ...{ days: String(rolling_days ?? 30), thresholds: thresholds_pct.join(', ') },
  };
  return (
    <BudgetFields
      first={first}
      words={budget.scope === 'provider' ? OF_PROVIDER : OF_ORGANIZATION}
      write={change}
      action="Save"
      onSubmit={(draft) => change.mutate(changeOf(first, draft), { onSuccess: onClose })}
    />
  );
}

/** Returns only the differences. */
function changeOf(before: Draft, after: Draft): BudgetChange {
  const had = new Map(Object.entries(bodyOfDraft(before)));
  const differs = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(had.get(name));
  return Object.fromEntries(Object.entries(bodyOfDraft(after)).filter(differs));
}

interface BudgetFieldsProps {
  first: Draft;
  words: Words;
  write: { error: Problem | null; isPending: boolean };
  action: string;
  onSubmit: (draft: Draft) => void;
  /** Fields above the amount. */
  children?: ReactNode;
}

function BudgetFields({ first, words, write, action, onSubmit, children }: BudgetFieldsProps): ReactNode {
  const [draft, setDraft] = useState(first);
  const fields = write.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit({ ...draft, name: draft.name.trim(), amount_usd: draft.amount_usd.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          description={words.name}
          required
          data-autofocus
          autoFocus
          error={fields.name}
          value={draft.name}
          onChange={({ currentTarget }) => setDraft({ ...draft, name: currentTarget.value })}
        />
        {children}
        <Group grow align="flex-start">
          <TextInput
            label="Amount, USD"
            inputMode="decimal"
            required
            error={fields.amount_usd}
            value={draft.amount_usd}
            onChange={({ currentTarget }) => setDraft({ ...draft, amount_usd: currentTarget.value })}
          />
          <Select
            label="Period"
            data={PERIODS}
            allowDeselect={false}
            error={fields.period}
            value={draft.period}
            onChange={(period) => setDraft({ ...draft, period: period ?? draft.period })}
          />
        </Group>
        {draft.period === 'rolling' ? (
          <TextInput
            label="Days"
            description="Each has 24 hours; 1 to 366"
            inputMode="numeric"
            required
            error={fields.rolling_days}
            value={draft.days}
            onChange={({ currentTarget }) => setDraft({ ...draft, days: currentTarget.value })}
          />
        ) : (
          <Select
            label="Time zone"
            description="A period is from midnight to midnight there"
            data={zonesWith(draft.time_zone)}
            searchable
            limit={60}
            allowDeselect={false}
            error={fields.time_zone}
            value={draft.time_zone}
            onChange={(zone) => setDraft({ ...draft, time_zone: zone ?? draft.time_zone })}
          />
        )}
        <Consequences draft={draft} words={words} fields={fields} onChange={setDraft} />
        <FormEnd write={write} action={action} />
      </Stack>
    </form>
  );
}

interface ConsequencesProps {
  draft: Draft;
  words: Words;
  fields: Readonly<Record<string, string>>;
  onChange: (draft: Draft) => void;
}

/** Fields for what happens above the amount, and on the way to it. */
function Consequences({ draft, words, fields, onChange }: ConsequencesProps): ReactNode {
  return (
    <>
      <Switch
        label={words.block}
        description={words.warnOnly}
        checked={draft.is_hard}
        onChange={({ currentTarget }) => onChange({ ...draft, is_hard: currentTarget.checked })}
      />
      <TextInput
        label="Warn at, percent"
        description={words.warn}
        error={fields.thresholds_pct}
        value={draft.thresholds}
        onChange={({ currentTarget }) => onChange({ ...draft, thresholds: currentTarget.value })}
      />
    </>
  );
}
