import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconLogout, IconUser, IconUserCircle } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { session } from '../api/session.js';
import type { Me } from '../session/rights.js';
import { useOrg } from './org.queries.js';

export default function PersonMenu({ me }: { me: Me }): ReactNode {
  const { slug } = useOrg();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Your account">
          <IconUserCircle size={20} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Text px="sm" pt="xs" size="sm" fw={600} truncate>
          {me.user.name}
        </Text>
        <Text px="sm" pb="xs" size="xs" c="dimmed" truncate>
          {me.user.email}
        </Text>
        <Menu.Divider />
        <Menu.Item component={Link} to={`/o/${slug}/account`} leftSection={<IconUser size={16} />}>
          Account and sessions
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void session.signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
