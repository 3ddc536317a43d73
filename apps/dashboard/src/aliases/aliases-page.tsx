import { Anchor, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { CopyText } from '../shell/copy-text.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { AliasActions } from './alias-actions.js';
import { shareOf } from './alias-draft.js';
import { AliasForm } from './alias-form.js';
import { AliasShadow } from './alias-shadow.js';
import { ALIASES_A_PAGE, useAliases, type Alias } from './aliases.queries.js';

export default function AliasesPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const roles = useRoles(slug);
  const mayChange = isAllowed(roles, ['owner', 'admin']);
  if (id === null) return null;
  const close = (): void => change({ create: null, page: url.page });
  return (
    <>
      <PageHead
        title="Aliases"
        about="Names that requests use as a model. A name stands for one model, or for several by weight."
      >
        {mayChange && (
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() => change({ create: 'yes', page: url.page })}
          >
            Create alias
          </Button>
        )}
      </PageHead>
      <Aliases org={id} mayChange={mayChange} mayShadow={isAllowed(roles, ['super'])} />
      {mayChange && (
        <Modal opened={url.create === 'yes'} onClose={close} size="lg" title="Create an alias">
          <AliasForm org={id} onClose={close} />
        </Modal>
      )}
    </>
  );
}

interface AliasesProps {
  org: string;
  mayChange: boolean;
  mayShadow: boolean;
}

function Aliases({ org, mayChange, mayShadow }: AliasesProps): ReactNode {
  const [url, change] = useParamsOfUrl();
  const [edited, edit] = useState<Alias | null>(null);
  const page = pageOf(url.page);
  const aliases = useAliases(org, page);
  if (aliases.isPending) return <Loading height={44} rows={4} />;
  if (aliases.isError) return <ProblemCard failure={aliases.error} retry={() => void aliases.refetch()} />;
  const { data, total } = aliases.data;
  if (total === 0)
    return <Empty>No alias yet. With one, programs keep a name while you change the model behind it.</Empty>;
  const columns: Column<Alias>[] = [
    ...COLUMNS,
    ...(mayShadow ? [{ name: 'Shadow', cell: (alias: Alias) => <AliasShadow alias={alias} /> }] : []),
    ...(mayChange
      ? [
          {
            name: 'Actions',
            cell: (alias: Alias) => <AliasActions alias={alias} onEdit={() => edit(alias)} />,
          },
        ]
      : []),
  ];
  const close = (): void => edit(null);
  return (
    <>
      <DataTable label="Aliases" columns={columns} rows={data} rowKey={({ id }) => id} minWidth={760} />
      <Pager
        page={page}
        rows={ALIASES_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
      <Modal opened={edited !== null} onClose={close} size="lg" title={`Edit ${edited?.name ?? ''}`}>
        {edited !== null && <AliasForm org={org} alias={edited} onClose={close} />}
      </Modal>
    </>
  );
}

const COLUMNS: readonly Column<Alias>[] = [
  {
    name: 'Name',
    cell: ({ name, is_enabled: isOn }) => (
      <Group gap="xs" wrap="nowrap">
        <CopyText text={name} label="name" />
        {!isOn && (
          <Badge variant="light" color="gray">
            paused
          </Badge>
        )}
      </Group>
    ),
  },
  { name: 'Models', cell: (alias) => <Targets alias={alias} /> },
  {
    name: 'Description',
    cell: ({ description }) => (
      <Text size="sm" lineClamp={2} maw={280}>
        {description ?? '–'}
      </Text>
    ),
  },
  { name: 'Changed', cell: ({ updated_at: at }) => <When at={at} /> },
];

/** Models behind a name with their shares of the requests. */
function Targets({ alias: { targets, shadow } }: { alias: Alias }): ReactNode {
  const { slug } = useOrg();
  const weights = targets.map(({ weight }) => weight);
  return (
    <Stack gap={2}>
      {targets.map(({ model, weight }) => (
        <Text key={model} size="sm" component="div">
          <Anchor component={Link} to={`/o/${slug}/models/${model}`} inherit>
            {model}
          </Anchor>{' '}
          {targets.length > 1 && shareOf(weight, weights)}
        </Text>
      ))}
      {shadow !== null && (
        <Text size="sm" c="dimmed">
          {shadow.sample_pct}% also to {shadow.model}, for comparison
        </Text>
      )}
    </Stack>
  );
}
