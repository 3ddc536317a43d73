import { Button, Group, Select, Stack } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { offerUndo } from '../shell/undo.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { DeleteTeam, TeamForm } from './team-form.js';
import { TeamKeys } from './team-keys.js';
import { TeamSpend } from './team-spend.js';
import {
  TEAMS_A_PAGE,
  useAddTeamMember,
  usePeople,
  useRemoveTeamMember,
  useTeam,
  useTeamMembers,
  type Team,
  type TeamMember,
} from './teams.queries.js';

export default function TeamPage(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const { slug } = useOrg();
  const me = useMe().data;
  const team = useTeam(id);
  const scope = useScopes().usage;
  const mayChange = me !== undefined && isAllowed(rolesIn(me, slug), ['owner', 'admin']);
  if (team.isPending) return <Loading height={120} rows={2} />;
  if (team.isError)
    return (
      <>
        <PageHead title="Team" />
        <ProblemCard failure={team.error} retry={() => void team.refetch()} />
      </>
    );
  return (
    <>
      <PageHead title={team.data.name} about="Its keys share these limits.">
        <Button component={Link} to={`/o/${slug}/usage?team_id=${team.data.id}&range=30d`} variant="default">
          Usage
        </Button>
        {mayChange && <DeleteTeam team={team.data} />}
      </PageHead>
      <Stack gap="lg">
        {mayChange && <TeamSpend team={team.data} />}
        {mayChange && (
          <Panel title="Name and limits">
            <TeamForm key={id} team={team.data} />
          </Panel>
        )}
        <Panel title="Keys" scope={scope}>
          <TeamKeys team={team.data} />
        </Panel>
        <Panel title="Members">
          <Stack>
            {mayChange && <AddPerson team={team.data} />}
            <Members team={team.data} mayChange={mayChange} />
          </Stack>
        </Panel>
      </Stack>
    </>
  );
}

function AddPerson({ team }: { team: Team }): ReactNode {
  const [search, setSearch] = useState('');
  const [person, setPerson] = useState<string | null>(null);
  const people = usePeople(team.org_id, search).data ?? [];
  const add = useAddTeamMember(team.id);
  return (
    <>
      <Group align="flex-end">
        <Select
          label="Add a person"
          placeholder="Name or address"
          searchable
          onSearchChange={setSearch}
          data={people.map(({ user_id: id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
          value={person}
          onChange={setPerson}
          w={{ base: '100%', xs: 320 }}
        />
        <Button
          variant="default"
          disabled={person === null}
          loading={add.isPending}
          onClick={() =>
            person !== null && add.mutate({ user_id: person }, { onSuccess: () => setPerson(null) })
          }
        >
          Add
        </Button>
      </Group>
      {add.error !== null && <ProblemCard failure={add.error} />}
    </>
  );
}

function Members({ team, mayChange }: { team: Team; mayChange: boolean }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const members = useTeamMembers(team.id, page);
  const remove = useRemoveTeamMember(team.id);
  const add = useAddTeamMember(team.id);
  const undo = ({ team_id: _team, email: _email, name: _name, created_at: _at, ...before }: TeamMember) =>
    add.mutateAsync(before);
  const takeOut = (member: TeamMember): void =>
    remove.mutate(member.user_id, {
      onSuccess: () => offerUndo(`${member.name} is not in ${team.name} any more.`, () => undo(member)),
    });
  if (members.isPending) return <Loading height={44} rows={3} />;
  if (members.isError) return <ProblemCard failure={members.error} retry={() => void members.refetch()} />;
  const { data, total } = members.data;
  if (total === 0) return <Empty>Nobody is in this team yet.</Empty>;
  const columns: Column<TeamMember>[] = [
    { name: 'Person', cell: ({ name }) => name },
    { name: 'Address', cell: ({ email }) => email },
    {
      name: 'Cap, 30 days',
      isFigure: true,
      cell: ({ spend_cap_usd: cap }) => <Money usd={cap} none="no cap" />,
    },
    { name: 'Since', cell: ({ created_at: at }) => <When at={at} /> },
    ...(mayChange
      ? [
          {
            name: 'Actions',
            cell: (member: TeamMember) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Remove ${member.name} from the team`}
                onClick={() => takeOut(member)}
              >
                Remove
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      {remove.error !== null && <ProblemCard failure={remove.error} />}
      <DataTable label="Members of the team" columns={columns} rows={data} rowKey={({ user_id: id }) => id} />
      <Pager
        page={page}
        rows={TEAMS_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </>
  );
}
