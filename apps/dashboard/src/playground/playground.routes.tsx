import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/playground',
    title: 'Playground',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'playground', order: 0 },
    words: 'try chat test',
    load: () => import('./playground-page.js'),
  },
];
