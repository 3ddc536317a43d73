import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/settings',
    title: 'Settings',
    who: ['owner', 'admin'],
    nav: { section: 'settings', order: 0 },
    words: 'organization logging model lists version erasure',
    load: () => import('./settings-page.js'),
  },
  {
    path: '/admin-keys',
    title: 'Admin keys',
    who: ['owner', 'admin'],
    nav: { section: 'settings', order: 4 },
    words: 'automation terraform',
    load: () => import('./admin-keys-page.js'),
  },
];
