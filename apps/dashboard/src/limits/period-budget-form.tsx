import { Group, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import type { Problem } from '../api/problem.js';
import { zonesWith } from '../format/zone.js';
import { useOwnZone } from '../session/me.queries.js';
import { FormEnd } from '../shell/form-end.js';
import { BudgetScope } from './budget-scope.js';
import {
  useChangeBudget,
  useCreateBudget,
  type BudgetChange,
  type NewBudget,
  type PeriodBudget,
} from './period-budgets.queries.js';

const PERIODS = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week, from Monday' },
  { value: 'month', label: 'Month' },
  { value: 'quarter', label: 'Quarter' },
] as const;
/** Choice for a budget that is rolling already. */
const ROLLING = { value: 'rolling', label: 'The last days' } as const;

type Draft = Required<Pick<NewBudget, 'name' | 'amount_usd' | 'period'>> & { time_zone: string };

export function CreateBudget({ org, onClose }: { org: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const zone = useOwnZone();
  const create = useCreateBudget(org, idempotencyKey);
  const [scope, setScope] = useState<NewBudget['scope']>('team');
  const [id, setId] = useState<string | null>(null);
  return (
    <BudgetFields
      first={{ name: '', amount_usd: '', period: 'month', time_zone: zone }}
      write={create}
      action="Create budget"
      onSubmit={(draft) => create.mutate({ ...draft, scope, scope_id: id ?? '' }, { onSuccess: onClose })}
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

export function EditBudget({ budget, onClose }: { budget: PeriodBudget; onClose: () => void }): ReactNode {
  const { name, amount_usd, period, time_zone } = budget;
  const change = useChangeBudget(budget.id);
  const first: Draft = { name, amount_usd, period, time_zone: time_zone ?? 'UTC' };
  return (
    <BudgetFields
      first={first}
      write={change}
      action="Save"
      onSubmit={(draft) => change.mutate(changeOf(first, draft), { onSuccess: onClose })}
    />
  );
}

/** Returns only the differences. */
function changeOf(before: Draft, after: Draft): BudgetChange {
  return {
    ...(after.name === before.name ? {} : { name: after.name }),
    ...(after.amount_usd === before.amount_usd ? {} : { amount_usd: after.amount_usd }),
    ...(after.period === before.period ? {} : { period: after.period }),
    ...(after.time_zone === before.time_zone ? {} : { time_zone: after.time_zone }),
  };
}

interface BudgetFieldsProps {
  first: Draft;
  write: { error: Problem | null; isPending: boolean };
  action: string;
  onSubmit: (draft: Draft) => void;
  /** Fields above the amount. */
  children?: ReactNode;
}

function BudgetFields({ first, write, action, onSubmit, children }: BudgetFieldsProps): ReactNode {
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
          description="Errors that it causes hold it"
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
            data={first.period === 'rolling' ? [...PERIODS, ROLLING] : PERIODS}
            allowDeselect={false}
            error={fields.period}
            value={draft.period}
            onChange={(period) => setDraft({ ...draft, period: period ?? draft.period })}
          />
        </Group>
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
        <FormEnd write={write} action={action} />
      </Stack>
    </form>
  );
}
