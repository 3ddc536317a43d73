import { IconHistory } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/audit',
    title: 'Audit log',
    who: ['owner', 'admin'],
    nav: { group: 'Organization', order: 30, icon: IconHistory },
    load: () => import('./audit-page.js'),
  },
];
