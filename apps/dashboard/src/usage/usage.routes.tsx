import { IconChartBar } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/usage',
    title: 'Usage',
    who: ['owner', 'admin', 'member'],
    nav: { group: 'Observe', order: 0, icon: IconChartBar },
    load: () => import('./usage-page.js'),
  },
];
