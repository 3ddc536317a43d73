import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/aliases',
    title: 'Aliases',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'models', order: 3 },
    words: 'model name weight rollout',
    load: () => import('./aliases-page.js'),
  },
];
