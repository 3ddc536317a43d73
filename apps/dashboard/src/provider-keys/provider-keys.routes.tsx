import { IconPlugConnected } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/provider-keys',
    title: 'Provider keys',
    who: ['owner', 'admin', 'alone'],
    nav: { group: 'Access', order: 10, icon: IconPlugConnected },
    load: () => import('./provider-keys-page.js'),
  },
];
