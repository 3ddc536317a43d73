import { Alert, Badge, Button, Code, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { figureOf } from '../api/figure-of.js';
import { METRIC_WORDS, SCOPE_WORDS } from '../format/limit-words.js';
import { formatPrice } from '../format/money.js';
import { Money } from '../shell/money.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { Empty } from '../shell/states.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { DataTable, type Column } from '../table/data-table.js';
import { KeyChoice } from './key-choice.js';
import { useSimulation, type Check, type Simulation } from './limits.queries.js';

export default function SimulatePage(): ReactNode {
  const simulation = useSimulation();
  return (
    <>
      <PageHead
        title="Limits simulator"
        about="What a request would get, and which limit decides it: the gateway’s own admission, without counting."
      />
      <SimpleGrid cols={{ base: 1, md: 2 }} mb="lg">
        <Panel title="The request">
          <Form
            isPending={simulation.isPending}
            onAsk={(body) => simulation.mutate(body)}
            fields={simulation.error?.fields ?? {}}
          />
        </Panel>
        <Stack>
          {simulation.isIdle && (
            <Empty>The verdict appears here: which limit blocks the request, and its price.</Empty>
          )}
          {simulation.error !== null && <ProblemCard failure={simulation.error} />}
          {simulation.isSuccess && <Verdict simulation={simulation.data} />}
        </Stack>
      </SimpleGrid>
      {simulation.isSuccess && simulation.data.checks.length > 0 && (
        <Panel title="Checks, in their order">
          <DataTable
            label="Checks"
            columns={COLUMNS}
            rows={simulation.data.checks}
            rowKey={({ scope, scope_id: id, metric, counter }) => [scope, id, metric, counter].join()}
          />
        </Panel>
      )}
    </>
  );
}

interface FormProps {
  isPending: boolean;
  onAsk: (body: { key_id: string; model: string; prompt_tokens: number; max_tokens: number }) => void;
  fields: Readonly<Record<string, string>>;
}

interface Draft {
  key_id: string | null;
  model: string;
  prompt: string;
  max: string;
}

/**
 * Form whose submitted values are in the URL: a copied link asks the same. What is being typed does not, which would
 * lag behind the keys.
 */
function Form({ isPending, onAsk, fields }: FormProps): ReactNode {
  const [url, change] = useParamsOfUrl();
  const [draft, setDraft] = useState<Draft>({
    key_id: url.key_id ?? null,
    model: url.model ?? '',
    prompt: url.prompt ?? '1000',
    max: url.max ?? '1000',
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change({ ...draft });
    onAsk({
      key_id: draft.key_id ?? '',
      model: draft.model.trim(),
      prompt_tokens: figureOf(draft.prompt),
      max_tokens: figureOf(draft.max),
    });
  };
  const field = (name: 'model' | 'prompt' | 'max', label: string, error: string | undefined): ReactNode => (
    <TextInput
      label={label}
      error={error}
      value={draft[name]}
      onChange={({ currentTarget }) => setDraft({ ...draft, [name]: currentTarget.value })}
    />
  );
  return (
    <form onSubmit={submit}>
      <Stack>
        <KeyChoice
          value={draft.key_id}
          onChange={(key) => setDraft({ ...draft, key_id: key })}
          error={fields.key_id}
        />
        {field('model', 'Model', fields.model)}
        <Group grow align="flex-start">
          {field('prompt', 'Input tokens', fields.prompt_tokens)}
          {field('max', 'Max output tokens', fields.max_tokens)}
        </Group>
        <Group justify="flex-end">
          <Button type="submit" loading={isPending}>
            Simulate
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Verdict({ simulation }: { simulation: Simulation }): ReactNode {
  const { admitted, code, price_usd: price, reserve_usd: reserve } = simulation;
  return (
    <>
      <Alert color={admitted ? 'green' : 'red'} title={admitted ? 'Allowed' : 'Blocked'} role="status">
        {code === null ? 'No limit blocks this request.' : <Code>{code}</Code>}
      </Alert>
      <Panel>
        <Group justify="space-between">
          <Text size="sm">Highest list price</Text>
          <Money usd={price} isPrice none="no route serves it" />
        </Group>
        <Group justify="space-between">
          <Text size="sm">Reserved while it runs</Text>
          <Money usd={reserve} isPrice none="nothing" />
        </Group>
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Check>[] = [
  { name: 'Scope', cell: ({ scope }) => SCOPE_WORDS[scope] },
  {
    name: 'Limit of',
    cell: ({ metric, counter }) => {
      const words = METRIC_WORDS[metric];
      return counter === null ? words : `${words}, ${counter}`;
    },
  },
  { name: 'Used', isFigure: true, cell: ({ current }) => figure(current) },
  { name: 'Limit', isFigure: true, cell: ({ limit }) => figure(limit) },
  {
    name: 'Verdict',
    cell: ({ refuses }) => (
      <Badge variant="light" color={refuses ? 'red' : 'green'}>
        {refuses ? 'blocks' : 'passes'}
      </Badge>
    ),
  },
];

/** Money comes as text, counts as numbers. */
function figure(value: number | string): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : formatPrice(value);
}
