import { IconGauge } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/limits/simulate',
    title: 'Limits simulator',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Access', order: 20, icon: IconGauge },
    load: () => import('./simulate-page.js'),
  },
];
