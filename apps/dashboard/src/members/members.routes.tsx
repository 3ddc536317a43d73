import { IconUsers } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/members',
    title: 'Members',
    who: ['owner', 'admin', 'member'],
    nav: { group: 'Organization', order: 5, icon: IconUsers },
    load: () => import('./members-page.js'),
  },
];
