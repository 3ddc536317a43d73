import { IconGauge, IconHierarchy } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/limits',
    title: 'Limits',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Access', order: 19, icon: IconHierarchy },
    load: () => import('./limits-page.js'),
  },
  {
    path: '/limits/simulate',
    title: 'Limits simulator',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Access', order: 20, icon: IconGauge },
    load: () => import('./simulate-page.js'),
  },
];
