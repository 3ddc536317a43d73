import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/account',
    title: 'Account',
    who: ['owner', 'admin', 'member', 'alone', 'super'],
    load: () => import('./account-page.js'),
  },
];
