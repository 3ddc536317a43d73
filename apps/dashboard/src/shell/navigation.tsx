import { NavLink, Stack, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { isAllowed, type Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { useRangeOfLink } from './remembered-range.js';
import { usePages, type NavGroup, type Page } from './pages.js';

const GROUPS: readonly NavGroup[] = ['Overview', 'Build', 'Observe', 'Access', 'Organization', 'Platform'];

/** The pages that the person may open; what they may not is not there. */
export function Navigation({ roles }: { roles: readonly Role[] }): ReactNode {
  const shown = usePages().filter((page) => page.nav !== undefined && isAllowed(roles, page.who));
  const { slug } = useOrg();
  const { pathname } = useLocation();
  const here = pageAt(shown, pathname.slice(`/o/${slug}`.length));
  return (
    <Stack gap={2} p="sm">
      {GROUPS.map((group) => (
        <Group
          key={group}
          group={group}
          pages={shown.filter(({ nav }) => nav?.group === group)}
          here={here}
        />
      ))}
    </Stack>
  );
}

/** The page of the menu that an address belongs to: of /limits and /limits/simulate the longer one. */
function pageAt(pages: readonly Page[], path: string): Page | undefined {
  const above = pages.filter((page) =>
    page.path === '' ? path.length < 2 : `${path}/`.startsWith(`${page.path}/`),
  );
  return above.sort((a, b) => b.path.length - a.path.length)[0];
}

interface GroupProps {
  group: NavGroup;
  pages: readonly Page[];
  here: Page | undefined;
}

function Group({ group, pages, here }: GroupProps): ReactNode {
  if (pages.length === 0) return null;
  const sorted = [...pages].sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0));
  return (
    <>
      {group !== 'Overview' && (
        <Text size="xs" fw={600} c="dimmed" px="sm" pt={10} pb={2}>
          {group}
        </Text>
      )}
      {sorted.map((page) => (
        <PageLink key={page.path} page={page} isHere={page === here} />
      ))}
    </>
  );
}

/** The link itself would mark every page above the one that is open. */
const EXACT = { exact: true };

function PageLink({ page, isHere }: { page: Page; isHere: boolean }): ReactNode {
  const { slug } = useOrg();
  const target = `/o/${slug}${page.path}`;
  const search = useRangeOfLink()(page.path);
  const Icon = page.nav?.icon;
  const link = useRef<HTMLAnchorElement>(null);
  // The menu is longer than most windows.
  useEffect(() => {
    if (isHere) link.current?.scrollIntoView({ block: 'nearest' });
  }, [isHere]);
  return (
    <NavLink
      ref={link}
      renderRoot={(root) => <Link {...root} to={target} search={search} activeOptions={EXACT} />}
      label={page.title}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      leftSection={Icon === undefined ? null : <Icon size={18} stroke={1.6} />}
      style={{ borderRadius: 'var(--mantine-radius-md)', paddingBlock: 4 }}
    />
  );
}
