import { IconSettings, IconShieldLock } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/settings',
    title: 'Settings',
    who: ['owner', 'admin'],
    nav: { group: 'Organization', order: 40, icon: IconSettings },
    load: () => import('./settings-page.js'),
  },
  {
    path: '/admin-keys',
    title: 'Admin keys',
    who: ['owner', 'admin'],
    nav: { group: 'Organization', order: 41, icon: IconShieldLock },
    load: () => import('./admin-keys-page.js'),
  },
];
