import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/alerts',
    title: 'Notifications',
    who: ['owner', 'admin', 'member'],
    nav: { section: 'settings', order: 2 },
    words: 'alerts webhook e-mail email channel',
    load: () => import('./alerts-page.js'),
  },
  {
    path: '/alerts/deliveries',
    title: 'Deliveries',
    who: ['owner', 'admin', 'member'],
    load: () => import('./deliveries-page.js'),
  },
  {
    path: '/alerts/verify',
    title: 'Verify a signature',
    who: ['owner', 'admin', 'member'],
    load: () => import('./verify-page.js'),
  },
  {
    path: '/alerts/deliveries/$id',
    title: 'Delivery',
    who: ['owner', 'admin', 'member'],
    load: () => import('./delivery-page.js'),
  },
];
