import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';

/** Menu of a key in a list: the pages about it. */
export default function KeyMenu({ id, name }: { id: string; name: string }): ReactNode {
  const { slug } = useOrg();
  const pages = [
    { label: 'Limits and settings', to: `/o/${slug}/keys/${id}` },
    { label: 'Requests', to: `/o/${slug}/requests?key_id=${id}` },
    { label: 'Refused requests', to: `/o/${slug}/requests?show=rejected&key_id=${id}` },
    { label: 'Usage', to: `/o/${slug}/usage?key_id=${id}` },
  ];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`More about ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {pages.map(({ label, to }) => (
          <Menu.Item key={label} component={Link} to={to}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
