import { IconRocket } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/start',
    title: 'First request',
    who: ['owner', 'admin', 'member'],
    nav: { group: 'Overview', order: 1, icon: IconRocket },
    load: () => import('./start-page.js'),
  },
];
