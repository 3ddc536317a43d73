import { Badge, Box, Button, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SearchField } from '../shell/search-field.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { InvitePerson } from './invite-person.js';
import { MemberActions } from './member-actions.js';
import {
  MEMBERS_A_PAGE,
  useInvitations,
  useMembers,
  useRevokeInvitation,
  type Invitation,
  type Member,
} from './members.queries.js';

export default function MembersPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const me = useMe().data;
  if (id === null || me === undefined) return null;
  const mayChange = isAllowed(rolesIn(me, slug), ['owner', 'admin']);
  return (
    <>
      <PageHead
        title="Members"
        about="People of the organization. Each has a role, and limits over all their keys."
      >
        {mayChange && (
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() => change({ invite: 'yes', page: url.page })}
          >
            Invite
          </Button>
        )}
      </PageHead>
      <Box mb="md">
        <SearchField label="Search names and addresses" text={url.q} onSearch={(q) => change({ q })} />
      </Box>
      <Stack gap="lg">
        <Members org={id} own={me.user.id} mayChange={mayChange} />
        <Invitations org={id} mayChange={mayChange} />
      </Stack>
      <InvitePerson
        org={id}
        isOpen={url.invite === 'yes'}
        onClose={() => change({ invite: null, page: url.page })}
      />
    </>
  );
}

function Members({ org, own, mayChange }: { org: string; own: string; mayChange: boolean }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const members = useMembers(org, { q: url.q, sort: url.sort, page });
  if (members.isPending) return <Loading height={44} rows={6} />;
  if (members.isError) return <ProblemCard failure={members.error} retry={() => void members.refetch()} />;
  const { data, total } = members.data;
  if (total === 0) return <Empty>Nobody matches this search.</Empty>;
  const columns: Column<Member>[] = [
    {
      name: 'Person',
      sort: 'name',
      cell: ({ name, email, user_id: id }) => (
        <Stack gap={0}>
          <Text size="sm" fw={500}>
            {name}
            {id === own && ' (you)'}
          </Text>
          <Text size="sm" c="dimmed">
            {email}
          </Text>
        </Stack>
      ),
    },
    { name: 'Role', sort: 'role', cell: ({ role }) => <Badge variant="light">{role}</Badge> },
    { name: 'Teams', isFigure: true, cell: ({ teams }) => teams.length },
    {
      name: 'Cap, 30 days',
      sort: 'spend_cap_usd',
      isFigure: true,
      cell: ({ spend_cap_usd: cap }) => <Money usd={cap} none="no cap" />,
    },
    { name: 'Joined', sort: 'created_at', cell: ({ created_at: at }) => <When at={at} /> },
    ...(mayChange
      ? [{ name: 'Actions', cell: (member: Member) => <MemberActions org={org} member={member} /> }]
      : []),
  ];
  return (
    <div>
      <DataTable
        label="Members"
        columns={columns}
        rows={data}
        rowKey={({ user_id: id }) => id}
        minWidth={760}
        order={{ by: url.sort, onChange: (sort) => change({ sort }) }}
      />
      <Pager
        page={page}
        rows={MEMBERS_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </div>
  );
}

function Invitations({ org, mayChange }: { org: string; mayChange: boolean }): ReactNode {
  const invitations = useInvitations(org);
  const revoke = useRevokeInvitation(org);
  if (invitations.isPending) return <Loading height={80} />;
  if (invitations.isError)
    return <ProblemCard failure={invitations.error} retry={() => void invitations.refetch()} />;
  if (invitations.data.data.length === 0) return null;
  const columns: Column<Invitation>[] = [
    { name: 'Address', cell: ({ email }) => email },
    { name: 'Role', cell: ({ role }) => <Badge variant="light">{role}</Badge> },
    { name: 'Sent', cell: ({ created_at: at }) => <When at={at} /> },
    { name: 'Good until', cell: ({ expires_at: at }) => <When at={at} /> },
    ...(mayChange
      ? [
          {
            name: 'Actions',
            cell: ({ id, email }: Invitation) => (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Cancel invitation of ${email}`}
                onClick={() => revoke.mutate(id)}
              >
                Cancel invitation
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Panel title="Invitations" about="Mailed and not accepted yet.">
      {revoke.error !== null && <ProblemCard failure={revoke.error} />}
      <DataTable label="Invitations" columns={columns} rows={invitations.data.data} rowKey={({ id }) => id} />
    </Panel>
  );
}
