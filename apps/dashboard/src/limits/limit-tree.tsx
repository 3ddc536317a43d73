import { Anchor, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { stringifySearch, useParamsOfUrl } from '../shell/search-params.js';
import { Loading } from '../shell/states.js';
import {
  useKeysBelow,
  useLimitsAbove,
  useMember,
  useMembersBelow,
  useOrgRecord,
  useRatesAbove,
  useTeamMembersBelow,
  useTeamsBelow,
  type Branch,
  type Key,
  type KeyFilter,
  type KeyLimits,
} from './limits.queries.js';
import { BranchRows, LimitNode, NodeHead, type Limits } from './limit-node.js';
import classes from './limit-node.module.css';

const NO_KEY = 'No key counts against it.';

interface TreeProps {
  org: string;
  /** Narrows teams, people and keys to those whose name has it. */
  q: string | undefined;
}

/** The organization, its teams and its people, each with the keys that count against it. */
export function LimitTree({ org, q }: TreeProps): ReactNode {
  const record = useOrgRecord(org);
  const teams = useTeamsBelow(org, q);
  const members = useMembersBelow(org, q);
  if (record.isPending) return <Loading height={44} rows={6} />;
  if (record.isError) return <ProblemCard failure={record.error} retry={() => void record.refetch()} />;
  return (
    <Stack>
      {q === undefined && (
        <Panel title="Organization">
          <Tree label="Organization">
            <ul className={classes.list}>
              <OrgScope org={org} record={record.data} />
            </ul>
          </Tree>
        </Panel>
      )}
      <Panel title="Teams">
        <Tree label="Teams">
          <BranchRows
            branch={teams}
            none={q === undefined ? 'There is no team yet.' : 'No team is called that.'}
            row={(team) => (
              <Scope
                key={team.id}
                org={org}
                name={team.name}
                path={`/teams/${team.id}`}
                about="Team"
                limits={team}
                scope="team"
                keys={{ team_id: team.id }}
                below={() => <TeamMembers org={org} team={team.id} />}
              />
            )}
          />
        </Tree>
      </Panel>
      <Panel title="Members">
        <Tree label="Members">
          <BranchRows
            branch={members}
            none="Nobody is called that."
            row={(member) => <MemberScope key={member.user_id} org={org} member={member} />}
          />
        </Tree>
      </Panel>
      {q !== undefined && <KeyTree org={org} label={q} />}
    </Stack>
  );
}

/** Tree for a member: the organization, and their own keys. */
export function OwnTree({ org, person }: { org: string; person: string }): ReactNode {
  const record = useOrgRecord(org);
  const member = useMember(org, person);
  if (record.isPending || member.isPending) return <Loading height={44} rows={6} />;
  if (record.isError) return <ProblemCard failure={record.error} retry={() => void record.refetch()} />;
  if (member.isError) return <ProblemCard failure={member.error} retry={() => void member.refetch()} />;
  return (
    <Panel title="Your keys, and what is above them">
      <Tree label="Your limits">
        <ul className={classes.list}>
          <OrgScope org={org} record={record.data} />
          <MemberScope org={org} member={member.data} isOpenAtFirst />
        </ul>
      </Tree>
    </Panel>
  );
}

/** Keys alone: of an account without an organization, or those that a search finds. */
export function KeyTree({ org, label }: { org: string | null; label: string | undefined }): ReactNode {
  const keys = useKeysBelow(org, label === undefined ? {} : { label }, true);
  return (
    <Panel title="Keys">
      <Tree label="Keys">
        <Keys branch={keys} none="There is no such key." />
      </Tree>
    </Panel>
  );
}

function Tree({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div className={classes.box} tabIndex={0} role="region" aria-label={label}>
      <div className={classes.tree}>
        <NodeHead />
        {children}
      </div>
    </div>
  );
}

interface ScopeProps {
  org: string;
  name: string;
  path?: string;
  about: string;
  limits: Limits;
  scope: Exclude<keyof KeyLimits['scopes'], 'key'>;
  /** Keys that count against it: what is used is read through one of them. */
  keys: KeyFilter;
  isOpenAtFirst?: boolean;
  /** Rows in place of its keys. */
  below?: () => ReactNode;
}

/** A scope above keys. What is used of it is read when it is opened: a list of scopes asks for nothing more. */
function Scope({
  org,
  name,
  path,
  about,
  limits,
  scope,
  keys: filter,
  isOpenAtFirst = false,
  below,
}: ScopeProps): ReactNode {
  const { slug } = useOrg();
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const keys = useKeysBelow(org, filter, isOpen);
  const through = keys.data?.pages[0].data.at(0)?.id;
  const above = useLimitsAbove(through).data;
  const rates = useRatesAbove(org, through).data;
  const shown =
    path === undefined ? (
      name
    ) : (
      <Anchor component={Link} to={`/o/${slug}${path}`} inherit>
        {name}
      </Anchor>
    );
  // Of the organization the branches stand beside it.
  const isFolded = scope !== 'org';
  return (
    <LimitNode
      name={name}
      shown={shown}
      about={about}
      limits={limits}
      usage={{ rates: rates?.scopes[scope] ?? undefined, spentUsd: above?.scopes[scope]?.spent_usd }}
      unset="no limit"
      isAboveKeys
      fold={isFolded ? { isOpen, toggle: () => setOpen(!isOpen) } : undefined}
    >
      {below === undefined ? <Keys branch={keys} none={NO_KEY} /> : below()}
    </LimitNode>
  );
}

function OrgScope({ org, record }: { org: string; record: Limits & { name: string } }): ReactNode {
  return (
    <Scope
      org={org}
      name={record.name}
      about="All that its keys call"
      limits={record}
      scope="org"
      keys={{}}
      isOpenAtFirst
    />
  );
}

interface MemberScopeProps {
  org: string;
  member: Limits & { user_id: string; name: string; email: string };
  /** Team of a person's row. */
  team?: string;
  isOpenAtFirst?: boolean;
}

function MemberScope({ org, member, team, isOpenAtFirst }: MemberScopeProps): ReactNode {
  const created = { created_by: member.user_id };
  return (
    <Scope
      org={org}
      name={member.name}
      about={member.email}
      limits={member}
      scope={team === undefined ? 'member' : 'team_member'}
      keys={team === undefined ? created : { ...created, team_id: team }}
      isOpenAtFirst={isOpenAtFirst}
    />
  );
}

function TeamMembers({ org, team }: { org: string; team: string }): ReactNode {
  const members = useTeamMembersBelow(team);
  return (
    <BranchRows
      branch={members}
      none="Nobody is in it."
      row={(member) => <MemberScope key={member.user_id} org={org} member={member} team={team} />}
    />
  );
}

function Keys({ branch, none }: { branch: Branch<Key>; none: string }): ReactNode {
  const { slug } = useOrg();
  const [url] = useParamsOfUrl();
  return (
    <BranchRows
      branch={branch}
      none={none}
      row={(key) => (
        <LimitNode
          key={key.id}
          name={key.label ?? key.masked_key}
          shown={
            <Anchor
              component={Link}
              to={`/o/${slug}/limits${stringifySearch({ ...url, key_id: key.id })}`}
              inherit
            >
              {key.label ?? key.masked_key}
            </Anchor>
          }
          about={key.status === 'active' ? 'Key' : 'Key, suspended'}
          limits={key}
          usage={{ spentUsd: key.spent_usd }}
          unset="the default"
          isAboveKeys={false}
        />
      )}
    />
  );
}
