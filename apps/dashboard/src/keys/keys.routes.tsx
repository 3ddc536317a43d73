import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/keys',
    title: 'API keys',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { section: 'keys', order: 0 },
    words: 'secret token credential',
    load: () => import('./keys-page.js'),
  },
  {
    path: '/keys/$id',
    title: 'API key',
    who: ['owner', 'admin', 'member', 'alone'],
    load: () => import('./key-page.js'),
  },
];
