import { IconMessages } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/playground',
    title: 'Playground',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Build', order: 0, icon: IconMessages },
    load: () => import('./playground-page.js'),
  },
];
