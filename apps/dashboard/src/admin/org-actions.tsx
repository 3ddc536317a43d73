import { Button, Group, Modal, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { formatUsd } from '../format/money.js';
import { useIsBilled } from '../session/me.queries.js';
import { FormEnd } from '../shell/form-end.js';
import { useChangeTerms, useGiveCredit, useSetDiscount, type Org } from './admin.queries.js';

const TIERS = ['standard', 'enterprise', 'platform'] as const;
type Opened = 'terms' | 'credit' | 'discount' | null;

export function OrgActions({ org }: { org: Org }): ReactNode {
  const [opened, setOpened] = useState<Opened>(null);
  const isBilled = useIsBilled();
  const close = (): void => setOpened(null);
  const action = (name: Exclude<Opened, null>, label: string): ReactNode => (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${label} of ${org.name}`}
      onClick={() => setOpened(name)}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="xs" wrap="nowrap">
      {action('terms', 'Terms')}
      {isBilled && action('credit', 'Credit')}
      {action('discount', 'Discount')}
      <Modal opened={opened === 'terms'} onClose={close} title={`Terms of ${org.name}`}>
        <Terms org={org} onClose={close} />
      </Modal>
      <Modal opened={opened === 'credit'} onClose={close} title={`Credit for ${org.name}`}>
        <Credit org={org} />
      </Modal>
      <Modal opened={opened === 'discount'} onClose={close} title={`Discount of ${org.name}`}>
        <Discount org={org} />
      </Modal>
    </Group>
  );
}

function Terms({ org, onClose }: { org: Org; onClose: () => void }): ReactNode {
  const [tier, setTier] = useState<string>(org.tier);
  const [ceiling, setCeiling] = useState(org.credit_limit_usd ?? '');
  const change = useChangeTerms(org.id);
  const isBilled = useIsBilled();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const limit = ceiling.trim();
    const terms = {
      tier: TIERS.find((one) => one === tier),
      ...(isBilled && { credit_limit_usd: limit === '' ? null : limit }),
    };
    change.mutate(terms, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select
          label="Tier"
          data={TIERS}
          allowDeselect={false}
          value={tier}
          error={change.error?.fields.tier}
          onChange={(value) => setTier(value ?? org.tier)}
        />
        {isBilled && (
          <TextInput
            label="Credit limit, USD"
            description="How far below zero its balance may go; empty = any amount"
            inputMode="decimal"
            error={change.error?.fields.credit_limit_usd}
            value={ceiling}
            onChange={({ currentTarget }) => setCeiling(currentTarget.value)}
          />
        )}
        <FormEnd write={change} action="Save" draft={{ tier, ceiling }} />
      </Stack>
    </form>
  );
}

/** The key of the form makes a credit that is sent twice one. */
function Credit({ org }: { org: Org }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const give = useGiveCredit(idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    give.mutate({ org_id: org.id, amount_usd: amount.trim(), reason: reason.trim() });
  };
  if (give.isSuccess)
    return (
      <Text role="status" size="sm">
        {formatUsd(give.data.amount_usd)} credited. The balance is {formatUsd(give.data.balance_after)} now.
      </Text>
    );
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Amount, USD"
          inputMode="decimal"
          required
          data-autofocus
          error={give.error?.fields.amount_usd}
          value={amount}
          onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        />
        <TextInput
          label="Reason"
          description="The organization reads it in its ledger"
          required
          error={give.error?.fields.reason}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <FormEnd write={give} action="Give credit" />
      </Stack>
    </form>
  );
}

function Discount({ org }: { org: Org }): ReactNode {
  const [pct, setPct] = useState('');
  const [models, setModels] = useState<string[]>([]);
  const set = useSetDiscount(org.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate({ pct: pct.trim(), ...(models.length === 0 ? {} : { models }) });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Percent of the list price"
          description="It takes the place of the one before; 0 ends it"
          inputMode="decimal"
          required
          data-autofocus
          error={set.error?.fields.pct}
          value={pct}
          onChange={({ currentTarget }) => setPct(currentTarget.value)}
        />
        <TagsInput
          label="Allowed models"
          description="An id, or brand/* for all of a brand; empty = every model"
          error={set.error?.fields.models}
          value={models}
          onChange={setModels}
        />
        <FormEnd
          write={set}
          action="Save"
          said={set.isSuccess ? `${set.data.pct} % from the next request on` : ''}
        />
      </Stack>
    </form>
  );
}
