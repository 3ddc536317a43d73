import { Button, Checkbox, Code, Modal, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useIsBilled } from '../session/me.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { Confirm } from '../shell/confirm.js';
import { FormEnd } from '../shell/form-end.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SecretOnce } from '../shell/secret-once.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import {
  useAdminKeys,
  useCreateAdminKey,
  useDeleteAdminKey,
  type AdminKey,
  type AdminScope,
} from './settings.queries.js';

const scopesOf = (isBilled: boolean): readonly { value: AdminScope; label: string }[] => [
  { value: 'keys:read', label: 'Read keys' },
  { value: 'keys:write', label: 'Create and change keys' },
  { value: 'usage:read', label: isBilled ? 'Read usage and balance' : 'Read usage' },
  { value: 'members:read', label: 'Read members and teams' },
  { value: 'alerts:read', label: 'Read alerts' },
  { value: 'alerts:write', label: 'Change alerts' },
];

export default function AdminKeysPage(): ReactNode {
  const org = useOrg().id ?? '';
  const keys = useAdminKeys(org);
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <PageHead title="Admin keys" about="For programs that manage this organization. They do no inference.">
        <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen(true)}>
          Create admin key
        </Button>
      </PageHead>
      {keys.isPending && <Loading height={44} rows={3} />}
      {keys.isError && <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />}
      {keys.data?.length === 0 && (
        <Empty action={{ label: 'Create the first admin key', run: () => setOpen(true) }}>
          There is no admin key yet.
        </Empty>
      )}
      {keys.data !== undefined && keys.data.length > 0 && <List rows={keys.data} />}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Create an admin key">
        <Form
          org={org}
          onCreated={(created) => {
            setSecret(created);
            setOpen(false);
          }}
        />
      </Modal>
      <SecretOnce secret={secret} title="Your new admin key" onDone={() => setSecret(null)} />
    </>
  );
}

function List({ rows }: { rows: readonly AdminKey[] }): ReactNode {
  const columns: Column<AdminKey>[] = [
    {
      name: 'Key',
      cell: ({ label, masked_key: masked }) => (
        <Stack gap={2}>
          <Text size="sm" fw={500}>
            {label ?? 'Without a label'}
          </Text>
          <Code w="fit-content">{masked}</Code>
        </Stack>
      ),
    },
    { name: 'May', cell: ({ scopes }) => scopes.join(', ') },
    { name: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
    { name: 'Expires', cell: ({ expires_at: at }) => <When at={at} /> },
    { name: 'Actions', cell: (record) => <Delete record={record} /> },
  ];
  return (
    <DataTable label="Admin keys" columns={columns} rows={rows} rowKey={({ id }) => id} minWidth={760} />
  );
}

function Delete({ record }: { record: AdminKey }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const remove = useDeleteAdminKey();
  const name = record.label ?? record.masked_key;
  return (
    <>
      <Button
        size="xs"
        variant="light"
        color="red"
        aria-label={`Delete ${name}`}
        onClick={() => setOpen(true)}
      >
        Delete
      </Button>
      <Confirm
        title="Delete the admin key"
        about={`Programs that use ${name} are refused from the next request on. This cannot be undone.`}
        action="Delete the key"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        write={remove}
        onConfirm={() => remove.mutate(record.id)}
      />
    </>
  );
}

function Form({ org, onCreated }: { org: string; onCreated: (secret: string) => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const [label, setLabel] = useState('');
  const [scopes, setScopes] = useState<string[]>(['keys:read']);
  const isBilled = useIsBilled();
  const create = useCreateAdminKey(idempotencyKey, ({ key }) => onCreated(key ?? ''));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = {
      org_id: org,
      label: label.trim() === '' ? null : label.trim(),
      scopes: scopes as AdminScope[],
    };
    create.mutate(body);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Label"
          data-autofocus
          value={label}
          error={create.error?.fields.label}
          onChange={({ currentTarget }) => setLabel(currentTarget.value)}
        />
        <Checkbox.Group label="What it may do" value={scopes} onChange={setScopes}>
          <Stack gap="xs" mt="xs">
            {scopesOf(isBilled).map(({ value, label: name }) => (
              <Checkbox key={value} value={value} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
        <FormEnd write={create} action="Create admin key" isDisabled={scopes.length === 0} />
      </Stack>
    </form>
  );
}
