import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { PolicyForm } from './policy-form.js';
import {
  POLICIES_A_PAGE,
  useDeletePolicy,
  usePolicies,
  usePolicy,
  type Policy,
  type PolicyTemplate,
} from './routing.queries.js';

const NEW = 'new';

export default function RoutingPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const mayChange = isAllowed(useRoles(slug), ['owner', 'admin']);
  if (id === null) return null;
  const create = (): void => change({ edit: NEW, page: url.page });
  return (
    <>
      <PageHead
        title="Routing"
        about="Policies that keys run under: which providers, in which order, at what price."
      >
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            Create policy
          </Button>
        )}
      </PageHead>
      <Policies org={id} mayChange={mayChange} />
      {mayChange && (
        <Editor org={id} edited={url.edit} onClose={() => change({ edit: null, page: url.page })} />
      )}
    </>
  );
}

interface EditorProps {
  org: string;
  /** The id of a policy, `new`, or nothing. */
  edited: string | undefined;
  onClose: () => void;
}

function Editor({ org, edited, onClose }: EditorProps): ReactNode {
  const isNew = edited === NEW;
  const policy = usePolicy(isNew ? undefined : edited);
  return (
    <Modal
      opened={edited !== undefined}
      onClose={onClose}
      size="xl"
      title={isNew ? 'Create a routing policy' : 'Change the routing policy'}
    >
      {isNew && <PolicyForm org={org} template={undefined} onClose={onClose} />}
      {!isNew && policy.isPending && <Loading height={320} />}
      {!isNew && policy.isError && <ProblemCard failure={policy.error} />}
      {!isNew && policy.isSuccess && <PolicyForm org={org} template={policy.data} onClose={onClose} />}
    </Modal>
  );
}

function Policies({ org, mayChange }: { org: string; mayChange: boolean }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const policies = usePolicies(org, page);
  if (policies.isPending) return <Loading height={44} rows={4} />;
  if (policies.isError) return <ProblemCard failure={policies.error} retry={() => void policies.refetch()} />;
  const { data, total } = policies.data;
  if (total === 0) return <Empty>There is no routing policy yet: keys run under the default.</Empty>;
  const columns: Column<PolicyTemplate>[] = [
    { name: 'Policy', cell: ({ name }) => name },
    {
      name: 'What it asks for',
      cell: ({ routing_policy: policy }) => (
        <Text size="sm" lineClamp={2} maw={480}>
          {inWords(policy)}
        </Text>
      ),
    },
    { name: 'Changed', cell: ({ updated_at: at }) => <When at={at} /> },
    ...(mayChange ? [{ name: 'Actions', cell: (one: PolicyTemplate) => <Actions template={one} /> }] : []),
  ];
  return (
    <>
      <DataTable label="Routing policies" columns={columns} rows={data} rowKey={({ id }) => id} />
      <Pager
        page={page}
        rows={POLICIES_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </>
  );
}

function inWords(policy: Policy): string {
  const words = [
    policy.sort !== undefined && `by ${policy.sort}`,
    policy.provider_order !== undefined && `first ${policy.provider_order.join(', ')}`,
    policy.only_providers !== undefined && `only ${policy.only_providers.join(', ')}`,
    policy.ignore_providers !== undefined && `never ${policy.ignore_providers.join(', ')}`,
    policy.fallback_models !== undefined && `then ${policy.fallback_models.join(', ')}`,
    policy.regions !== undefined && `in ${policy.regions.join(', ')}`,
    policy.max_retries !== undefined && `${policy.max_retries} retries`,
    policy.max_price !== undefined && 'below a price',
    policy.allow_fallbacks === false && 'no fallback',
    policy.require_zero_retention === true && 'nothing kept',
  ].filter((word) => word !== false);
  return words.length === 0 ? 'the default' : words.join(' · ');
}

function Actions({ template }: { template: PolicyTemplate }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const [isAsking, setAsking] = useState(false);
  const remove = useDeletePolicy();
  const close = (): void => setAsking(false);
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Edit ${template.name}`}
        onClick={() => change({ edit: template.id, page: url.page })}
      >
        Edit
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        aria-label={`Delete ${template.name}`}
        onClick={() => setAsking(true)}
      >
        Delete
      </Button>
      <Modal opened={isAsking} onClose={close} title="Delete the routing policy">
        <Stack>
          <Text size="sm">A key that uses it keeps it from being deleted: {template.name}</Text>
          {remove.error !== null && <ProblemCard failure={remove.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              color="red"
              loading={remove.isPending}
              onClick={() => remove.mutate(template.id, { onSuccess: close })}
            >
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Group>
  );
}
