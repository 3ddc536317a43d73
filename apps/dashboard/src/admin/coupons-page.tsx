import { Button, Code, Modal, Stack, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { newIdempotencyKey } from '../api/idempotency.js';
import { count, dayStart } from '../format/time.js';
import { FormEnd } from '../shell/form-end.js';
import { Money } from '../shell/money.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { ROWS_A_PAGE, useCoupons, useCreateCoupon, type Coupon, type CouponBody } from './admin.queries.js';

const COLUMNS: readonly Column<Coupon>[] = [
  { name: 'Code', cell: ({ code }) => <Code>{code}</Code> },
  { name: 'Credits', isFigure: true, cell: ({ amount_usd: usd }) => <Money usd={usd} /> },
  {
    name: 'Redeemed',
    isFigure: true,
    cell: ({ redemptions, max_redemptions: most }) =>
      `${count(redemptions)} of ${most === null ? 'any number' : count(most)}`,
  },
  { name: 'Ends', cell: ({ expires_at: at }) => <When at={at} /> },
  { name: 'Made', cell: ({ created_at: at }) => <When at={at} /> },
];

export default function CouponsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const coupons = useCoupons(page);
  const create = (): void => change({ create: 'yes' });
  const close = (): void => change({ create: null });
  return (
    <>
      <PageHead title="Coupons" about="Each credits an account once.">
        <Button leftSection={<IconPlus size={16} />} onClick={create}>
          Create coupon
        </Button>
      </PageHead>
      {coupons.isPending && <Loading height={44} rows={4} />}
      {coupons.isError && <ProblemCard failure={coupons.error} retry={() => void coupons.refetch()} />}
      {coupons.data?.total === 0 && (
        <Empty action={{ label: 'Create coupon', run: create }}>There is no coupon yet.</Empty>
      )}
      {coupons.data !== undefined && coupons.data.total > 0 && (
        <>
          <DataTable label="Coupons" columns={COLUMNS} rows={coupons.data.data} rowKey={({ code }) => code} />
          <Pager
            page={page}
            rows={ROWS_A_PAGE}
            total={coupons.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
      <Modal opened={url.create === 'yes'} onClose={close} title="Create a coupon">
        <Form onCreated={close} />
      </Modal>
    </>
  );
}

const FIELDS = [
  { field: 'code', label: 'Code', description: '4 to 64 characters', inputMode: 'text', required: true },
  { field: 'amount_usd', label: 'Amount, USD', description: '', inputMode: 'decimal', required: true },
  {
    field: 'max_redemptions',
    label: 'Accounts that may redeem it',
    description: 'Empty = any number',
    inputMode: 'numeric',
    required: false,
  },
] as const;

/** The gateway reads a day as its first instant: what is good on its last day ends with it. */
export function bodyOfDraft(
  draft: Readonly<Record<'code' | 'amount_usd' | 'max_redemptions' | 'ends', string>>,
): CouponBody {
  const most = draft.max_redemptions.trim();
  return {
    code: draft.code.trim(),
    amount_usd: draft.amount_usd.trim(),
    ...(most === '' ? {} : { max_redemptions: figureOf(most) }),
    ...(draft.ends === '' ? {} : { expires_at: dayStart(draft.ends, 'UTC', 1) ?? draft.ends }),
  };
}

function Form({ onCreated }: { onCreated: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [draft, setDraft] = useState({ code: '', amount_usd: '', max_redemptions: '' });
  const [ends, setEnds] = useState('');
  const create = useCreateCoupon(idempotencyKey);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate(bodyOfDraft({ ...draft, ends }), { onSuccess: onCreated });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {FIELDS.map(({ field, label, description, inputMode, required }) => (
          <TextInput
            key={field}
            label={label}
            description={description}
            inputMode={inputMode}
            required={required}
            error={create.error?.fields[field]}
            value={draft[field]}
            onChange={({ currentTarget }) => setDraft({ ...draft, [field]: currentTarget.value })}
          />
        ))}
        <TextInput
          type="date"
          label="Ends"
          description="The last day, UTC; empty = never"
          error={create.error?.fields.expires_at}
          value={ends}
          onChange={({ currentTarget }) => setEnds(currentTarget.value)}
        />
        <FormEnd write={create} action="Create coupon" />
      </Stack>
    </form>
  );
}
