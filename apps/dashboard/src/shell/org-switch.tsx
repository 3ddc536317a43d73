import { Button, Menu } from '@mantine/core';
import { IconCheck, IconPlus, IconSelector } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { OWN_ACCOUNT, type Me } from '../session/rights.js';
import { useOrg, useOrgNames } from './org.queries.js';

const CreateOrg = lazy(() => import('./create-org.js'));

/** Menu of the person's organizations and their own account. */
export default function OrgSwitch({ me }: { me: Me }): ReactNode {
  const { slug } = useOrg();
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const names = useOrgNames().data ?? [];
  const nameOf = (id: string): string =>
    id === OWN_ACCOUNT ? 'My account' : (names.find((org) => org.id === id)?.name ?? 'Organization');
  const choices = [...me.memberships.map(({ org_id: id }) => id), OWN_ACCOUNT];
  return (
    <>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button variant="default" size="xs" fz="sm" rightSection={<IconSelector size={14} />} maw={220}>
            {nameOf(slug)}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Open</Menu.Label>
          {choices.map((id) => (
            <Menu.Item
              key={id}
              rightSection={id === slug ? <IconCheck size={14} /> : null}
              onClick={() => void navigate({ to: `/o/${id}` })}
            >
              {nameOf(id)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
            Create an organization
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense>{isCreating && <CreateOrg onClose={() => setCreating(false)} />}</Suspense>
    </>
  );
}
