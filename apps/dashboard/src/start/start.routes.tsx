import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/start',
    title: 'First request',
    who: ['owner', 'admin', 'member'],
    load: () => import('./start-page.js'),
  },
];
