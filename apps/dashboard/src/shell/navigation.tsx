import { NavLink, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isAllowed, type Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { usePages, type NavGroup, type Page } from './pages.js';

const GROUPS: readonly NavGroup[] = ['Overview', 'Build', 'Observe', 'Access', 'Organization', 'Platform'];

/** The pages that the person may open; what they may not is not there. */
export function Navigation({ roles }: { roles: readonly Role[] }): ReactNode {
  const shown = usePages().filter((page) => page.nav !== undefined && isAllowed(roles, page.who));
  return (
    <Stack gap={2} p="sm">
      {GROUPS.map((group) => (
        <Group key={group} group={group} pages={shown.filter(({ nav }) => nav?.group === group)} />
      ))}
    </Stack>
  );
}

function Group({ group, pages }: { group: NavGroup; pages: readonly Page[] }): ReactNode {
  if (pages.length === 0) return null;
  const sorted = [...pages].sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0));
  return (
    <>
      {group !== 'Overview' && (
        <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={4}>
          {group}
        </Text>
      )}
      {sorted.map((page) => (
        <PageLink key={page.path} page={page} />
      ))}
    </>
  );
}

function PageLink({ page }: { page: Page }): ReactNode {
  const { slug } = useOrg();
  const { pathname } = useLocation();
  const target = `/o/${slug}${page.path}`;
  const isHere = page.path === '' ? pathname === target : `${pathname}/`.startsWith(`${target}/`);
  const Icon = page.nav?.icon;
  return (
    <NavLink
      component={Link}
      to={target}
      activeOptions={{ exact: page.path === '' }}
      label={page.title}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      leftSection={Icon === undefined ? null : <Icon size={18} stroke={1.6} />}
      style={{ borderRadius: 'var(--mantine-radius-md)', paddingBlock: 7 }}
    />
  );
}
