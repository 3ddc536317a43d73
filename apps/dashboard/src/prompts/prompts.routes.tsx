import { IconTemplate } from '@tabler/icons-react';
import type { Page } from '../shell/pages.js';

export const pages: readonly Page[] = [
  {
    path: '/prompts',
    title: 'Prompts',
    who: ['owner', 'admin', 'member', 'alone'],
    nav: { group: 'Build', order: 10, icon: IconTemplate },
    load: () => import('./prompts-page.js'),
  },
  {
    path: '/prompts/$id',
    title: 'Prompt',
    who: ['owner', 'admin', 'member', 'alone'],
    load: () => import('./prompt-page.js'),
  },
];
