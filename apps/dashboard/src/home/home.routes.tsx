import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '',
    title: 'Home',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'home', order: 0 },
    load: () => import('./home-page.js'),
  },
];
