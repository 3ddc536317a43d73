import { Button, Group, Modal, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { payingOrg } from '../api/asked-org.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { formatUsd } from '../format/money.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useCheckout, useRedeem } from './billing.queries.js';

interface AddCreditProps {
  isOpen: boolean;
  onClose: () => void;
}

/** Form for credit by card, at the payment provider's page, or by a coupon. */
export function AddCredit({ isOpen, onClose }: AddCreditProps): ReactNode {
  const [by, setBy] = useState('card');
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add credit">
      <Stack>
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'card', label: 'By card' },
            { value: 'coupon', label: 'By coupon' },
          ]}
          value={by}
          onChange={setBy}
        />
        {by === 'card' ? <ByCard onClose={onClose} /> : <ByCoupon onClose={onClose} />}
      </Stack>
    </Modal>
  );
}

function ByCard({ onClose }: { onClose: () => void }): ReactNode {
  const { id } = useOrg();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [amount, setAmount] = useState('');
  const checkout = useCheckout(idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = { amount_usd: amount.trim(), ...payingOrg(id) };
    checkout.mutate(body, { onSuccess: (url) => location.assign(url) });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Amount, USD"
          description="The next page is the payment provider’s: the gateway never sees the card"
          data-autofocus
          required
          inputMode="decimal"
          placeholder="50.00"
          error={checkout.error?.fields.amount_usd}
          value={amount}
          onChange={({ currentTarget }) => setAmount(currentTarget.value)}
        />
        {checkout.error !== null && <ProblemCard failure={checkout.error} />}
        <Buttons onClose={onClose} label="Go to payment" isBusy={checkout.isPending} />
      </Stack>
    </form>
  );
}

function ByCoupon({ onClose }: { onClose: () => void }): ReactNode {
  const { id } = useOrg();
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [code, setCode] = useState('');
  const redeem = useRedeem(idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    redeem.mutate({ code: code.trim(), ...payingOrg(id) });
  };
  if (redeem.isSuccess) {
    const { amount_usd: amount, balance_after: after } = redeem.data;
    return (
      <Stack>
        <Text role="status">
          {formatUsd(amount)} were credited. The balance is {formatUsd(after)}.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Coupon code"
          data-autofocus
          required
          error={redeem.error?.fields.code}
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        {redeem.error !== null && <ProblemCard failure={redeem.error} />}
        <Buttons onClose={onClose} label="Redeem" isBusy={redeem.isPending} />
      </Stack>
    </form>
  );
}

function Buttons({
  onClose,
  label,
  isBusy,
}: {
  onClose: () => void;
  label: string;
  isBusy: boolean;
}): ReactNode {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      <Button type="submit" loading={isBusy}>
        {label}
      </Button>
    </Group>
  );
}
