import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/requests',
    title: 'Requests',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'requests', order: 0 },
    words: 'logs log events refusals errors failed',
    load: () => import('./requests-page.js'),
  },
  {
    path: '/requests/$id',
    title: 'Request',
    who: ['owner', 'admin', 'member'],
    load: () => import('./request-page.js'),
  },
];
