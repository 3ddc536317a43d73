import { IconHome } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '',
    title: 'Home',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Overview', order: 0, icon: IconHome },
    load: () => import('./home-page.js'),
  },
];
