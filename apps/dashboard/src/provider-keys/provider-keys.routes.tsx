import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/provider-keys',
    title: 'Provider keys',
    who: ['owner', 'admin', 'alone'],
    nav: { section: 'settings', order: 1 },
    words: 'byok own key openai anthropic',
    load: () => import('./provider-keys-page.js'),
  },
];
