import { IconListDetails } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/requests',
    title: 'Requests',
    who: ['owner', 'admin', 'member'],
    nav: { group: 'Observe', order: 1, icon: IconListDetails },
    load: () => import('./requests-page.js'),
  },
  {
    path: '/requests/$id',
    title: 'Request',
    who: ['owner', 'admin', 'member'],
    load: () => import('./request-page.js'),
  },
];
