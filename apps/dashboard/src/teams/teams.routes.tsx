import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/teams',
    title: 'Teams',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'members', order: 1 },
    words: 'group department',
    load: () => import('./teams-page.js'),
  },
  {
    path: '/teams/$id',
    title: 'Team',
    who: ['owner', 'admin', 'member'],
    load: () => import('./team-page.js'),
  },
];
