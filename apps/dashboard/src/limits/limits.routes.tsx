import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/budgets',
    title: 'Budgets',
    who: ['owner', 'admin'],
    nav: { section: 'budgets', order: 0 },
    words: 'spend cap limit used near',
    load: () => import('./budgets-page.js'),
  },
  {
    path: '/limits',
    title: 'Limits',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'budgets', order: 1 },
    words: 'rate limit rpm tpm cap',
    load: () => import('./limits-page.js'),
  },
  {
    path: '/limits/simulate',
    title: 'Limits simulator',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'budgets', order: 2 },
    words: 'why refused test',
    load: () => import('./simulate-page.js'),
  },
  {
    path: '/admin/budgets',
    title: 'Provider budgets',
    who: ['super'],
    nav: { section: 'providers', order: 1 },
    words: 'spend cost amount platform',
    load: () => import('./provider-budgets-page.js'),
  },
];
