import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/admin/orgs',
    title: 'Organizations',
    who: ['super'],
    nav: { section: 'organizations', order: 0 },
    words: 'customers tenants',
    load: () => import('./orgs-page.js'),
  },
  {
    path: '/admin/coupons',
    title: 'Coupons',
    who: ['super'],
    isOfWallet: true,
    nav: { section: 'coupons', order: 0 },
    words: 'voucher',
    load: () => import('./coupons-page.js'),
  },
  {
    path: '/admin/catalogue',
    title: 'Catalogue',
    who: ['super'],
    nav: { section: 'catalogue', order: 0 },
    words: 'import models prices',
    load: () => import('./catalogue-page.js'),
  },
  {
    path: '/admin/providers',
    title: 'Providers',
    who: ['super'],
    nav: { section: 'providers', order: 0 },
    words: 'health breaker uptime',
    load: () => import('./providers-page.js'),
  },
  {
    path: '/admin/books',
    title: 'Ledger check',
    who: ['super'],
    nav: { section: 'ledger-check', order: 0 },
    words: 'reconcile proof',
    load: () => import('./books-page.js'),
  },
];
