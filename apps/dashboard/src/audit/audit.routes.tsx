import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/audit',
    title: 'Audit log',
    who: ['owner', 'admin'],
    nav: { section: 'settings', order: 3 },
    words: 'history who changed',
    load: () => import('./audit-page.js'),
  },
];
