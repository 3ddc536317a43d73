import { Badge, Button, Code, Stack, Text, Tooltip } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { AddProviderKey } from './add-provider-key.js';
import { ProviderKeyActions } from './provider-key-actions.js';
import { PROVIDER_KEYS_A_PAGE, useProviderKeys, type ProviderKey } from './provider-keys.queries.js';

const COLUMNS: readonly Column<ProviderKey>[] = [
  {
    name: 'Key',
    cell: ({ provider, label, masked_credential: masked }) => (
      <Stack gap={2}>
        <Text size="sm" fw={500}>
          {label ?? provider}
        </Text>
        <Code w="fit-content">{masked}</Code>
      </Stack>
    ),
  },
  { name: 'Provider', cell: ({ provider }) => provider },
  { name: 'State', cell: (key) => <State record={key} /> },
  {
    name: 'Otherwise',
    cell: ({ allow_platform_fallback: mayFall }) =>
      mayFall ? 'Platform’s key, billed' : 'The request fails',
  },
  { name: 'Models', cell: ({ allowed_models: models }) => (models === null ? 'All' : models.join(', ')) },
  { name: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
  { name: 'Actions', cell: (key) => <ProviderKeyActions record={key} /> },
];

export default function ProviderKeysPage(): ReactNode {
  const { id } = useOrg();
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const keys = useProviderKeys(id, page);
  const add = (): void => change({ add: 'yes', page: url.page });
  return (
    <>
      <PageHead
        title="Provider keys"
        about="Your own accounts at providers. They are called first, and what they serve is not billed as usage here."
      >
        <Button leftSection={<IconPlus size={16} />} onClick={add}>
          Add key
        </Button>
      </PageHead>
      {keys.isPending && <Loading height={44} rows={4} />}
      {keys.isError && <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />}
      {keys.isSuccess && keys.data.total === 0 && (
        <Empty action={{ label: 'Add the first key', run: add }}>There is no provider key yet.</Empty>
      )}
      {keys.isSuccess && keys.data.total > 0 && (
        <>
          <DataTable
            label="Provider keys"
            columns={COLUMNS}
            rows={keys.data.data}
            rowKey={({ id: key }) => key}
            minWidth={960}
          />
          <Pager
            page={page}
            rows={PROVIDER_KEYS_A_PAGE}
            total={keys.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
      <AddProviderKey isOpen={url.add === 'yes'} onClose={() => change({ add: null, page: url.page })} />
    </>
  );
}

function State({ record }: { record: ProviderKey }): ReactNode {
  if (!record.is_enabled)
    return (
      <Badge variant="light" color="gray">
        disabled
      </Badge>
    );
  if (record.last_error === null)
    return (
      <Badge variant="light" color="green">
        enabled
      </Badge>
    );
  return (
    <Tooltip label={record.last_error.message} multiline maw={360}>
      <Badge variant="light" color="red" tabIndex={0}>
        {record.last_error.code}
      </Badge>
    </Tooltip>
  );
}
