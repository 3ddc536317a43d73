import { setNonce } from 'get-nonce';

interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createHTML(text: string): string }): unknown;
}

/** The nonce of this page; the server writes it into a meta tag. */
export function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

/**
 * The kit writes its style sheets as text through innerHTML, which the page's policy refuses to plain strings. Text without
 * markup passes, anything else is a fault. Called before the first component renders.
 */
export function allowStyleText(): void {
  const factory = (globalThis as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
  factory?.createPolicy('default', {
    createHTML: (text) => {
      if (text.includes('<')) throw new TypeError('Markup is never written as text.');
      return text;
    },
  });
  setNonce(pageNonce());
}
