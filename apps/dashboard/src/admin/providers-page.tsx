import { Anchor, Badge, Button, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { throughput, uptime } from '../format/health.js';
import { illFirst, providerState } from '../format/provider-state.js';
import { count, milliseconds } from '../format/time.js';
import { Confirm } from '../shell/confirm.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Empty, Loading } from '../shell/states.js';
import { offerUndo } from '../shell/undo.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useProviders, useSwitchProvider, type Provider } from './admin.queries.js';

const RETENTION = { true: 'zero retention', false: 'retains data', null: 'unknown' } as const;

const COLUMNS: readonly Column<Provider>[] = [
  {
    name: 'Provider',
    width: 150,
    cell: ({ name, slug }) => (
      <Stack gap={0}>
        <ProviderLink name={name} slug={slug} />
        <Text size="sm" c="dimmed">
          {slug}
        </Text>
      </Stack>
    ),
  },
  {
    name: 'State',
    width: 140,
    cell: (provider) => <State provider={provider} />,
  },
  { name: 'Routes', isFigure: true, cell: ({ routes }) => count(routes) },
  { name: 'Uptime, 30 min', isFigure: true, cell: ({ uptime_30m: share }) => uptime(share) },
  { name: 'Latency p50', isFigure: true, cell: ({ latency_p50_ms: ms }) => milliseconds(ms) },
  { name: 'Throughput p50', isFigure: true, cell: ({ throughput_p50: speed }) => throughput(speed) },
  { name: 'Last error', width: 150, cell: ({ last_error: error }) => <LastError error={error} /> },
  {
    name: 'Data',
    width: 100,
    cell: ({ zero_retention: isZero, regions }) => (
      <Stack gap={0}>
        <Text size="sm">{RETENTION[`${isZero}`]}</Text>
        <Text size="sm" c="dimmed">
          {regions.join(', ')}
        </Text>
      </Stack>
    ),
  },
  { name: 'Actions', cell: (provider) => <Switch provider={provider} /> },
];

const NO_WRAP = { whiteSpace: 'nowrap' } as const;
const COLOURS = { ill: 'red', ready: 'green', 'no key': 'gray', disabled: 'gray' } as const;

function State({ provider }: { provider: Provider }): ReactNode {
  const state = providerState(provider);
  const { breaker, health } = provider;
  return (
    <Stack gap={0} align="flex-start">
      <Badge variant="light" color={COLOURS[state]}>
        {state}
      </Badge>
      {health === 'failing' && (
        <Text size="sm" style={NO_WRAP}>
          health check fails
        </Text>
      )}
      {breaker !== null && (
        <Text size="sm" c={breaker === 'closed' ? 'dimmed' : undefined} style={NO_WRAP}>
          breaker {breaker.replace('_', ' ')}
        </Text>
      )}
    </Stack>
  );
}

/** Name of a provider, which leads to its credentials. */
function ProviderLink({ name, slug }: Pick<Provider, 'name' | 'slug'>): ReactNode {
  const org = useOrg();
  return (
    <Anchor component={Link} to={`/o/${org.slug}/admin/providers/${slug}`} size="sm" fw={500}>
      {name}
    </Anchor>
  );
}

/** Codes alone: what the provider wrote is in the attempts of the request. */
function LastError({ error }: { error: Provider['last_error'] }): ReactNode {
  if (error === null) return '–';
  const { code, provider_code: narrower, http_status: status, at } = error;
  return (
    <Stack gap={0}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {narrower ?? code}
      </Text>
      <Text size="sm" c="dimmed">
        {status === null ? 'no answer' : `status ${status}`}, <When at={at} />
      </Text>
    </Stack>
  );
}

export default function ProvidersPage(): ReactNode {
  const providers = useProviders();
  return (
    <>
      <PageHead
        title="Providers"
        about="Who serves the models, those that fail first. One without a key serves only organizations that have a key of their own; a disabled one gets no request."
      />
      {providers.isPending && <Loading height={44} rows={6} />}
      {providers.isError && <ProblemCard failure={providers.error} retry={() => void providers.refetch()} />}
      {providers.data?.length === 0 && <Empty>There is no provider.</Empty>}
      {providers.data !== undefined && providers.data.length > 0 && (
        <DataTable
          label="Providers"
          columns={COLUMNS}
          rows={illFirst(providers.data)}
          rowKey={({ slug }) => slug}
          minWidth={960}
        />
      )}
    </>
  );
}

function Switch({ provider }: { provider: Provider }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const change = useSwitchProvider(provider);
  const { name, routes, is_enabled: isOn } = provider;
  const close = (): void => setOpen(false);
  const done = (): void => {
    close();
    offerUndo(`${name} is ${isOn ? 'disabled' : 'enabled'}.`, () => change.mutateAsync(isOn));
  };
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${isOn ? 'Disable' : 'Enable'} ${name}`}
        onClick={() => setOpen(true)}
      >
        {isOn ? 'Disable' : 'Enable'}
      </Button>
      <Confirm
        title={`${isOn ? 'Disable' : 'Enable'} ${name}`}
        about={
          isOn
            ? `Its ${count(routes)} routes leave the catalogue at once; models that nobody else serves cannot be called.`
            : `Its ${count(routes)} routes come back into the catalogue.`
        }
        action={isOn ? 'Disable' : 'Enable'}
        isDestructive={isOn}
        isOpen={isOpen}
        onClose={close}
        write={change}
        onConfirm={() => change.mutate(!isOn, { onSuccess: done })}
      />
    </>
  );
}
