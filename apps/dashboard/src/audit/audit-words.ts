import { spaced } from '../format/code-words.js';

/** Kinds of things that are changed, where their words are not their names with spaces. */
const THINGS: Readonly<Record<string, string>> = {
  api_key: 'API key',
  alert_channel: 'notification channel',
  alert_delivery: 'delivery',
  alert_policy: 'notification rule',
  balance: 'balance',
  end_user: 'data of an end user',
  identity: 'sign-in of a provider of identities',
  org: 'organization',
  org_defaults: 'defaults of organizations',
  request_content: 'logged prompt and answer',
  routing_policy_template: 'routing policy',
  template: 'prompt',
  user: 'person',
  view: 'view of the dashboard',
};

const VERBS: Readonly<Record<string, string>> = {
  add: 'Added',
  add_version: 'Added a version to',
  create: 'Created',
  credit: 'Credited',
  delete: 'Deleted',
  end: 'Ended',
  erase: 'Erased',
  export: 'Exported',
  follow: 'Took back edits of',
  import: 'Imported',
  link: 'Linked',
  patch: 'Edited',
  publish: 'Published',
  put: 'Saved',
  raise: 'Raised',
  read: 'Read',
  reactivate: 'Reactivated',
  redeem: 'Redeemed',
  redeliver: 'Sent again',
  remove: 'Removed',
  revoke: 'Revoked',
  rollback: 'Rolled back',
  rotate: 'Rotated',
  suspend: 'Suspended',
  test: 'Tested',
  transfer: 'Transferred',
  update: 'Changed',
};

/** Actions whose words are not those of a verb and a thing. */
const SENTENCES: Readonly<Record<string, string>> = {
  'auth.login': 'Signed in',
  'auth.logout': 'Signed out',
  'auth.refresh_reused': 'Presented a session that had ended',
  'user.password_change': 'Changed the own password',
  'user.password_reset': 'Reset the own password',
};

/** Actions to filter by: those that people look for. */
const FILTERS: readonly string[] = [
  ...['api_key.create', 'api_key.update', 'api_key.suspend', 'api_key.reactivate', 'api_key.rotate'],
  ...['admin_key.create', 'admin_key.revoke', 'provider_key.create', 'provider_key.update'],
  ...['provider_key.delete', 'member.add', 'member.update', 'member.remove', 'invitation.create'],
  ...['invitation.revoke', 'team.create', 'team.update', 'team.delete', 'org.update', 'budget.create'],
  ...['budget.update', 'budget.raise', 'budget.delete', 'alias.create', 'alias.update', 'alias.delete'],
  ...['alert_channel.create', 'alert_channel.update', 'alert_channel.delete', 'alert_policy.create'],
  ...['routing_policy_template.create', 'routing_policy_template.update', 'balance.credit'],
  ...['coupon.redeem', 'usage.export', 'request_content.read', 'auth.login'],
];

/** Returns an action of the log as people say it; an unknown one without the signs of its code. */
export function actionWords(action: string): string {
  const [thing, verb = ''] = action.split('.');
  const sentence = SENTENCES[action];
  if (sentence !== undefined) return sentence;
  return `${VERBS[verb] ?? spaced(verb)} ${THINGS[thing] ?? spaced(thing)}`.trim();
}

/** Returns the actions to choose from, with the one that is chosen. */
export function actionChoices(chosen: string | undefined): { value: string; label: string }[] {
  const all = new Set([...FILTERS, ...(chosen === undefined ? [] : [chosen])]);
  return [...all].map((value) => ({ value, label: actionWords(value) }));
}
