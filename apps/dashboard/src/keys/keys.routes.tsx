import { IconKey } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/keys',
    title: 'API keys',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Access', order: 0, icon: IconKey },
    load: () => import('./keys-page.js'),
  },
  {
    path: '/keys/$id',
    title: 'API key',
    who: ['owner', 'admin', 'member', 'alone'],
    load: () => import('./key-page.js'),
  },
];
