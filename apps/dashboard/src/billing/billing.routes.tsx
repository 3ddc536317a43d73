import { IconWallet } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/billing',
    title: 'Balance',
    who: ['owner', 'admin', 'member', 'alone'],
    isOfWallet: true,
    nav: { group: 'Organization', order: 0, icon: IconWallet },
    load: () => import('./billing-page.js'),
  },
  {
    path: '/billing/ledger',
    title: 'Ledger',
    who: ['owner', 'admin', 'alone'],
    isOfWallet: true,
    load: () => import('./ledger-page.js'),
  },
  {
    path: '/billing/statement',
    title: 'Statement',
    who: ['owner', 'admin', 'alone'],
    isOfWallet: true,
    load: () => import('./statement-page.js'),
  },
];
