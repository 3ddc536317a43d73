import { Anchor, Badge, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { throughput, uptime } from '../format/health.js';
import { count, milliseconds } from '../format/time.js';
import { CodeBlock } from '../shell/code-block.js';
import { CopyText } from '../shell/copy-text.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { flagsOf } from './compared.js';
import { useModel, useOffers, usePriceHistory, type Model, type Offer, type Step } from './models.queries.js';
import { mainRate, priceLines, stepStart, type PriceLine } from './price.js';
import { Successor } from './successor.js';

export default function ModelPage(): ReactNode {
  const { brand = '', name = '' }: { brand?: string; name?: string } = useParams({ strict: false });
  const path = { brand, name };
  const model = useModel(path);
  if (model.isPending) return <Loading height={120} rows={3} />;
  if (model.isError)
    return (
      <>
        <PageHead title="Model" />
        <ProblemCard failure={model.error} retry={() => void model.refetch()} />
      </>
    );
  return (
    <>
      <PageHead title={model.data.name} about={model.data.description} />
      <Stack gap="lg">
        <Facts model={model.data} />
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Panel title="Price" about="Of its cheapest provider, as you pay it.">
            <Price model={model.data} />
          </Panel>
          <Panel title="Call it">
            <CodeBlock code={snippet(model.data.id)} label="example" />
          </Panel>
        </SimpleGrid>
        <Panel title="Providers" about="Who serves it, each at its own price.">
          <Offers path={path} />
        </Panel>
        <Panel title="Price history">
          <History path={path} />
        </Panel>
      </Stack>
    </>
  );
}

function Facts({ model }: { model: Model }): ReactNode {
  const { slug } = useOrg();
  const flags = flagsOf(model);
  return (
    <Stack gap="xs">
      <CopyText text={model.id} label="model id" />
      <Text size="sm">
        {count(model.context_length)} tokens of context
        {model.max_output_tokens !== null && `, at most ${count(model.max_output_tokens)} of output`}. Takes{' '}
        {model.input_modalities.join(', ')}; answers in {model.output_modalities.join(', ')}.
      </Text>
      {!model.is_available && (
        <Text size="sm">
          No provider of it has a credential here, so it cannot be called yet.{' '}
          <Anchor component={Link} to={`/o/${slug}/provider-keys`} size="sm">
            Add a provider key
          </Anchor>
        </Text>
      )}
      {model.retires_at != null && (
        <Text size="sm">
          No provider serves it from {model.retires_at} on. <Successor of={model} />
        </Text>
      )}
      <Group gap={6}>
        {flags.map((flag) => (
          <Badge key={flag} variant="light">
            {flag}
          </Badge>
        ))}
      </Group>
    </Stack>
  );
}

const PRICE_COLUMNS: readonly Column<PriceLine>[] = [
  { name: 'What', cell: ({ label }) => label },
  { name: 'USD', isFigure: true, cell: ({ usd }) => <Money usd={usd} isPrice /> },
];

function Price({ model }: { model: Model }): ReactNode {
  const lines = priceLines(model.pricing);
  if (model.is_free || lines.length === 0)
    return <Empty>{model.is_free ? 'It is free.' : 'No rate is set.'}</Empty>;
  return (
    <DataTable
      label="Price"
      columns={PRICE_COLUMNS}
      rows={lines}
      rowKey={({ field }) => field}
      minWidth={280}
    />
  );
}

const OFFER_COLUMNS: readonly Column<Offer>[] = [
  { name: 'Provider', cell: ({ name }) => name },
  {
    name: 'Prompt, 1M',
    isFigure: true,
    cell: ({ pricing }) => <Money usd={mainRate(pricing, 'prompt_usd_per_1m')} isPrice none="–" />,
  },
  {
    name: 'Completion, 1M',
    isFigure: true,
    cell: ({ pricing }) => <Money usd={mainRate(pricing, 'completion_usd_per_1m')} isPrice none="–" />,
  },
  { name: 'Context', isFigure: true, cell: ({ context_length: context }) => count(context) },
  { name: 'Uptime, 30 min', isFigure: true, cell: ({ uptime_30m: share }) => uptime(share) },
  { name: 'Latency p50', isFigure: true, cell: ({ latency_p50_ms: ms }) => milliseconds(ms) },
  { name: 'Throughput p50', isFigure: true, cell: ({ throughput_p50: speed }) => throughput(speed) },
  {
    name: 'Data',
    cell: ({ regions, zero_retention: isZero }) =>
      [isZero && 'zero retention', ...regions].filter(Boolean).join(', ') || 'not known',
  },
];

function Offers({ path }: { path: { brand: string; name: string } }): ReactNode {
  const offers = useOffers(path);
  if (offers.isPending) return <Loading height={40} rows={2} />;
  if (offers.isError) return <ProblemCard failure={offers.error} retry={() => void offers.refetch()} />;
  if (offers.data.length === 0)
    return <Empty>It stands for other models and has no provider of its own.</Empty>;
  return (
    <DataTable
      label="Providers"
      columns={OFFER_COLUMNS}
      rows={offers.data}
      rowKey={({ provider }) => provider}
      minWidth={900}
    />
  );
}

const STEP_COLUMNS: readonly Column<Step>[] = [
  { name: 'From', cell: ({ effective_date: day }) => stepStart(day) },
  { name: 'Provider', cell: ({ provider }) => provider },
  {
    name: 'Prompt, 1M',
    isFigure: true,
    cell: ({ pricing }) => <Money usd={pricing.prompt_usd_per_1m ?? null} isPrice none="–" />,
  },
  {
    name: 'Completion, 1M',
    isFigure: true,
    cell: ({ pricing }) => <Money usd={pricing.completion_usd_per_1m ?? null} isPrice none="–" />,
  },
];

function History({ path }: { path: { brand: string; name: string } }): ReactNode {
  const steps = usePriceHistory(path);
  if (steps.isPending) return <Loading height={40} rows={2} />;
  if (steps.isError) return <ProblemCard failure={steps.error} retry={() => void steps.refetch()} />;
  if (steps.data.length === 0) return <Empty>Its price was never changed here.</Empty>;
  return (
    <DataTable
      label="Price history"
      columns={STEP_COLUMNS}
      rows={steps.data}
      rowKey={({ provider, created_at: at }) => `${provider} ${at}`}
      minWidth={560}
    />
  );
}

function snippet(model: string): string {
  return `curl ${location.origin}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`;
}
