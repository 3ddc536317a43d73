/** Letters after `g`. */
export const LETTERS: Readonly<Record<string, { path: string; name: string }>> = {
  h: { path: '', name: 'Home' },
  u: { path: '/usage', name: 'Usage' },
  r: { path: '/requests', name: 'Requests' },
  k: { path: '/keys', name: 'API keys' },
  m: { path: '/models', name: 'Models' },
  p: { path: '/playground', name: 'Playground' },
  b: { path: '/billing', name: 'Billing' },
};
