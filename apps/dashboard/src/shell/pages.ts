import { createContext, use, type ComponentType } from 'react';
import type { Role } from '../session/rights.js';

export type NavGroup = 'Overview' | 'Build' | 'Observe' | 'Access' | 'Organization' | 'Platform';

/** One page below /o/{org}. A folder exports its pages as `pages` from `<noun>.routes.tsx`; nothing else lists them. */
export interface Page {
  /** Path below /o/{org}, as the router writes it: `/keys/$id`. The empty path is the organization's home. */
  path: string;
  title: string;
  who: readonly Role[];
  /** True for pages of balances, payments and coupons: not there where billing is off. */
  isOfWallet?: true;
  /** Absent for pages that are reached from another one. */
  nav?: { group: NavGroup; order: number; icon: ComponentType<{ size?: number; stroke?: number }> };
  load(): Promise<{ default: ComponentType }>;
}

export const PagesContext = createContext<readonly Page[]>([]);

/** All pages of the dashboard. */
export function usePages(): readonly Page[] {
  return use(PagesContext);
}
