import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/usage',
    title: 'Usage',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'usage', order: 0 },
    words: 'spend cost tokens latency errors report chart',
    load: () => import('./usage-page.js'),
  },
];
