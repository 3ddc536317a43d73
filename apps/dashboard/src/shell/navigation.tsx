import { NavLink, Stack, Text } from '@mantine/core';
import { IconArrowLeft, IconServerCog } from '@tabler/icons-react';
import { Link, useLocation } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { Role } from '../session/rights.js';
import { useOrg } from './org.queries.js';
import { useRangeOfLink } from './remembered-range.js';
import { usePages } from './pages.js';
import { entriesOf, pageAt, type Entry } from './sections.js';

/** The entries that the person may open; what they may not is not there. Pages of the platform have a menu of their own. */
export function Navigation({ roles }: { roles: readonly Role[] }): ReactNode {
  const entries = entriesOf(usePages(), roles);
  const { slug } = useOrg();
  const path = useLocation().pathname.slice(`/o/${slug}`.length);
  const here = pageAt(entries, path);
  const area = path.startsWith('/admin/') ? 'platform' : 'organization';
  const shown = entries.filter((entry) => entry.area === area);
  const platform = entries.find((entry) => entry.area === 'platform');
  return (
    <Stack gap={2} p="sm">
      {area === 'platform' && (
        <EntryLink label="Back to the organization" path="" icon={IconArrowLeft} isHere={false} />
      )}
      {shown.map((entry, index) => (
        <Fragment key={entry.name}>
          {entry.group !== null && entry.group !== shown[index - 1]?.group && (
            <Text size="xs" fw={600} c="dimmed" px="sm" pt={10} pb={2}>
              {entry.group}
            </Text>
          )}
          <EntryLink
            label={entry.pages[0].title}
            path={entry.pages[0].path}
            icon={entry.icon}
            isHere={here !== undefined && entry.pages.includes(here)}
          />
        </Fragment>
      ))}
      {area === 'organization' && platform !== undefined && (
        <EntryLink
          label="Platform admin"
          path={platform.pages[0].path}
          icon={IconServerCog}
          isHere={false}
          mt="md"
        />
      )}
    </Stack>
  );
}

/** The link itself would mark every page above the one that is open. */
const EXACT = { exact: true };

interface EntryLinkProps {
  label: string;
  path: string;
  icon: Entry['icon'];
  isHere: boolean;
  mt?: string;
}

function EntryLink({ label, path, icon: Icon, isHere, mt }: EntryLinkProps): ReactNode {
  const { slug } = useOrg();
  const search = useRangeOfLink()(path);
  return (
    <NavLink
      renderRoot={(root) => <Link {...root} to={`/o/${slug}${path}`} search={search} activeOptions={EXACT} />}
      label={label}
      mt={mt}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      leftSection={<Icon size={18} stroke={1.6} />}
      style={{ borderRadius: 'var(--mantine-radius-md)', paddingBlock: 6 }}
    />
  );
}
