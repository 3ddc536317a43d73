import type { DeadLink } from './confirmations.service.js';

/** Reasons why a link confirms nothing, with the action to take. */
export const DEAD_LINK: Record<DeadLink, string> = {
  used: 'This address is confirmed already: the link has done its work.',
  replaced: 'It was replaced: the newest mail has the link that works, or another address is used now.',
  expired: 'It is older than 24 hours. Ask the organization to mail a new one.',
  unknown: 'No such link was mailed. Open it from the mail again.',
};

/** Headers of the page: nothing runs in it, nobody frames it, and its address, which holds the token, is sent to nobody. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;

/** Asks; the form posts to the page's own address, with the token in it. Mail scanners that open it confirm nothing. */
export function askPage(): string {
  return page(
    'Confirm this address',
    'Notices of a Model Gateway organization will be sent to it.',
    '<form method="post"><button type="submit">Confirm</button></form>',
  );
}

export function donePage(): string {
  return page('The address is confirmed', 'Notices will be sent to it from now on.');
}

export function deadPage(why: DeadLink): string {
  return page('This link no longer works', DEAD_LINK[why]);
}

function page(title: string, text: string, more = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p>${more}</body></html>\n`;
}
