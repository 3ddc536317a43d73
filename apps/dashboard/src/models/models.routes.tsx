import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/models',
    title: 'Models',
    who: ['owner', 'admin', 'member', 'alone', 'super'],
    nav: { section: 'models', order: 0 },
    words: 'price prices catalogue context',
    load: () => import('./models-page.js'),
  },
  {
    path: '/models/compare',
    title: 'Compare models',
    who: ['owner', 'admin', 'member', 'alone', 'super'],
    load: () => import('./compare-page.js'),
  },
  {
    path: '/models/$brand/$name',
    title: 'Model',
    who: ['owner', 'admin', 'member', 'alone', 'super'],
    load: () => import('./model-page.js'),
  },
];
