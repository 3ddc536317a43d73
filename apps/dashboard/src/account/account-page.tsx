import {
  Badge,
  Button,
  Group,
  PasswordInput,
  Select,
  Stack,
  Text,
  TextInput,
  useMantineColorScheme,
} from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { zonesWith } from '../format/zone.js';
import { useChangeMe } from '../session/change-me.queries.js';
import type { Me } from '../session/rights.js';
import { useMe } from '../session/me.queries.js';
import { FormEnd } from '../shell/form-end.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import {
  useChangePassword,
  useEndOthers,
  useEndSession,
  useSessions,
  type OwnSession,
} from './account.queries.js';

export default function AccountPage(): ReactNode {
  const me = useMe().data;
  return (
    <>
      <PageHead title="Account" about={me?.user.email} />
      <Stack maw={820}>
        {me !== undefined && (
          <Panel title="You">
            <Person me={me} />
          </Panel>
        )}
        <Panel title="Password" about="Every other session of yours ends with the change">
          <Password />
        </Panel>
        <Sessions />
      </Stack>
    </>
  );
}

function Person({ me }: { me: Me }): ReactNode {
  const [name, setName] = useState(me.user.name);
  const [zone, setZone] = useState(me.user.time_zone ?? 'UTC');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const save = useChangeMe();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ name, time_zone: zone });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          error={save.error?.fields.name}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group grow align="flex-start">
          <Select
            label="Time zone"
            description="Of every time, day and export"
            data={zonesWith(me.user.time_zone ?? 'UTC')}
            error={save.error?.fields.time_zone}
            searchable
            limit={60}
            allowDeselect={false}
            value={zone}
            onChange={(next) => setZone(next ?? 'UTC')}
          />
          <Select
            label="Colour scheme"
            description="Of this browser"
            data={[
              { value: 'auto', label: 'As the system' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            allowDeselect={false}
            value={colorScheme}
            onChange={(next) => setColorScheme(next === 'light' || next === 'dark' ? next : 'auto')}
          />
        </Group>
        <FormEnd write={save} action="Save" said={save.isSuccess ? 'Saved' : ''} draft={{ name, zone }} />
      </Stack>
    </form>
  );
}

function Password(): ReactNode {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useChangePassword();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const done = (): void => {
      setCurrent('');
      setNext('');
    };
    change.mutate({ current_password: current, new_password: next }, { onSuccess: done });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group grow align="flex-start">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            error={change.error?.fields.current_password}
            value={current}
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            error={change.error?.fields.new_password}
            value={next}
            onChange={({ currentTarget }) => setNext(currentTarget.value)}
          />
        </Group>
        <FormEnd write={change} action="Change the password" said={change.isSuccess ? 'Changed' : ''} />
      </Stack>
    </form>
  );
}

function Sessions(): ReactNode {
  const sessions = useSessions();
  const endOthers = useEndOthers();
  const columns: Column<OwnSession>[] = [
    {
      name: 'Browser',
      cell: ({ user_agent: agent }) => (
        <Text size="sm" lineClamp={2} maw={320}>
          {agent}
        </Text>
      ),
    },
    { name: 'Address', cell: ({ ip }) => ip },
    { name: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
    { name: 'Actions', cell: (one) => <EndSession one={one} /> },
  ];
  return (
    <Panel title="Sessions">
      {sessions.isPending && <Loading height={44} rows={2} />}
      {sessions.isError && <ProblemCard failure={sessions.error} retry={() => void sessions.refetch()} />}
      {sessions.isSuccess && (
        <DataTable
          label="Sessions"
          columns={columns}
          rows={sessions.data}
          rowKey={({ id }) => id}
          minWidth={560}
        />
      )}
      {endOthers.error !== null && <ProblemCard failure={endOthers.error} />}
      <Group justify="flex-end" mt="sm">
        <Button variant="default" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
          End all others
        </Button>
      </Group>
    </Panel>
  );
}

function EndSession({ one }: { one: OwnSession }): ReactNode {
  const end = useEndSession();
  if (one.current) return <Badge variant="light">this one</Badge>;
  return (
    <Stack gap="xs">
      <Button
        size="xs"
        variant="light"
        color="red"
        loading={end.isPending}
        onClick={() => end.mutate(one.id)}
      >
        End
      </Button>
      {end.error !== null && <ProblemCard failure={end.error} />}
    </Stack>
  );
}
