import { SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { payingOrg } from '../api/asked-org.js';
import { FormEnd } from '../shell/form-end.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { useAutoRecharge, useChangeAutoRecharge, type AutoRecharge } from './billing.queries.js';

const AMOUNTS = [
  { field: 'threshold_usd', label: 'When below, USD' },
  { field: 'amount_usd', label: 'Charge, USD' },
  { field: 'monthly_limit_usd', label: 'At most a month, USD' },
] as const;

/** Charges the saved card where the balance falls below a threshold. */
export function AutoRechargePanel(): ReactNode {
  const { id } = useOrg();
  const setting = useAutoRecharge(id);
  return (
    <Panel
      title="Automatic recharge"
      about="Charges the card of the last payment before the balance runs out."
    >
      {setting.isPending && <Loading height={80} />}
      {setting.isError && <ProblemCard failure={setting.error} retry={() => void setting.refetch()} />}
      {setting.isSuccess && <Form setting={setting.data} />}
    </Panel>
  );
}

function Form({ setting }: { setting: AutoRecharge }): ReactNode {
  const { id } = useOrg();
  const [isOn, setOn] = useState(setting.enabled);
  const [amounts, setAmounts] = useState({
    threshold_usd: setting.threshold_usd ?? '',
    amount_usd: setting.amount_usd ?? '',
    monthly_limit_usd: setting.monthly_limit_usd ?? '',
  });
  const save = useChangeAutoRecharge();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const sent = Object.fromEntries(
      Object.entries(amounts).map(([field, text]) => [field, text.trim() === '' ? null : text.trim()]),
    );
    save.mutate({ enabled: isOn, ...sent, ...payingOrg(id) });
  };
  if (!setting.has_payment_method && !setting.enabled) {
    return (
      <Text size="sm" c="dimmed">
        It can be turned on after the first payment by card.
      </Text>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Switch
          label="Recharge automatically"
          checked={isOn}
          onChange={({ currentTarget }) => setOn(currentTarget.checked)}
        />
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
          {AMOUNTS.map(({ field, label }) => (
            <TextInput
              key={field}
              label={label}
              inputMode="decimal"
              error={save.error?.fields[field]}
              value={amounts[field]}
              onChange={({ currentTarget }) => setAmounts({ ...amounts, [field]: currentTarget.value })}
            />
          ))}
        </SimpleGrid>
        <FormEnd write={save} action="Save" said={save.isSuccess ? 'Saved' : ''} draft={{ isOn, amounts }} />
      </Stack>
    </form>
  );
}
