import { Menu, Modal, Stack, TextInput } from '@mantine/core';
import { lazy, Suspense, useState, type FormEvent, type ReactNode } from 'react';
import { dayStart } from '../format/time.js';
import { ChangeMenu, PauseItem } from '../shell/change-menu.js';
import { Confirm } from '../shell/confirm.js';
import { FormEnd } from '../shell/form-end.js';
import {
  useChangeBudget,
  useDeleteBudget,
  useEndRaise,
  useRaiseBudget,
  type PeriodBudget,
} from './period-budgets.queries.js';

const EditBudget = lazy(async () => ({ default: (await import('./period-budget-form.js')).EditBudget }));

type Opened = 'edit' | 'raise' | 'delete' | null;

/** Menu of a budget. */
export function PeriodBudgetActions({ budget }: { budget: PeriodBudget }): ReactNode {
  const [opened, open] = useState<Opened>(null);
  const { name, is_enabled: isOn, raise, scope } = budget;
  const change = useChangeBudget(budget);
  const endRaise = useEndRaise(budget);
  const deletion = useDeleteBudget(budget);
  const close = (): void => open(null);
  return (
    <Stack gap="xs">
      <ChangeMenu
        name={name}
        isLoading={change.isPending || endRaise.isPending}
        failure={change.error ?? endRaise.error}
      >
        <Menu.Item onClick={() => open('edit')}>Edit</Menu.Item>
        <Menu.Item onClick={() => open('raise')}>Raise for a time</Menu.Item>
        {raise !== null && <Menu.Item onClick={() => endRaise.mutate()}>End the raise</Menu.Item>}
        <PauseItem name={name} isOn={isOn} write={change} />
        <Menu.Item color="red" onClick={() => open('delete')}>
          Delete
        </Menu.Item>
      </ChangeMenu>
      <Modal opened={opened === 'edit'} onClose={close} title={`Edit ${name}`}>
        <Suspense>
          <EditBudget budget={budget} onClose={close} />
        </Suspense>
      </Modal>
      <Modal opened={opened === 'raise'} onClose={close} title={`Raise ${name}`}>
        <Raise budget={budget} onClose={close} />
      </Modal>
      <Confirm
        title={`Delete ${name}`}
        about={
          scope === 'provider'
            ? 'It no longer keeps requests from the provider, and warns of nothing. Other budgets stay.'
            : 'Requests are no longer blocked by it. Spend caps and other budgets stay.'
        }
        action="Delete"
        isOpen={opened === 'delete'}
        onClose={close}
        write={deletion}
        onConfirm={() => deletion.mutate(undefined, { onSuccess: close })}
      />
    </Stack>
  );
}

function Raise({ budget, onClose }: { budget: PeriodBudget; onClose: () => void }): ReactNode {
  const raise = useRaiseBudget(budget);
  const [by, setBy] = useState('');
  const [day, setDay] = useState('');
  const fields = raise.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // The day itself is a part of it.
    const until = dayStart(day, budget.time_zone ?? 'UTC', 1) ?? '';
    raise.mutate({ by_usd: by.trim(), until }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Add, USD"
          inputMode="decimal"
          required
          data-autofocus
          error={fields.by_usd}
          value={by}
          onChange={({ currentTarget }) => setBy(currentTarget.value)}
        />
        <TextInput
          label="Last day"
          description={`In ${budget.time_zone ?? 'UTC'}, at most 366 days ahead`}
          type="date"
          required
          error={fields.until}
          value={day}
          onChange={({ currentTarget }) => setDay(currentTarget.value)}
        />
        <FormEnd write={raise} action="Raise" />
      </Stack>
    </form>
  );
}
