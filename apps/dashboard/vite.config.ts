import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Address of the gateway while the dashboard is developed: `npm start` in another terminal. */
const GATEWAY = 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  plugins: [react()],
  // The server writes a nonce of its own into each answer in place of this.
  html: { cspNonce: '__CSP_NONCE__' },
  cacheDir: '../../.cache/vite',
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    manifest: true,
    // `data:` is for pictures alone in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: { '/v1': GATEWAY, '/auth': GATEWAY, '/alerts': GATEWAY } },
});
