import { createContext, use, type ComponentType } from 'react';
import type { Role } from '../session/rights.js';

/** Entries of the menu; pages of one entry are its tabs. */
export type SectionName =
  | 'home'
  | 'playground'
  | 'models'
  | 'keys'
  | 'usage'
  | 'requests'
  | 'budgets'
  | 'billing'
  | 'members'
  | 'settings'
  | 'providers'
  | 'catalogue'
  | 'organizations'
  | 'coupons'
  | 'ledger-check';

/** One page below /o/{org}. A folder exports its pages as `pages` from `<noun>.routes.tsx`; nothing else lists them. */
export interface Page {
  /** Path below /o/{org}, as the router writes it: `/keys/$id`. The empty path is the organization's home. */
  path: string;
  title: string;
  who: readonly Role[];
  /** True for pages of balances, payments and coupons: not there where billing is off. */
  isOfWallet?: true;
  /** Absent for pages that are reached from another one. */
  nav?: { section: SectionName; order: number };
  /** Words beside its title that people search it by. */
  words?: string;
  load(): Promise<{ default: ComponentType }>;
}

export const PagesContext = createContext<readonly Page[]>([]);

/** All pages of the dashboard. */
export function usePages(): readonly Page[] {
  return use(PagesContext);
}
