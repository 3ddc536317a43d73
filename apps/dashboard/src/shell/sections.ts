import {
  IconBooks,
  IconBox,
  IconBuilding,
  IconChartBar,
  IconFileImport,
  IconGauge,
  IconHome,
  IconKey,
  IconListDetails,
  IconMessages,
  IconServer,
  IconSettings,
  IconTicket,
  IconUsers,
  IconWallet,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { isAllowed, type Role } from '../session/rights.js';
import type { Page, SectionName } from './pages.js';

/** Areas of the menu: the pages of an organization, or those of the whole deployment. */
type Area = 'organization' | 'platform';

interface Section {
  name: SectionName;
  area: Area;
  /** Heading above the first entry of a group. */
  group: string | null;
  icon: ComponentType<{ size?: number; stroke?: number }>;
}

/** Entries of the menu in their order: ten of an organization, and those of the platform. */
const SECTIONS: readonly Section[] = [
  { name: 'home', area: 'organization', group: null, icon: IconHome },
  { name: 'playground', area: 'organization', group: 'Use', icon: IconMessages },
  { name: 'models', area: 'organization', group: 'Use', icon: IconBox },
  { name: 'keys', area: 'organization', group: 'Use', icon: IconKey },
  { name: 'usage', area: 'organization', group: 'Watch', icon: IconChartBar },
  { name: 'requests', area: 'organization', group: 'Watch', icon: IconListDetails },
  { name: 'budgets', area: 'organization', group: 'Watch', icon: IconGauge },
  { name: 'billing', area: 'organization', group: 'Manage', icon: IconWallet },
  { name: 'members', area: 'organization', group: 'Manage', icon: IconUsers },
  { name: 'settings', area: 'organization', group: 'Manage', icon: IconSettings },
  { name: 'providers', area: 'platform', group: 'Platform', icon: IconServer },
  { name: 'catalogue', area: 'platform', group: 'Platform', icon: IconFileImport },
  { name: 'organizations', area: 'platform', group: 'Platform', icon: IconBuilding },
  { name: 'coupons', area: 'platform', group: 'Platform', icon: IconTicket },
  { name: 'ledger-check', area: 'platform', group: 'Platform', icon: IconBooks },
];

/** One entry of the menu: its first page is where it leads, and gives it its name. */
export interface Entry extends Section {
  pages: readonly Page[];
}

/** Returns the entries that a person has, each with the pages that they may open, in order. */
export function entriesOf(pages: readonly Page[], roles: readonly Role[]): Entry[] {
  return SECTIONS.map((section) => ({
    ...section,
    pages: pages
      .filter(({ nav, who }) => nav?.section === section.name && isAllowed(roles, who))
      .sort((a, b) => (a.nav?.order ?? 0) - (b.nav?.order ?? 0)),
  })).filter((entry) => entry.pages.length > 0);
}

/** Returns the page of the menu that an address belongs to: of /limits and /limits/simulate the longer one. */
export function pageAt(entries: readonly Entry[], path: string): Page | undefined {
  const above = entries
    .flatMap(({ pages }) => pages)
    .filter((page) => (page.path === '' ? path.length < 2 : `${path}/`.startsWith(`${page.path}/`)));
  return above.sort((a, b) => b.path.length - a.path.length)[0];
}
