import { IconBooks, IconBuilding, IconFileImport, IconServer, IconTicket } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/admin/orgs',
    title: 'Organizations',
    who: ['super'],
    nav: { group: 'Platform', order: 60, icon: IconBuilding },
    load: () => import('./orgs-page.js'),
  },
  {
    path: '/admin/coupons',
    title: 'Coupons',
    who: ['super'],
    isOfWallet: true,
    nav: { group: 'Platform', order: 61, icon: IconTicket },
    load: () => import('./coupons-page.js'),
  },
  {
    path: '/admin/catalogue',
    title: 'Catalogue',
    who: ['super'],
    nav: { group: 'Platform', order: 62, icon: IconFileImport },
    load: () => import('./catalogue-page.js'),
  },
  {
    path: '/admin/providers',
    title: 'Providers',
    who: ['super'],
    nav: { group: 'Platform', order: 63, icon: IconServer },
    load: () => import('./providers-page.js'),
  },
  {
    path: '/admin/books',
    title: 'Books',
    who: ['super'],
    nav: { group: 'Platform', order: 64, icon: IconBooks },
    load: () => import('./books-page.js'),
  },
];
