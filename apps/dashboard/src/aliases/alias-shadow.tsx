import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import type { Schemas } from '../api/schemas.js';
import { count, milliseconds } from '../format/time.js';
import { FormEnd } from '../shell/form-end.js';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useSaveShadow, useShadowTotals, type Alias } from './aliases.queries.js';
import { ModelChoice } from './model-choice.js';

/** Button of a super admin that opens the shadow of an alias. */
export function AliasShadow({ alias }: { alias: Alias }): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open} aria-label={`Shadow of ${alias.name}`}>
        Shadow
      </Button>
      <Modal opened={isOpen} onClose={close} size="xl" title={`Shadow of ${alias.name}`}>
        <Stack gap="lg">
          <ShadowForm alias={alias} onClose={close} />
          <Comparison id={alias.id} />
        </Stack>
      </Modal>
    </>
  );
}

function ShadowForm({ alias: { id, shadow }, onClose }: { alias: Alias; onClose: () => void }): ReactNode {
  const [model, setModel] = useState(shadow?.model ?? '');
  const [pct, setPct] = useState(String(shadow?.sample_pct ?? 1));
  const save = useSaveShadow(id);
  const fields = save.error?.fields ?? {};
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ model, sample_pct: figureOf(pct) }, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          A sample of the requests goes to a second model, too, once the caller has its answer. The platform
          pays for it.
        </Text>
        <Group gap="xs" wrap="nowrap" align="flex-end">
          <ModelChoice
            label="Second model"
            model={model}
            error={fields['shadow.model']}
            onChange={setModel}
          />
          <TextInput
            label="Percent of requests"
            inputMode="decimal"
            w={160}
            error={fields['shadow.sample_pct']}
            value={pct}
            onChange={({ currentTarget }) => setPct(currentTarget.value)}
          />
        </Group>
        {shadow !== null && (
          <Group>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              onClick={() => save.mutate(null, { onSuccess: onClose })}
            >
              Remove the shadow
            </Button>
          </Group>
        )}
        <FormEnd write={save} action="Save" isDisabled={model === ''} draft={{ model, pct }} />
      </Stack>
    </form>
  );
}

type Side = Schemas['ShadowTotals'] & { name: string };

const COLUMNS: readonly Column<Side>[] = [
  { name: 'Of 30 days', cell: ({ name }) => name },
  { name: 'Requests', isFigure: true, cell: ({ requests }) => count(requests) },
  { name: 'Failed', isFigure: true, cell: ({ errors }) => count(errors) },
  { name: 'Latency p50', isFigure: true, cell: ({ latency_ms: ms }) => milliseconds(ms) },
  { name: 'First token p50', isFigure: true, cell: ({ ttft_ms: ms }) => milliseconds(ms) },
  { name: 'Output tokens', isFigure: true, cell: ({ completion_tokens: tokens }) => count(tokens) },
  { name: 'Cost', isFigure: true, cell: ({ cost_usd: usd }) => <Money usd={usd ?? '0'} /> },
];

/** Sums of what callers were answered, beside those of the shadows. */
function Comparison({ id }: { id: string }): ReactNode {
  const totals = useShadowTotals(id);
  if (totals.isPending) return <Loading height={36} rows={2} />;
  if (totals.isError) return <ProblemCard failure={totals.error} retry={() => void totals.refetch()} />;
  const { primary, shadow } = totals.data;
  const rows: Side[] = [
    { name: 'Answers', ...primary },
    { name: 'Shadow', ...shadow },
  ];
  return (
    <DataTable label="Comparison" columns={COLUMNS} rows={rows} rowKey={({ name }) => name} minWidth={640} />
  );
}
