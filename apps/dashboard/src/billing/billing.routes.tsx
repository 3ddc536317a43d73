import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/billing',
    title: 'Billing',
    who: ['owner', 'admin', 'member', 'alone'],
    isOfWallet: true,
    nav: { section: 'billing', order: 0 },
    words: 'balance money credit payment recharge coupon',
    load: () => import('./billing-page.js'),
  },
  {
    path: '/billing/ledger',
    title: 'Ledger',
    who: ['owner', 'admin', 'alone'],
    isOfWallet: true,
    nav: { section: 'billing', order: 1 },
    words: 'entries transactions payments',
    load: () => import('./ledger-page.js'),
  },
  {
    path: '/billing/statement',
    title: 'Statement',
    who: ['owner', 'admin', 'alone'],
    isOfWallet: true,
    nav: { section: 'billing', order: 2 },
    words: 'invoice bill month pdf',
    load: () => import('./statement-page.js'),
  },
];
