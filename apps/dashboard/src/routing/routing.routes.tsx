import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/routing',
    title: 'Routing',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'models', order: 2 },
    words: 'policy fallback provider order',
    load: () => import('./routing-page.js'),
  },
];
