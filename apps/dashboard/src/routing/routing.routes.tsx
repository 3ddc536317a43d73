import { IconRoute } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/routing',
    title: 'Routing',
    who: ['owner', 'admin', 'member'],
    nav: { group: 'Build', order: 20, icon: IconRoute },
    load: () => import('./routing-page.js'),
  },
];
