import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/prompts',
    title: 'Prompts',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'models', order: 1 },
    words: 'template templates',
    load: () => import('./prompts-page.js'),
  },
  {
    path: '/prompts/$id',
    title: 'Prompt',
    who: ['owner', 'admin', 'member', 'alone'],
    load: () => import('./prompt-page.js'),
  },
];
