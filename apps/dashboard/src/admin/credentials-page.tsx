import { Badge, Button, Code, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count } from '../format/time.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { CredentialActions } from './credential-actions.js';
import { AddCredential } from './credential-forms.js';
import { useCredentials, type Credential } from './credentials.queries.js';

/** Pool of the platform's credentials at one provider. No secret is ever shown. */
export default function CredentialsPage(): ReactNode {
  const { slug = '' }: { slug?: string } = useParams({ strict: false });
  const [url, change] = useParamsOfUrl();
  const credentials = useCredentials(slug);
  const close = (): void => change({ add: null });
  return (
    <>
      <PageHead
        title={`Credentials of ${slug}`}
        about="Requests are drawn by weight among those that are ready. A change acts within two seconds, without a restart."
      >
        <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: 'yes' })}>
          Add credential
        </Button>
      </PageHead>
      {credentials.isPending && <Loading height={44} rows={3} />}
      {credentials.isError && (
        <ProblemCard failure={credentials.error} retry={() => void credentials.refetch()} />
      )}
      {credentials.data?.length === 0 && <Empty>The platform has no credential here.</Empty>}
      {credentials.data !== undefined && credentials.data.length > 0 && (
        <DataTable
          label="Platform credentials"
          columns={COLUMNS}
          rows={credentials.data}
          rowKey={({ id }) => id}
          minWidth={900}
        />
      )}
      <Modal opened={url.add === 'yes'} onClose={close} title="Add a credential">
        <AddCredential slug={slug} onClose={close} />
      </Modal>
    </>
  );
}

const STATES: Record<Credential['status'], { color: string; name: string }> = {
  ready: { color: 'green', name: 'ready' },
  cooling: { color: 'yellow', name: 'throttled' },
  refused: { color: 'red', name: 'refused' },
  out_of_quota: { color: 'red', name: 'out of quota' },
  paused: { color: 'gray', name: 'paused' },
};

const COLUMNS: readonly Column<Credential>[] = [
  {
    name: 'Credential',
    cell: ({ label, masked_credential: masked, source }) => (
      <Stack gap={2}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <Code w="fit-content">{masked}</Code>
        {source === 'environment' && (
          <Text size="xs" c="dimmed">
            of the environment
          </Text>
        )}
      </Stack>
    ),
  },
  {
    name: 'State',
    cell: ({ status, cooldown_until: until }) => (
      <Stack gap={2} align="flex-start">
        <Badge variant="light" color={STATES[status].color}>
          {STATES[status].name}
        </Badge>
        {until !== null && (
          <Text size="xs" c="dimmed" component="div">
            again <When at={until} />
          </Text>
        )}
      </Stack>
    ),
  },
  { name: 'Weight', isFigure: true, cell: ({ weight }) => count(weight) },
  { name: 'Requests, 24 h', isFigure: true, cell: ({ requests_24h: requests }) => count(requests) },
  { name: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
  {
    name: 'Last error',
    cell: ({ last_error: error }) =>
      error === null ? (
        '–'
      ) : (
        <Stack gap={0}>
          <Text size="sm">{error.code}</Text>
          <Text size="xs" c="dimmed" component="div">
            <When at={error.at} />
          </Text>
        </Stack>
      ),
  },
  { name: 'Actions', cell: (credential) => <CredentialActions credential={credential} /> },
];
