import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl, type Params } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { comparedIds, flagsOf } from './compared.js';
import { useModelsOf, type Model } from './models.queries.js';
import { mainRate } from './price.js';

interface Fact {
  name: string;
  isFigure?: boolean;
  of: (model: Model) => ReactNode;
}

const FACTS: readonly Fact[] = [
  { name: 'Kind', of: ({ model_type: type }) => type },
  { name: 'Context, tokens', of: ({ context_length: context }) => count(context) },
  {
    name: 'Max output tokens',
    of: ({ max_output_tokens: most }) => (most === null ? '–' : count(most)),
  },
  {
    name: 'Prompt, 1M',
    of: ({ pricing }) => <Money usd={mainRate(pricing, 'prompt_usd_per_1m')} isPrice none="–" />,
  },
  {
    name: 'Completion, 1M',
    of: ({ pricing }) => <Money usd={mainRate(pricing, 'completion_usd_per_1m')} isPrice none="–" />,
  },
  {
    name: 'Cache read, 1M',
    of: ({ pricing }) => <Money usd={pricing.cache_read_input_usd_per_1m ?? null} isPrice none="–" />,
  },
  { name: 'Takes', of: ({ input_modalities: takes }) => takes.join(', ') },
  { name: 'Answers in', of: ({ output_modalities: answers }) => answers.join(', ') },
  { name: 'Can', of: (model) => flagsOf(model).join(', ') || '–' },
];

export default function ComparePage(): ReactNode {
  const [url] = useParamsOfUrl();
  const { slug } = useOrg();
  const models = useModelsOf(comparedIds(url.ids));
  const failed = models.find(({ isError }) => isError);
  return (
    <>
      <PageHead
        title="Compare models"
        about={
          <Anchor component={Link} to={`/o/${slug}/models`} size="sm">
            Choose others
          </Anchor>
        }
      />
      {models.length === 0 && <Empty>Choose up to four in the list of models.</Empty>}
      {failed !== undefined && <ProblemCard failure={failed.error} retry={() => void failed.refetch()} />}
      {models.some(({ isPending }) => isPending) && <Loading height={320} />}
      {models.length > 0 && models.every(({ isSuccess }) => isSuccess) && (
        <Compared models={models.flatMap(({ data }) => data ?? [])} slug={slug} />
      )}
    </>
  );
}

function Compared({ models, slug }: { models: readonly Model[]; slug: string }): ReactNode {
  const navigate = useNavigate();
  const search: Params = { models: models.map(({ id }) => id).join(',') };
  const columns: Column<Fact>[] = [
    { name: 'What', width: 180, cell: ({ name }) => <Text size="sm">{name}</Text> },
    ...models.map((model): Column<Fact> => ({
      name: model.id,
      cell: ({ of }) => (
        <Text size="sm" component="div">
          {of(model)}
        </Text>
      ),
    })),
  ];
  return (
    <Stack>
      <DataTable
        label="Models side by side"
        columns={columns}
        rows={FACTS}
        rowKey={({ name }) => name}
        minWidth={180 + models.length * 200}
      />
      <Group>
        <Button variant="default" onClick={() => void navigate({ to: `/o/${slug}/playground`, search })}>
          Try them side by side
        </Button>
      </Group>
    </Stack>
  );
}
