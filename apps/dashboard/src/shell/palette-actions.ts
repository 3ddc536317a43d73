import type { Role } from '../session/rights.js';

interface Action {
  label: string;
  /** Words beside its label that people search it by. */
  words: string;
  path: string;
  search: Readonly<Record<string, string>>;
  who: readonly Role[];
}

/** Actions that the palette runs: each opens the form of its page. */
export const ACTIONS: readonly Action[] = [
  {
    label: 'Create API key',
    words: 'new secret token',
    path: '/keys',
    search: { create: 'yes' },
    who: ['owner', 'admin', 'member', 'alone'],
  },
  {
    label: 'Invite member',
    words: 'new person user colleague add',
    path: '/members',
    search: { invite: 'yes' },
    who: ['owner', 'admin'],
  },
  {
    label: 'Create budget',
    words: 'new month limit spend cap',
    path: '/budgets',
    search: { create: 'yes' },
    who: ['owner', 'admin'],
  },
  {
    label: 'Create team',
    words: 'new group',
    path: '/teams',
    search: { create: 'yes' },
    who: ['owner', 'admin'],
  },
  {
    label: 'Add credit',
    words: 'pay top up balance money',
    path: '/billing',
    search: { add: 'credit' },
    who: ['owner', 'admin', 'alone'],
  },
  {
    label: 'Add provider key',
    words: 'new byok own openai anthropic',
    path: '/provider-keys',
    search: { add: 'yes' },
    who: ['owner', 'admin', 'alone'],
  },
  {
    label: 'Add notification channel',
    words: 'new alert webhook e-mail email',
    path: '/alerts',
    search: { add: 'channel' },
    who: ['owner', 'admin'],
  },
  {
    label: 'Create prompt',
    words: 'new template',
    path: '/prompts',
    search: { create: 'yes' },
    who: ['owner', 'admin', 'alone'],
  },
  {
    label: 'Compare usage of this month with the last one',
    words: 'spend change report',
    path: '/usage',
    search: { range: 'month', compare: 'before' },
    who: ['owner', 'admin', 'member'],
  },
  {
    label: 'Show refused requests',
    words: 'errors why denied limit',
    path: '/requests',
    search: { show: 'rejected' },
    who: ['owner', 'admin', 'member'],
  },
];
