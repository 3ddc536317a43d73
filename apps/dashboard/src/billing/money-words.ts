/** Kinds of movements of a balance, in words. */
const KINDS: Readonly<Record<string, string>> = {
  usage: 'Usage',
  usage_correction: 'Correction of usage',
  admin_grant: 'Credit from the operator',
  coupon: 'Coupon',
  payment: 'Payment by card',
  card_top_up: 'Payment by card',
  auto_recharge: 'Automatic recharge',
  refund: 'Refund',
  refund_reversal: 'Refund taken back',
  dispute: 'Disputed payment',
  dispute_reversal: 'Dispute won',
  unbilled: 'Paid by the operator while billing was off',
  unbilled_correction: 'Correction while billing was off',
};

/** Beginning of the source of the credit that an account was made with. */
const OPENING = 'opening/';

/** Returns why a balance changed, in words; a dash where nothing says so. */
export function whyInWords({ reason, source }: { reason: string | null; source: string | null }): string {
  if (reason !== null) return reason;
  return source?.startsWith(OPENING) ? 'Credit that a new account begins with' : (source ?? '–');
}

/** Returns a kind of movement in words; one that is newer than this page without its underscores. */
export function kindInWords(kind: string): string {
  return KINDS[kind] ?? sentenceOf(kind);
}

function sentenceOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
