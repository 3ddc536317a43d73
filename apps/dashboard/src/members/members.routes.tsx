import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/members',
    title: 'Members',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'members', order: 0 },
    words: 'people users invite team',
    load: () => import('./members-page.js'),
  },
];
